#include "dsl/tiling/skewed_results.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "runtime/base/check.h"

namespace dogged::dsl {
namespace {

// Elements that lie `step` apart, one behind another.
template <int64_t kBytes>
void Gather(const char* from, int64_t step, int64_t count, char* to) {
  for (int64_t k = 0; k < count; ++k) {
    std::memcpy(to + k * kBytes, from + k * step * kBytes, kBytes);
  }
}

// Goes through the wanted points of a tile by the user's indices, row by row of
// the dense array: a tile is small, and pages are touched one after another.
class SkewedCopy {
 public:
  SkewedCopy(const ResultView& view, const IndexVector& first,
             const IndexVector& extents);
  // False if the tile has none.
  bool HasAny() const;
  void Run(const Value& tile, Value& dense);

 private:
  // Along one of the user's indices.
  struct Along {
    int64_t first = 0;  // that is wanted and that the tile may have
    int64_t count = 0;
    int64_t step = 1;
    int64_t steps = 0;      // of the array, from one to the next
    int64_t from = 0;       // elements of the tile, likewise
    int64_t to_stride = 0;  // of the dense array
  };

  // Index `d`, of which the tile has `lower` to `upper`.
  void SetWanted(size_t d, int64_t lower, int64_t upper);
  void Row(const std::vector<int64_t>& at) const;

  const ResultView& view_;
  const SkewedBox& skewed_;
  std::vector<Along> along_;
  std::vector<int64_t> held_;     // first of the tile, by its own indices
  std::vector<int64_t> strides_;  // of the tile
  int64_t step_count_ = 0;        // of the tile
  const char* from_ = nullptr;
  char* to_ = nullptr;
  int64_t bytes_ = 0;  // of an element
};

SkewedCopy::SkewedCopy(const ResultView& view, const IndexVector& first,
                       const IndexVector& extents)
    : view_(view),
      skewed_(*view.skewed),
      along_(view.lower.size()),
      held_(skewed_.lower),
      strides_(view.lower.size()) {
  const size_t rank = along_.size();
  const auto dim = static_cast<size_t>(skewed_.dim);
  DOGGED_CHECK(static_cast<size_t>(first.size()) == rank &&
               skewed_.step[dim] == 1)
      << "a skewed view of " << view.array;
  step_count_ = extents[skewed_.dim];
  int64_t stride = 1;
  int64_t to_stride = 1;
  for (size_t d = rank; d-- > 0;) {
    const auto i = static_cast<int>(d);
    held_[d] += first[i] * skewed_.step[d];
    strides_[d] = stride;
    stride *= extents[i];
    along_[d].to_stride = view.tile_index[d] < 0 ? 0 : to_stride;
    if (view.tile_index[d] >= 0) to_stride *= view.Count(d);
  }
  // The index that gave way is the rest of a step.
  int64_t rest_least = 0;
  int64_t rest_most = 0;
  for (size_t d = 0; d < rank; ++d) {
    if (d == dim) continue;
    const auto i = static_cast<int>(d);
    const int64_t last = held_[d] + (extents[i] - 1) * skewed_.step[d];
    SetWanted(d, held_[d], last);
    const int64_t factor = skewed_.factors[d];
    rest_least += factor * (factor < 0 ? last : held_[d]);
    rest_most += factor * (factor < 0 ? held_[d] : last);
  }
  const int64_t lower = held_[dim] - rest_most;
  const int64_t upper = held_[dim] + step_count_ - 1 - rest_least;
  const bool turns = skewed_.factors[dim] < 0;
  SetWanted(dim, turns ? -upper : lower, turns ? -lower : upper);
}

void SkewedCopy::SetWanted(size_t d, int64_t lower, int64_t upper) {
  const bool is_replaced = d == static_cast<size_t>(skewed_.dim);
  Along& along = along_[d];
  along.step = view_.step[d];
  const int64_t held_step = is_replaced ? 1 : skewed_.step[d];
  const int64_t first =
      CeilDiv(std::max(lower - view_.lower[d], int64_t{0}), along.step);
  const int64_t last =
      FloorDiv(std::min(upper, view_.upper[d]) - view_.lower[d], along.step);
  along.first = view_.lower[d] + first * along.step;
  along.count = std::max<int64_t>(0, last - first + 1);
  along.steps = skewed_.factors[d] * along.step;
  DOGGED_CHECK(along.step % held_step == 0 &&
               (is_replaced || (along.first - held_[d]) % held_step == 0))
      << "steps of " << view_.array;
  const auto dim = static_cast<size_t>(skewed_.dim);
  along.from = along.steps * strides_[dim];
  if (!is_replaced) along.from += along.step / held_step * strides_[d];
}

// `at` says how many steps ahead of the first one each index is; the last one
// is not.
void SkewedCopy::Row(const std::vector<int64_t>& at) const {
  const auto dim = static_cast<size_t>(skewed_.dim);
  int64_t ahead = -held_[dim];  // of the tile's first step
  int64_t from = 0;
  int64_t to = 0;
  for (size_t d = 0; d < along_.size(); ++d) {
    const Along& along = along_[d];
    const int64_t index = along.first + at[d] * along.step;
    ahead += skewed_.factors[d] * index;
    to += (index - view_.lower[d]) / along.step * along.to_stride;
    if (d == dim) continue;
    from += (index - held_[d]) / skewed_.step[d] * strides_[d];
  }
  // Points of the row whose steps are in the tile.
  const Along& row = along_.back();
  int64_t begin = 0;
  int64_t end = row.count;
  if (row.steps > 0) {
    begin = std::max(begin, CeilDiv(-ahead, row.steps));
    end = std::min(end, FloorDiv(step_count_ - 1 - ahead, row.steps) + 1);
  } else if (row.steps < 0) {
    begin = std::max(begin, CeilDiv(ahead - step_count_ + 1, -row.steps));
    end = std::min(end, FloorDiv(ahead, -row.steps) + 1);
  } else if (ahead < 0 || ahead >= step_count_) {
    return;
  }
  if (begin >= end) return;
  from += ahead * strides_[dim] + begin * row.from;
  to += begin * row.to_stride;
  (bytes_ == 8 ? Gather<8> : Gather<4>)(from_ + from * bytes_, row.from,
                                        end - begin, to_ + to * bytes_);
}

bool SkewedCopy::HasAny() const {
  return std::all_of(along_.begin(), along_.end(),
                     [](const Along& along) { return along.count > 0; });
}

void SkewedCopy::Run(const Value& tile, Value& dense) {
  from_ = static_cast<const char*>(tile.data());
  to_ = static_cast<char*>(dense.mutable_data());
  bytes_ = ElementBytes(dense.type());
  DOGGED_CHECK(bytes_ == 8 || bytes_ == 4) << "elements of " << bytes_;
  if (!HasAny()) return;
  std::vector<int64_t> at(along_.size(), 0);
  while (true) {
    Row(at);
    size_t d = at.size() - 1;
    while (d > 0 && at[d - 1] + 1 == along_[d - 1].count) at[--d] = 0;
    if (d == 0) return;
    ++at[d - 1];
  }
}

}  // namespace

ResultView HeldView(const ResultView& view) {
  ResultView out = view;
  out.lower = view.skewed->lower;
  out.upper = view.skewed->upper;
  out.step = view.skewed->step;
  out.tile_index = view.skewed->tile_index;
  out.skewed.reset();
  return out;
}

bool HoldsSkewed(const ResultView& view, const IndexVector& first,
                 const IndexVector& extents) {
  return ElementCount(extents) > 0 && SkewedCopy(view, first, extents).HasAny();
}

void CopySkewed(const ResultView& view, const Value& tile,
                const IndexVector& first, const IndexVector& extents,
                Value& dense) {
  if (tile.bytes() == 0) return;
  SkewedCopy(view, first, extents).Run(tile, dense);
}

}  // namespace dogged::dsl
