// DenseView: a view as the dense array that a user asked for, whole or piece by
// piece: a result may be larger than the memory of the client that has it.
#ifndef DOGGED_DSL_DENSE_VIEW_H_
#define DOGGED_DSL_DENSE_VIEW_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// The value of a result label, or why there is none.
using ResultLookup =
    absl::FunctionRef<absl::StatusOr<Value>(const Label& label)>;

// The shape of a result label's value, or why there is none.
using ShapeLookup =
    absl::FunctionRef<absl::StatusOr<Shape>(const Label& label)>;

// True if the values of a view hold several of the user's labels each.
bool HasTiles(const ResultView& view);

// The labels of a view, in lexicographic order. A view whose labels are the
// user's own may be narrower than the program's.
std::vector<Label> LabelsOf(const Program& program, const ResultView& view);

// A box of a dense array, of which `value` has the extents; `first` is its
// first element, by dimension.
struct DensePiece {
  IndexVector first;
  Value value;
};

// The dimensions are the user's indices that vary; blocks of as many dimensions
// multiply them, blocks of other rank come behind. Zero where the program has
// no label. Immutable.
class DenseView {
 public:
  // Labels of the user's own are looked up once for their shapes. Errors: as
  // `lookup`.
  static absl::StatusOr<DenseView> Of(const Program& program,
                                      const ResultView& view,
                                      ResultLookup lookup);
  // Likewise, of values that are elsewhere.
  static absl::StatusOr<DenseView> Of(const Program& program,
                                      const ResultView& view,
                                      ShapeLookup shapes);

  ElementType type() const { return type_; }
  const Shape& shape() const { return shape_; }
  int64_t bytes() const;
  // All of it, C order, sealed. Errors: as `lookup`; kInternal for a value of
  // another shape than the program says.
  absl::StatusOr<Value> Assemble(ResultLookup lookup) const;
  // Calls visit() for pieces of at most `bytes_max`, or of one element, that
  // follow one another in C order. Errors: as Assemble() and `visit`.
  absl::Status ForEachPiece(
      int64_t bytes_max, ResultLookup lookup,
      absl::FunctionRef<absl::Status(const DensePiece&)> visit) const;

  // A box of the array.
  struct Box {
    IndexVector first;
    IndexVector extents;
  };
  // Its elements, sealed; looks up the labels that have some. Errors: as
  // Assemble().
  absl::StatusOr<Value> Assemble(const Box& box, ResultLookup lookup) const;
  // In lexicographic order.
  const std::vector<Label>& labels() const { return labels_; }
  // Where the value of label number `i` stands.
  Box PlaceOf(size_t i) const;

 private:
  DenseView(const Program& program, const ResultView& view);
  // Where the labels are blocks: takes their shapes.
  absl::Status NoteBlocks(ShapeLookup shapes);
  void SetShape();
  Box PlaceTile(const Label& label) const;
  Box PlaceBlock(size_t i) const;
  // Rows of dimension `d` that have their labels in common.
  int64_t RowsTogether(int d) const;

  const std::reference_wrapper<const Program> program_;
  const ResultView view_;
  const std::vector<Label> labels_;  // in lexicographic order
  bool is_tiled_ = false;            // labels hold several of the user's each
  ElementType type_ = ElementType::kDouble;
  std::vector<Shape> shapes_;  // of blocks, by label; empty if all are numbers
  IndexVector full_;           // the largest block
  bool is_product_ = false;    // blocks multiply the user's indices
  Shape shape_;
};

// DenseView::Of() and Assemble().
absl::StatusOr<Value> AssembleView(const Program& program,
                                   const ResultView& view, ResultLookup lookup);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_DENSE_VIEW_H_
