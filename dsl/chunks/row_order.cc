#include "dsl/chunks/row_order.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace dogged::dsl {
namespace {

// Nodes of a graph that read of one another, by number.
struct RowRead {
  size_t reader = 0;
  size_t maker = 0;
  // What the reader makes and what it reads.
  const std::vector<Create>* made = nullptr;
  int32_t array = 0;
  const AffineMap* read = nullptr;
  const Use* use = nullptr;  // null for a reduction's
};

class RowOrder {
 public:
  RowOrder(const PointProgram& points, const ChunkChoice& choice)
      : points_(points), choice_(choice) {}
  bool Holds();

 private:
  bool IsOrdered(std::vector<RowRead> reads) const;
  bool Falls(const std::vector<RowRead>& ring) const;
  std::optional<int64_t> StepOf(const RowRead& read, int i) const;
  // Index `i` of a label, counted from the last one if it is less than 0; null
  // if there is none, or the chunks go along it.
  const AffineExpr* IndexOf(int32_t array, const AffineMap& map, int i) const;

  const PointProgram& points_;
  const ChunkChoice& choice_;
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
  const AffineExpr* const index = IndexOf(read.array, *read.read, i);
  if (own == nullptr || index == nullptr) return {};
  if (read.use != nullptr &&
      read.use->IsGathered(static_cast<size_t>(index - read.read->data()))) {
    return {};
  }
  const AffineExpr step = *own - *index;
  if (!step.IsConstant()) return {};
  return step.constant;
}

// The nodes that `from` leads to, itself among them.
std::set<size_t> ReachedRows(const std::vector<RowRead>& reads, size_t from,
                             bool is_backward) {
  std::set<size_t> out = {from};
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (const RowRead& read : reads) {
      const size_t begin = is_backward ? read.maker : read.reader;
      const size_t end = is_backward ? read.reader : read.maker;
      if (out.contains(begin)) has_grown |= out.insert(end).second;
    }
  }
  return out;
}

bool RowOrder::IsOrdered(std::vector<RowRead> reads) const {
  while (!reads.empty()) {
    const size_t first = reads.front().reader;
    std::set<size_t> ring = ReachedRows(reads, first, false);
    const std::set<size_t> before = ReachedRows(reads, first, true);
    std::erase_if(ring, [&](size_t k) { return !before.contains(k); });
    std::vector<RowRead> inner;
    std::vector<RowRead> rest;
    for (const RowRead& read : reads) {
      const bool leaves = ring.contains(read.reader);
      const bool enters = ring.contains(read.maker);
      if (leaves && enters) inner.push_back(read);
      if (!leaves && !enters) rest.push_back(read);
    }
    if (!inner.empty() && !Falls(inner)) return false;
    reads = std::move(rest);
  }
  return true;
}

bool RowOrder::Falls(const std::vector<RowRead>& ring) const {
  for (int i = -kMaxIndices; i < kMaxIndices; ++i) {
    std::vector<RowRead> level;
    bool falls = false;
    bool rises = false;
    for (const RowRead& read : ring) {
      const std::optional<int64_t> step = StepOf(read, i);
      falls = falls || !step || *step > 0;
      rises = rises || !step || *step < 0;
      if (step == 0) level.push_back(read);
    }
    if (falls != rises) return IsOrdered(level);
  }
  return false;
}

bool RowOrder::Holds() {
  // By array: a node for all classes that make parts of it.
  const size_t classes = points_.classes.size();
  std::vector<size_t> node(classes + points_.reductions.size());
  for (size_t k = 0; k < node.size(); ++k) node[k] = k;
  for (size_t k = 0; k < classes; ++k) {
    if (choice_.class_index[k] != ChunkChoice::kInCells) continue;
    for (size_t l = 0; l < k; ++l) {
      if (choice_.class_index[l] != ChunkChoice::kInCells) continue;
      const auto& a = points_.classes[k].creates;
      const auto& b = points_.classes[l].creates;
      const bool shares =
          std::any_of(a.begin(), a.end(), [&](const Create& one) {
            return std::any_of(b.begin(), b.end(), [&](const Create& other) {
              return one.array == other.array;
            });
          });
      if (!shares) continue;
      const size_t old = node[k];
      for (size_t& n : node) {
        if (n == old) n = node[l];
      }
    }
  }
  std::vector<std::vector<Create>> made(node.size());
  for (size_t k = 0; k < classes; ++k) made[k] = points_.classes[k].creates;
  for (size_t r = 0; r < points_.reductions.size(); ++r) {
    const PointReduction& reduction = points_.reductions[r];
    made[classes + r] = {{.array = reduction.array, .map = reduction.map}};
  }
  std::vector<RowRead> reads;
  const auto add = [&](size_t k, int32_t array, const AffineMap& map,
                       const Use* use) {
    for (size_t l = 0; l < node.size(); ++l) {
      const bool makes = std::any_of(
          made[l].begin(), made[l].end(),
          [array](const Create& create) { return create.array == array; });
      if (!makes) continue;
      reads.push_back({.reader = node[k],
                       .maker = node[l],
                       .made = &made[k],
                       .array = array,
                       .read = &map,
                       .use = use});
    }
  };
  for (size_t k = 0; k < classes; ++k) {
    for (const Use& use : points_.classes[k].uses) {
      add(k, use.array, use.map, &use);
    }
  }
  for (size_t r = 0; r < points_.reductions.size(); ++r) {
    const PointReduction& reduction = points_.reductions[r];
    add(classes + r, reduction.source, reduction.source_map, nullptr);
  }
  return IsOrdered(std::move(reads));
}

}  // namespace

bool RowsAreInOrder(const PointProgram& points, const ChunkChoice& choice) {
  return RowOrder(points, choice).Holds();
}

}  // namespace dogged::dsl
