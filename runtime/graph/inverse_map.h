// InverseMap: which points of a domain an affine map sends to a given image.
// Immutable, thread-safe; the domain and the guard must outlive it.
//
// The equations are brought to a form in which each fixes the innermost index
// that it mentions, so that solving walks the indices outside in: an index is
// either fixed by an equation or runs over its bounds. Where all are fixed, by
// coefficients 1 or -1, this is flat: the point is an affine map of the image
// again, and the conditions on it are a table of expressions of the image.
#ifndef DOGGED_RUNTIME_GRAPH_INVERSE_MAP_H_
#define DOGGED_RUNTIME_GRAPH_INVERSE_MAP_H_

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/base/label.h"
#include "runtime/graph/affine.h"
#include "runtime/graph/domain.h"

namespace dogged {

class InverseMap {
 public:
  InverseMap() = default;
  // Points where `guard` fails do not count; null: all do.
  InverseMap(const AffineMap& map, const Domain& domain,
             const Guard* guard = nullptr);

  // At most one point has a given image, by equations alone: of the map, of
  // indices whose bounds leave a single value, and of guards.
  bool IsInjective() const { return free_count_ == 0; }
  // Calls `visit` for each point of the domain with map(point) == image, in
  // lexicographic order, until it returns false; then returns false itself.
  bool ForEach(const IndexVector& image,
               absl::FunctionRef<bool(const IndexVector&)> visit) const;
  // How many points that are; takes no longer for many.
  int64_t Count(const IndexVector& image) const;
  // These points as a domain.
  Domain PointsOf(const IndexVector& image) const;

 private:
  // sum(row.coefficients * index) == sum(row.image * image) + constant, where
  // the last non-zero coefficient is that of the index that it fixes.
  struct Row {
    std::vector<int64_t> coefficients;
    std::vector<int64_t> image;
    int64_t constant = 0;
  };
  struct Flat {
    std::vector<AffineExpr> point;       // of the image
    std::vector<AffineExpr> conditions;  // of the image: each at least 0
    // The domain's guard and ours: has more than `conditions` say.
    std::array<bool, 2> guards_left{};

    // `expr`, of a point, as one of the image.
    AffineExpr Of(const AffineExpr& expr) const;
    void Require(const AffineExpr& expr);
    // False if some of it is not affine.
    bool RequireAll(const Guard& guard);
  };
  void Flatten();
  // False: no point has this image, whatever the domain is.
  bool FitsImage(const IndexVector& image) const;
  // The right-hand side of a row.
  AffineExpr OfImage(const Row& row) const;
  bool VisitFlat(const IndexVector& image,
                 absl::FunctionRef<bool(const IndexVector&)> visit) const;
  bool Solve(const IndexVector& image, IndexVector& index,
             absl::FunctionRef<bool(const IndexVector&)> visit) const;

  const Domain* domain_ = nullptr;
  const Guard* guard_ = nullptr;
  int image_size_ = 0;
  int free_count_ = 0;
  std::vector<int> row_of_index_;  // -1: the index is free
  std::vector<Row> rows_;
  std::vector<Row> image_conditions_;  // no index left: must hold of the image
  std::optional<Flat> flat_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_INVERSE_MAP_H_
