// Skewing: h(i)(j) of h(i-1)(j) and h(i)(j-1) has no index that steps follow,
// yet labels on i + j = t need only labels before them. With t in the place of
// i it is a uniform stencil, h'(t)(j) of h'(t-1)(j) and h'(t-1)(j-1). Internal
// to lower_program.
//
// Source: Lamport, The parallel execution of DO loops, CACM 17(2), 1974
// (the hyperplane method).
#ifndef DOGGED_DSL_TILING_SKEW_H_
#define DOGGED_DSL_TILING_SKEW_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/ir/point_program.h"

namespace dogged::dsl {

struct SkewedProgram {
  // With results of skewed arrays over the whole box that theirs have there.
  PointProgram points;
  // Skew of all fields; its box is left out.
  SkewedBox skew;
  std::vector<bool> is_skewed;  // by array
  std::string steps;            // "i + j", as a user would call them
};

// kNotFound if there are no steps across indices to go by, see FindSkewSteps().
// kUnimplemented, with the reason as a clause, if something does not go by
// them.
absl::StatusOr<SkewedProgram> SkewPoints(const PointProgram& points);

// Lets the views of `program`, lowered from `skewed`, speak of the indices that
// `points`, from which that was made, has.
void UnskewViews(const PointProgram& points, const SkewedProgram& skewed,
                 Program& program);

// Bytes that labels of results of skewed arrays hold beyond the wanted ones, at
// most.
double HeldBeyondResults(const Program& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_SKEW_H_
