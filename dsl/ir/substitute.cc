#include "dsl/ir/substitute.h"

#include <cstddef>

namespace dogged::dsl {

AffineExpr Substitute(const AffineExpr& expr,
                      const std::vector<AffineExpr>& values) {
  AffineExpr out = AffineExpr::Constant(expr.constant);
  for (size_t k = 0; k < values.size(); ++k) {
    out = out + values[k] * expr.coefficients[k];
  }
  return out;
}

AffineMap Substitute(const AffineMap& map,
                     const std::vector<AffineExpr>& values) {
  AffineMap out;
  for (const AffineExpr& expr : map) out.push_back(Substitute(expr, values));
  return out;
}

Guard Substitute(const Guard& guard, const std::vector<AffineExpr>& values) {
  Guard out = guard;
  for (auto& all_of : out.any_of) {
    for (Constraint& constraint : all_of) {
      constraint.expr = Substitute(constraint.expr, values);
    }
  }
  return out;
}

}  // namespace dogged::dsl
