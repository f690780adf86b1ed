// TileSweep: computes the pieces of one tile over some time steps.
#ifndef DOGGED_DSL_KERNELS_TILE_SWEEP_H_
#define DOGGED_DSL_KERNELS_TILE_SWEEP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "dsl/kernels/tile_program.h"

namespace dogged::dsl {

class TileSweep {
 public:
  // All of these outlive the sweep; `fields` has a ring per field, `inputs` a
  // window per input of the plan, once it runs.
  TileSweep(const TileProgram& program, const IndexVector& tile,
            const std::vector<FieldTimeSteps>& fields,
            const std::vector<Window>& inputs)
      : program_(program),
        plan_(program.plan),
        tile_(tile),
        fields_(fields),
        inputs_(inputs) {}

  // The points of a piece, all coordinates; empty if it has none here.
  Box PieceBox(size_t piece, int64_t time_step, int64_t time_steps_to_go) const;
  // Gathered coefficients, and the static pieces of a stage, if there is one.
  void RunStatic(std::optional<int32_t> stage);
  // Time steps first ... last of a block that ends with time step `block_last`.
  // On its way it calls need(p) before it reads points of time steps before
  // `first` whose first coordinate is at most p, and made(p) after those of
  // time step `last` are there.
  void RunTimeSteps(int64_t first, int64_t last, int64_t block_last,
                    absl::FunctionRef<void(int64_t)> need,
                    absl::FunctionRef<void(int64_t)> made);
  // False if a time step reads points of the one before that are too far away
  // for slabs: then each time step is whole before the next one begins.
  bool GoesBySlabs() const;
  // Points along coordinate 1 of a slab of rows of `row` points.
  int64_t SlabOf(int64_t row) const;

 private:
  // A part's points in a window, with the box's first plane in plane `plane`.
  struct Operand {
    char* data = nullptr;  // in plane 0
    int64_t plane = 0;
    int64_t step = 0;  // bytes between planes; 0 if all are the same
    int64_t planes = Window::kAll;
  };
  // A piece at one time step. Its slices move along coordinate 1.
  struct Part {
    const BoxFunction* function = nullptr;
    Box box;
    int64_t lag = 0;  // behind the sweep
    std::vector<Operand> stores;
    std::vector<Operand> loads;
    std::vector<int64_t> strides;
  };
  // Computes the pieces for which IsAhead().
  void RunAhead(int64_t first, int64_t last, int64_t block_last);
  // Appends the piece, unless it has no point here.
  void AddPart(size_t piece, int64_t time_step, int64_t time_steps_to_go,
               int64_t lag);
  // Appends an operand's strides: dimension e of the window is at coordinate
  // coordinates[e] + shifts[e].
  static Operand Place(const Window& window, int64_t element_bytes,
                       absl::Span<const int32_t> coordinates,
                       absl::Span<const int64_t> shifts, Part& part);
  // The same with dimension e at at[e], of a window that has all its planes.
  static Operand PlaceAt(const Window& window, int64_t element_bytes,
                         absl::Span<const AffineExpr> at, Part& part);
  // The part's points whose coordinate 1 is in first ... last.
  static void RunSlice(const Part& part, int64_t first, int64_t last);

  const TileProgram& program_;
  const TilePlan& plan_;
  const IndexVector& tile_;
  const std::vector<FieldTimeSteps>& fields_;
  const std::vector<Window>& inputs_;
  std::vector<Part> parts_;
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_TILE_SWEEP_H_
