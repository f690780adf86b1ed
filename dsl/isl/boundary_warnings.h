// Warnings of boundaries that do less than they seem to.
#ifndef DOGGED_DSL_ISL_BOUNDARY_WARNINGS_H_
#define DOGGED_DSL_ISL_BOUNDARY_WARNINGS_H_

#include <isl/cpp.h>

#include <vector>

#include "dsl/isl/boundary_forms.h"
#include "dsl/isl/proof.h"

namespace dogged::dsl {

// Warns that the boundary makes nothing: tasks create all labels of its form
// that are `needed`.
void WarnOfIdle(Proof& proof, const CheckedBoundary& boundary,
                const isl::set& needed);

// Warns if a task makes a part of the `needed` labels of a boundary's form, and
// the boundary the rest: a range begins at 0 where another begins at 1. A form
// without a number is meant for such a rest.
void WarnOfLost(Proof& proof, const CheckedBoundary& boundary,
                const isl::set& needed);

// Warns of a plain boundary of a number along a ring that takes labels beyond
// its ends, which are in `parts`.
void WarnOfHole(Proof& proof, const CheckedBoundary& ring,
                const std::vector<RingPart>& parts);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_BOUNDARY_WARNINGS_H_
