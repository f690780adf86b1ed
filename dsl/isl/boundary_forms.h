// Labels of boundaries as sets: their forms, and the parts of rings.
#ifndef DOGGED_DSL_ISL_BOUNDARY_FORMS_H_
#define DOGGED_DSL_ISL_BOUNDARY_FORMS_H_

#include <isl/cpp.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "dsl/check/checked.h"
#include "dsl/isl/isl_sets.h"

namespace dogged::dsl {

bool HasDimensions(const LinearForm& form);

// A boundary's free indices, where its condition holds.
CheckedDomain FreeOf(const CheckedBoundary& boundary);

// A boundary's free indices to the labels that it may give values to.
isl::map FormOf(const CheckedBoundary& boundary, const IslSets& sets);

// Labels beyond an end of a ring, and where they take their values from,
// `rounds` times round it.
struct RingPart {
  isl::set labels;
  CheckedRef source;
  bool is_below = false;
  int64_t rounds = 1;
};

// How often a ring may lead round.
inline constexpr int64_t kRoundsMax = 64;

// Splits `labels` beyond the ends of a ring, which goes from range.first to
// range.second, by how often it leads round to where they take their values
// from. False if that is oftener than anybody means.
bool SplitRing(const CheckedBoundary& boundary,
               const std::pair<LinearForm, LinearForm>& range,
               const isl::set& labels, const IslSets& sets,
               std::vector<RingPart>& parts);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_BOUNDARY_FORMS_H_
