#include "dsl/chunks/row_order.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/graph/index_range.h"
#include "runtime/graph/order/falling_index.h"

namespace dogged::dsl {
namespace {

// A read of the graph's nodes, by their numbers.
struct RowRead {
  size_t reader = 0;
  size_t maker = 0;
  const std::vector<Create>* made = nullptr;  // by the reader
  const Use* use = nullptr;
};

class RowOrder {
 public:
  RowOrder(const PointProgram& points, const ChunkChoice& choice,
           const std::vector<ChunkCell>& cells)
      : points_(points), choice_(choice), cells_(cells) {}
  bool Holds();

 private:
  // A class, a reduction or a cell; of a cell the box of its labels.
  struct Node {
    std::vector<Create> creates;
    Box box;
  };

  void AddNode(const std::vector<Create>& creates, Box box);
  // The reads of `use` by the points of `domain`, of each node that makes some.
  void AddReads(size_t reader, const std::vector<Create>& made, const Use& use,
                const Domain& domain);
  std::optional<int64_t> StepOf(const RowRead& read, int i) const;
  // Index `i` of a label, counted from the last one if it is less than 0; null
  // if there is none, or the chunks go along it.
  const AffineExpr* IndexOf(int32_t array, const AffineMap& map, int i) const;

  const PointProgram& points_;
  const ChunkChoice& choice_;
  const std::vector<ChunkCell>& cells_;
  std::vector<Node> nodes_;
  std::vector<Use> sources_;  // of reductions
  std::vector<RowRead> reads_;
};

const AffineExpr* RowOrder::IndexOf(int32_t array, const AffineMap& map,
                                    int i) const {
  const int rank = static_cast<int>(map.size());
  const int at = i < 0 ? rank + i : i;
  if (at < 0 || at >= rank || at == choice_.array_index[array]) return nullptr;
  return &map[at];
}

// How much larger the index is in what is made than in what is read.
std::optional<int64_t> RowOrder::StepOf(const RowRead& read, int i) const {
  const AffineExpr* own = nullptr;
  for (const Create& create : *read.made) {
    const AffineExpr* const one = IndexOf(create.array, create.map, i);
    if (one == nullptr || (own != nullptr && *own != *one)) return {};
    own = one;
  }
  const AffineMap& map = read.use->map;
  const AffineExpr* const index = IndexOf(read.use->array, map, i);
  if (own == nullptr || index == nullptr ||
      read.use->IsGathered(static_cast<size_t>(index - map.data()))) {
    return {};
  }
  const AffineExpr step = *own - *index;
  if (!step.IsConstant()) return {};
  return step.constant;
}

void RowOrder::AddNode(const std::vector<Create>& creates, Box box) {
  nodes_.push_back({.creates = creates, .box = std::move(box)});
}

void RowOrder::AddReads(size_t reader, const std::vector<Create>& made,
                        const Use& use, const Domain& domain) {
  const std::vector<IndexRange> ranges = RangesOf(domain, use.map);
  for (size_t maker = 0; maker < nodes_.size(); ++maker) {
    const Node& node = nodes_[maker];
    const bool makes = std::any_of(
        node.creates.begin(), node.creates.end(),
        [&](const Create& create) { return create.array == use.array; });
    bool meets = makes;
    for (int n = 0; n < node.box.size() && meets; ++n) {
      const bool is_number = !use.IsGathered(static_cast<size_t>(n)) &&
                             n != choice_.array_index[use.array];
      meets = !is_number || (ranges[n].lower <= node.box.upper[n] &&
                             node.box.lower[n] <= ranges[n].upper);
    }
    if (!meets) continue;
    reads_.push_back(
        {.reader = reader, .maker = maker, .made = &made, .use = &use});
  }
}

bool RowOrder::Holds() {
  for (size_t k = 0; k < points_.classes.size(); ++k) {
    const bool is_cells = choice_.class_index[k] == ChunkChoice::kInCells;
    AddNode(is_cells ? std::vector<Create>() : points_.classes[k].creates, {});
  }
  for (const PointReduction& reduction : points_.reductions) {
    AddNode({{.array = reduction.array, .map = reduction.map}}, {});
    sources_.push_back(
        {.array = reduction.source, .map = reduction.source_map, .guard = {}});
  }
  for (const ChunkCell& cell : cells_) {
    std::vector<Create> creates;
    for (const PointClass& piece : cell.pieces) {
      creates.insert(creates.end(), piece.creates.begin(), piece.creates.end());
    }
    AddNode(creates, cell.box);
  }
  size_t node = 0;
  for (const PointClass& c : points_.classes) {
    const size_t own = node++;
    if (nodes_[own].creates.empty()) continue;
    for (const Use& use : c.uses) {
      AddReads(own, nodes_[own].creates, use, c.domain);
    }
  }
  for (size_t r = 0; r < points_.reductions.size(); ++r) {
    const size_t own = node++;
    AddReads(own, nodes_[own].creates, sources_[r], points_.reductions[r].over);
  }
  for (const ChunkCell& cell : cells_) {
    const size_t own = node++;
    for (const PointClass& piece : cell.pieces) {
      for (const Use& use : piece.uses) {
        AddReads(own, nodes_[own].creates, use, piece.domain);
      }
    }
  }
  std::vector<NodeRead> reads;
  for (const RowRead& read : reads_) {
    reads.push_back(
        {.reader = read.reader, .maker = read.maker, .number = reads.size()});
  }
  return RingWithoutOrder(std::move(reads),
                          [&](const NodeRead& read, int i) {
                            return StepOf(reads_[read.number], i);
                          })
      .empty();
}

}  // namespace

bool RowsAreInOrder(const PointProgram& points, const ChunkChoice& choice,
                    const std::vector<ChunkCell>& cells) {
  return RowOrder(points, choice, cells).Holds();
}

}  // namespace dogged::dsl
