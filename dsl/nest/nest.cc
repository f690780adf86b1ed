#include "dsl/nest/nest.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_cat.h"

namespace dogged::dsl {

isl::map PairsWhere(const Nest& nest, const NestFlow& flow,
                    const std::string& conditions) {
  const NestPoint& consumer = nest.points[flow.consumer];
  const NestPoint& producer = nest.points[flow.producer];
  return isl::map(
      nest.context,
      absl::StrCat("{ ", IslTuple(consumer.tuple, consumer.dims, "i"), " -> ",
                   IslTuple(producer.tuple, producer.dims, "j"), " : ",
                   conditions, " }"));
}

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

std::optional<WaveDimensions> WaveOf(const NestComponent& component,
                                     const NestGroup& group) {
  if (component.wave < 0) return std::nullopt;
  WaveDimensions out;
  int64_t by_inner = 0;
  int64_t by_wave = 0;
  for (size_t d = 0; d < group.factors.size(); ++d) {
    const int64_t inner = group.factors[d][component.inner];
    const int64_t wave = group.factors[d][component.wave];
    if (inner == 0 && wave == 0) continue;
    const bool is_folded = !group.is_folded.empty() && group.is_folded[d];
    const bool is_second = inner != 0 ? by_inner != 0 : by_wave != 0;
    if (is_folded || is_second || (inner != 0 && wave != 0)) {
      return std::nullopt;
    }
    by_inner += inner;
    by_wave += wave;
    (inner != 0 ? out.inner : out.wave) = d;
  }
  const bool are_alike = by_inner == by_wave && by_inner * by_wave == 1;
  if (!are_alike || group.is_input || group.width > 1) return std::nullopt;
  return out;
}

std::vector<int64_t> ExtentsOf(const NestGroup& group,
                               const std::vector<Span>& spans) {
  std::vector<int64_t> out;
  for (size_t d = 0; d < spans.size(); ++d) {
    const bool is_folded = d < group.is_folded.size() && group.is_folded[d];
    out.push_back(is_folded ? 1 : std::max<int64_t>(0, spans[d].Count()));
  }
  if (group.width > 1) out.push_back(group.width);
  return out;
}

std::vector<int64_t> BufferExtents(const NestComponent& component,
                                   const NestGroup& group) {
  std::vector<int64_t> out = ExtentsOf(group, group.spans);
  if (const auto wave = WaveOf(component, group)) {
    out[wave->wave] += std::max<int64_t>(0, out[wave->inner] - 1);
  }
  return out;
}

}  // namespace dogged::dsl
