#include "dsl/nest/uniform_band.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <tuple>
#include <utility>

namespace dogged::dsl {
namespace {

constexpr int64_t kPlaneFactorMax = 2;

int64_t Along(const Row& plane, const Row& distance) {
  return std::inner_product(plane.begin(), plane.end(), distance.begin(),
                            int64_t{0});
}

// Planes that are better come first.
auto PlaneWeight(const Row& plane, const std::vector<Row>& distances) {
  int64_t size = 0;
  int64_t negative = 0;
  for (const int64_t factor : plane) {
    size += std::abs(factor);
    negative += factor < 0 ? 1 : 0;
  }
  return std::make_tuple(!IsCoincident(plane, distances), size, negative);
}

// All rows with factors up to kPlaneFactorMax along which no distance goes
// back.
std::vector<Row> Candidates(const std::vector<Row>& distances, int dims) {
  std::vector<Row> out;
  Row row(static_cast<size_t>(dims), -kPlaneFactorMax);
  while (true) {
    if (std::all_of(distances.begin(), distances.end(),
                    [&row](const Row& one) { return Along(row, one) >= 0; })) {
      out.push_back(row);
    }
    size_t k = 0;
    while (k < row.size() && row[k] == kPlaneFactorMax)
      row[k++] = -kPlaneFactorMax;
    if (k == row.size()) return out;
    ++row[k];
  }
}

}  // namespace

bool IsCoincident(const Row& plane, const std::vector<Row>& distances) {
  return std::all_of(
      distances.begin(), distances.end(),
      [&plane](const Row& one) { return Along(plane, one) == 0; });
}

std::optional<std::vector<Row>> UniformBand(const std::vector<Row>& distances,
                                            int dims) {
  std::vector<Row> candidates = Candidates(distances, dims);
  std::stable_sort(
      candidates.begin(), candidates.end(), [&](const Row& a, const Row& b) {
        return PlaneWeight(a, distances) < PlaneWeight(b, distances);
      });
  std::vector<Row> out;
  for (const Row& row : candidates) {
    out.push_back(row);
    if (!IsPrimitive(out)) out.pop_back();
    if (std::ssize(out) == dims) return out;
  }
  return std::nullopt;
}

}  // namespace dogged::dsl
