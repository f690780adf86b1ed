#include "runtime/graph/keys/affinity.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "runtime/base/hash.h"
#include "runtime/graph/index_range.h"
#include "runtime/graph/saturating.h"

namespace dogged {
namespace {

// Rows that are counted one by one, of one part of a domain and of all.
constexpr int64_t kRowsMax = 1 << 12;
constexpr int64_t kRowsInAllMax = 1 << 17;

uint64_t WithBlock(uint64_t key, int64_t block_number) {
  return Mix64(key, static_cast<uint64_t>(block_number));
}

AffineMap Identity(int size) {
  AffineMap out;
  for (int d = 0; d < size; ++d) out.push_back(AffineExpr::Index(d));
  return out;
}

bool BoundsMention(const Dimension& dimension, size_t d) {
  const auto mentions = [d](const AffineBound& bound) {
    return bound.expr.coefficients[d] != 0;
  };
  return std::any_of(dimension.lower.begin(), dimension.lower.end(),
                     mentions) ||
         std::any_of(dimension.upper.begin(), dimension.upper.end(), mentions);
}

class KeyCounter {
 public:
  KeyCounter(const Program& program, int64_t keys_max)
      : program_(program), keys_max_(keys_max), ranges_left_(4 * keys_max) {}

  // False if there are too many keys.
  bool Add(const TaskClass& task_class) {
    const Create& create = task_class.creates.front();
    const Array& array = program_.arrays[create.array];
    return AddPart(task_class.domain, create.map, array, 0,
                   static_cast<uint64_t>(array.affinity_group));
  }

  std::vector<KeyTasks> Take() { return std::move(keys_); }

 private:
  // The tasks of `part`, whose labels agree in all blocks before index `i`.
  bool AddPart(const Domain& part, const AffineMap& map, const Array& array,
               size_t i, uint64_t key) {
    const std::vector<IndexRange> ranges =
        RangesOf(part, Identity(part.size()));
    const bool is_empty =
        std::any_of(ranges.begin(), ranges.end(),
                    [](const IndexRange& r) { return r.upper < r.lower; });
    if (is_empty) return true;
    while (i < map.size() && array.affinity_block[i] == 0) ++i;
    if (i == map.size()) {
      const int64_t count = CountOf(part, ranges);
      if (count == 0) return true;
      const auto [known, is_new] = positions_.try_emplace(key, keys_.size());
      if (is_new) keys_.push_back({.key = key});
      int64_t& tasks = keys_[known->second].tasks;
      tasks = SaturatingAdd(tasks, count);
      return std::ssize(keys_) <= keys_max_;
    }
    const int64_t block = array.affinity_block[i];
    const IndexRange range = RangesOf(part, {map[i]}).front();
    const int64_t first = FloorDiv(range.lower, block);
    const int64_t last = FloorDiv(range.upper, block);
    if (last - first >= ranges_left_) return false;
    ranges_left_ -= last - first + 1;
    for (int64_t number = first; number <= last; ++number) {
      Domain narrow = part;
      const AffineExpr in_block = map[i] - AffineExpr::Constant(number * block);
      const bool may_be_some =
          narrow.Narrow({.expr = in_block}) &&
          narrow.Narrow({.expr = AffineExpr::Constant(block - 1) - in_block});
      if (may_be_some &&
          !AddPart(narrow, map, array, i + 1, WithBlock(key, number))) {
        return false;
      }
    }
    return true;
  }

  // Number of points of `part`, whose indices lie in `ranges`; an upper bound
  // if counting would cost too much.
  int64_t CountOf(const Domain& part, const std::vector<IndexRange>& ranges) {
    int64_t volume = 1;
    int64_t rows = 1;  // that differ from one another
    for (size_t d = 0; d < ranges.size(); ++d) {
      volume = SaturatingMul(volume, ranges[d].Count());
      for (size_t e = d + 1; e < ranges.size(); ++e) {
        if (!BoundsMention(part.dimensions[e], d)) continue;
        rows = SaturatingMul(rows, ranges[d].Count());
        break;
      }
    }
    if (!part.guard.IsAlways() || rows > kRowsMax || rows > rows_left_) {
      return volume;
    }
    rows_left_ -= rows;
    return part.Count();
  }

  const Program& program_;
  const int64_t keys_max_;
  int64_t ranges_left_;
  int64_t rows_left_ = kRowsInAllMax;
  std::vector<KeyTasks> keys_;
  absl::flat_hash_map<uint64_t, size_t> positions_;  // in keys_
};

}  // namespace

uint64_t AffinityKey(const Array& array, const IndexVector& index) {
  uint64_t key = static_cast<uint64_t>(array.affinity_group);
  for (int i = 0; i < index.size(); ++i) {
    const int64_t block = array.affinity_block[i];
    if (block == 0) continue;
    key = WithBlock(key, FloorDiv(index[i], block));
  }
  return key;
}

bool HasRowsTogether(const Array& array) {
  return array.version_index >= 0 &&
         array.affinity_block[array.version_index] == 0;
}

std::vector<KeyTasks> TasksByKey(const Program& program, int64_t keys_max) {
  KeyCounter counter(program, keys_max);
  for (const TaskClass& task_class : program.classes) {
    if (!counter.Add(task_class)) return {};
  }
  return counter.Take();
}

}  // namespace dogged
