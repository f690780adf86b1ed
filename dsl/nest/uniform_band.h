// Hyperplanes for points that read others at constant distances.
#ifndef DOGGED_DSL_NEST_UNIFORM_BAND_H_
#define DOGGED_DSL_NEST_UNIFORM_BAND_H_

#include <optional>
#include <vector>

#include "dsl/nest/integer_rows.h"

namespace dogged::dsl {

// Whether none of `distances` goes along `plane`.
bool IsCoincident(const Row& plane, const std::vector<Row>& distances);

// As many hyperplanes as points have indices, `dims`, along none of which one
// of `distances`, from a point to its readers, goes back: those with the least
// factors, up to 2, first those along which none goes at all. None if there are
// none. Cheap where distances run at unlike skews, over which isl takes long.
//
// Source: Lamport 1974 (the hyperplane method), for as many hyperplanes as a
// band has (Bondhugula et al. 2008).
std::optional<std::vector<Row>> UniformBand(const std::vector<Row>& distances,
                                            int dims);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_UNIFORM_BAND_H_
