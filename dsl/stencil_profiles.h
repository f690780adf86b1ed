// Profiles: arrays with fewer indices than time and space, such as source(t),
// damp(x) or inflow(y)(t) of a stencil u(x)(y)(t). What their indices follow is
// said by the tasks that read them, and one may be read in several ways:
// damp(x)*damp(y). Internal to stencil.
#ifndef DOGGED_DSL_STENCIL_PROFILES_H_
#define DOGGED_DSL_STENCIL_PROFILES_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/point_program.h"

namespace dogged::dsl {

// The only index that `expr` mentions, if it does so with factor 1.
std::optional<int> SingleIndex(const AffineExpr& expr);

// A program in which every array follows coordinates: one with another name for
// each other way in which a profile is read. A profile that does not depend on
// earlier values of its own is read at the time at which it stands.
struct PlacedProgram {
  PointProgram points;
  // By array and index: the coordinate that it follows, 0 for time, from 1 on
  // for space. Empty if no task creates the array.
  std::vector<std::vector<int32_t>> coordinates;
  std::vector<bool> is_created;
  int32_t dims = 0;  // of space
};

// `time` is the position of time among the indices of arrays that have all.
// kUnimplemented, with the reason as a clause, if some array is read otherwise.
absl::StatusOr<PlacedProgram> PlaceProfiles(const PointProgram& points,
                                            int32_t time);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_STENCIL_PROFILES_H_
