// Affine forms in terms of the hyperplanes of tiles.
#ifndef DOGGED_DSL_NEST_DECOMPOSE_H_
#define DOGGED_DSL_NEST_DECOMPOSE_H_

#include <cstdint>
#include <vector>

#include "dsl/nest/nest.h"

namespace dogged::dsl {

// `form`, of `dims` indices, with the least rest, and then the smallest
// factors, that there is with factors from -2 to 2.
Decomposition Decompose(const AffineExpr& form,
                        const std::vector<AffineExpr>& theta, int dims);

// With these factors.
Decomposition DecomposeBy(const AffineExpr& form,
                          const std::vector<AffineExpr>& theta,
                          const std::vector<int64_t>& factors);
// How many indices `expr` has.
int IndexCount(const AffineExpr& expr);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_DECOMPOSE_H_
