// Coefficients: arrays that are no fields, such as source(t), damp(x),
// inflow(y)(t) or coefficient(x)(y)(2) of a stencil u(x)(y)(t). The tasks that
// read them say which coordinates their indices follow, and a coefficient may
// be read in several ways: damp(x)*damp(y), source(2*t). A coefficient whose
// index follows no coordinate, source(x+t), becomes a gathered coefficient.
// Internal to stencil.
#ifndef DOGGED_DSL_TILING_STENCIL_COEFFICIENTS_H_
#define DOGGED_DSL_TILING_STENCIL_COEFFICIENTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// An index of labels that is `factor` times a coordinate: 0 for time, from 1 on
// for space.
struct Along {
  int32_t coordinate = 0;
  int64_t factor = 1;
};

// A program in which every array follows coordinates: one with another name for
// each other way in which a coefficient is read. A coefficient that does not
// depend on earlier values of its own is read at the time at which it stands. A
// gathered one's indices are the last coordinates, but mean no place and no
// time; it is read anyhow, and its tasks read gathered coefficients, numbers
// and inputs.
struct PlacedProgram {
  PointProgram points;  // the boxes of arrays are of coordinates
  // By array and index. Empty if no task creates the array.
  std::vector<std::vector<Along>> along;
  std::vector<bool> is_created;
  std::vector<bool> is_coefficient;
  std::vector<bool> is_gathered;
  // By array: of a scalar input, the indices of the label that it stands
  // for; it has the name of the array of that.
  std::vector<std::optional<IndexVector>> scalar_inputs;
  int32_t dims = 0;  // of space
};

// `time` is the position of time among the indices of arrays that have all.
// kUnimplemented, with the reason as a clause, if some array is read otherwise.
absl::StatusOr<PlacedProgram> PlaceCoefficients(const PointProgram& points,
                                                int32_t time);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_STENCIL_COEFFICIENTS_H_
