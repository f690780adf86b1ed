// Skewing: h(i)(j) of h(i-1)(j) and h(i)(j-1) has no index that steps follow,
// yet what lies on i + j = t needs only what lies before. With t in the place
// of i it is a uniform stencil, h'(t)(j) of h'(t-1)(j) and h'(t-1)(j-1).
// Internal to lower_program.
//
// Source: Lamport, The parallel execution of DO loops, CACM 17(2), 1974
// (the hyperplane method).
#ifndef DOGGED_DSL_SKEW_H_
#define DOGGED_DSL_SKEW_H_

#include <optional>
#include <string>

#include "dsl/point_program.h"

namespace dogged::dsl {

struct SkewedProgram {
  // With results of skewed arrays over the whole box that theirs have there.
  PointProgram points;
  // Of all fields; its box is left out.
  SkewedBox skew;
  std::vector<bool> is_skewed;  // by array
  std::string steps;            // "i + j", as a user would call them
};

// None if the points of some field have an order already, or none that is
// found: reads at distances that vary, tasks that call kernels, loops.
std::optional<SkewedProgram> SkewPoints(const PointProgram& points);

// Lets the views of `program`, lowered from `skewed`, speak of the indices that
// `points`, from which that was made, has.
void UnskewViews(const PointProgram& points, const SkewedProgram& skewed,
                 Program& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_SKEW_H_
