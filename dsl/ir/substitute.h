// Other numbers for the indices of affine expressions.
#ifndef DOGGED_DSL_IR_SUBSTITUTE_H_
#define DOGGED_DSL_IR_SUBSTITUTE_H_

#include <vector>

#include "runtime/graph/affine.h"
#include "runtime/graph/domain.h"

namespace dogged::dsl {

// With values[k] for index k.
AffineExpr Substitute(const AffineExpr& expr,
                      const std::vector<AffineExpr>& values);
AffineMap Substitute(const AffineMap& map,
                     const std::vector<AffineExpr>& values);
Guard Substitute(const Guard& guard, const std::vector<AffineExpr>& values);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_IR_SUBSTITUTE_H_
