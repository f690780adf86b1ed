// SelectionCut: the part of a result's dense array that a selection wants.
#ifndef DOGGED_APPS_OUTPUT_SELECTION_CUT_H_
#define DOGGED_APPS_OUTPUT_SELECTION_CUT_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "apps/output/selection.h"
#include "runtime/base/value.h"
#include "runtime/graph/program.h"

namespace dogged {

// Immutable.
class SelectionCut {
 public:
  // The cut of a selection without expressions, from the array of `view`, whose
  // labels are numbers; the array has the shape `dense`.
  //
  // Errors: kInvalidArgument if the number of indices is not the array's;
  //         kNotFound, naming what results there are.
  static absl::StatusOr<SelectionCut> Of(const Selection& selection,
                                         const ResultView& view,
                                         const Shape& dense);

  // Range: the part of one dimension that is taken, every `step`-th element.
  struct Range {
    int64_t first = 0;
    int64_t count = 1;
    int64_t step = 1;
  };
  // Ranges, one per dimension of the array.
  const std::vector<Range>& ranges() const { return ranges_; }
  // The part of `ranges()` that a box has, counted from its own first element.
  std::vector<Range> RangesIn(const IndexVector& first,
                              const Shape& extents) const;
  // A dimension per `:` or range, a fixed index has none. A bare array gives
  // all dimensions.
  const Shape& shape() const { return shape_; }
  // True if that is the whole array.
  bool IsWhole() const { return is_whole_; }
  // The number of wanted elements in a box of the array, which has `extents`
  // from `first` on.
  int64_t CountIn(const IndexVector& first, const Shape& extents) const;
  // The place of the first of them among all elements of the cut, by dimension
  // of `ranges()`.
  IndexVector PlaceOf(const IndexVector& first) const;
  // Copies those of `piece`, which is such a box, to `out`, in C order.
  void Copy(const IndexVector& first, const Value& piece, char* out) const;

 private:
  std::vector<Range> ranges_;  // one per dimension of the array
  Shape shape_;
  bool is_whole_ = false;
};

// The part of `dense`, which is all of the array. Errors: as
// SelectionCut::Of().
absl::StatusOr<Value> ExtractSelection(const Selection& selection,
                                       const ResultView& view,
                                       const Value& dense);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_SELECTION_CUT_H_
