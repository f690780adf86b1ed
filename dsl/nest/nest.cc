#include "dsl/nest/nest.h"

#include "absl/strings/str_cat.h"

namespace dogged::dsl {

std::string IslText(const AffineExpr& expr, const std::string& prefix) {
  std::string out = absl::StrCat(expr.constant);
  for (size_t d = 0; d < expr.coefficients.size(); ++d) {
    const int64_t factor = expr.coefficients[d];
    if (factor != 0) absl::StrAppend(&out, " + ", factor, "*", prefix, d);
  }
  return out;
}

std::string IslTuple(const std::string& name, int rank,
                     const std::string& prefix) {
  std::string out = name + "[";
  for (int d = 0; d < rank; ++d) {
    absl::StrAppend(&out, d == 0 ? "" : ", ", prefix, d);
  }
  return out + "]";
}

std::vector<std::string> IslNames(const std::string& prefix, int rank) {
  std::vector<std::string> out;
  for (int d = 0; d < rank; ++d) out.push_back(absl::StrCat(prefix, d));
  return out;
}

std::string TileText(const NestPoint& point, const NestComponent& component,
                     const std::vector<std::string>& tile) {
  std::string out = "true";
  for (size_t m = 0; m < point.theta.size(); ++m) {
    const int64_t size = component.sizes[m];
    const std::string theta = IslText(point.theta[m], "i");
    absl::StrAppend(&out, " and ", size, "*(", tile[m], ") <= ", theta, " and ",
                    theta, " <= ", size, "*(", tile[m], ") + ", size - 1);
  }
  return out;
}

std::string OriginText(const std::vector<int64_t>& factors,
                       const std::vector<int64_t>& sizes,
                       const std::vector<std::string>& tile) {
  std::string out = "0";
  for (size_t m = 0; m < factors.size(); ++m) {
    if (factors[m] == 0) continue;
    absl::StrAppend(&out, " + ", factors[m] * sizes[m], "*(", tile[m], ")");
  }
  return out;
}

}  // namespace dogged::dsl
