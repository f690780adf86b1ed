#include "runtime/graph/inverse_map.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace dogged {
namespace {

// Holds where both do.
Guard Both(const Guard& a, const Guard& b) {
  if (a.IsAlways()) return b;
  if (b.IsAlways()) return a;
  Guard out;
  for (const auto& left : a.any_of) {
    for (const auto& right : b.any_of) {
      out.any_of.push_back(left);
      out.any_of.back().insert(out.any_of.back().end(), right.begin(),
                               right.end());
    }
  }
  return out;
}

// Expressions that are 0 at all points of the domain where the guard holds:
// of an index with one value by its bounds, of equations in guards.
std::vector<AffineExpr> EquationsOf(const Domain& domain, const Guard* guard) {
  std::vector<AffineExpr> out;
  for (int d = 0; d < domain.size(); ++d) {
    const Dimension& dimension = domain.dimensions[d];
    for (const AffineBound& lower : dimension.lower) {
      for (const AffineBound& upper : dimension.upper) {
        if (!(lower == upper)) continue;
        out.push_back(AffineExpr::Index(d) * lower.divisor - lower.expr);
      }
    }
  }
  for (const Guard* each : {&domain.guard, guard}) {
    if (each == nullptr || each->any_of.size() != 1) continue;
    for (const Constraint& c : each->any_of[0]) {
      if (c.kind == Constraint::Kind::kZero) out.push_back(c.expr);
    }
  }
  return out;
}

}  // namespace

// Gaussian elimination from the innermost index outwards, in integers. Rows
// are scaled by their pivots, never divided, so no solution is lost or won.
// Equations that hold for all points are added, without an image.
InverseMap::InverseMap(const AffineMap& map, const Domain& domain,
                       const Guard* guard)
    : domain_(&domain),
      guard_(guard),
      image_size_(static_cast<int>(map.size())) {
  const auto index_count = static_cast<size_t>(domain.size());
  std::vector<Row> open;
  const auto add = [&](const AffineExpr& expr) {
    open.push_back({.coefficients = {expr.coefficients.begin(),
                                     expr.coefficients.begin() +
                                         static_cast<ptrdiff_t>(index_count)},
                    .image = std::vector<int64_t>(map.size()),
                    .constant = -expr.constant});
  };
  for (size_t m = 0; m < map.size(); ++m) {
    add(map[m]);
    open.back().image[m] = 1;
  }
  for (const AffineExpr& zero : EquationsOf(domain, guard)) add(zero);
  row_of_index_.assign(index_count, -1);
  for (size_t d = index_count; d-- > 0;) {
    // The smallest coefficient keeps the numbers small.
    auto pivot = open.end();
    for (auto it = open.begin(); it != open.end(); ++it) {
      const int64_t c = std::llabs(it->coefficients[d]);
      if (c != 0 &&
          (pivot == open.end() || c < std::llabs(pivot->coefficients[d]))) {
        pivot = it;
      }
    }
    if (pivot == open.end()) {
      ++free_count_;
      continue;
    }
    Row row = std::move(*pivot);
    open.erase(pivot);
    for (Row& other : open) {
      const int64_t factor = other.coefficients[d];
      if (factor == 0) continue;
      const int64_t g = std::gcd(factor, row.coefficients[d]);
      const int64_t keep = row.coefficients[d] / g;
      const int64_t take = factor / g;
      for (size_t e = 0; e < index_count; ++e) {
        other.coefficients[e] =
            keep * other.coefficients[e] - take * row.coefficients[e];
      }
      for (size_t m = 0; m < map.size(); ++m) {
        other.image[m] = keep * other.image[m] - take * row.image[m];
      }
      other.constant = keep * other.constant - take * row.constant;
    }
    row_of_index_[d] = static_cast<int>(rows_.size());
    rows_.push_back(std::move(row));
  }
  image_conditions_ = std::move(open);
  Flatten();
}

// Writes each index of the point as an expression of the image, from the
// outermost on, and puts these into all that must hold of the point.
void InverseMap::Flatten() {
  if (free_count_ > 0 || image_size_ > kMaxIndices) return;
  std::vector<AffineExpr> point;
  for (size_t d = 0; d < row_of_index_.size(); ++d) {
    const Row& row = rows_[row_of_index_[d]];
    const int64_t pivot = row.coefficients[d];
    if (pivot != 1 && pivot != -1) return;
    AffineExpr expr = OfImage(row);
    for (size_t e = 0; e < d; ++e) {
      expr = expr - point[e] * row.coefficients[e];
    }
    point.push_back(expr * pivot);
  }
  Flat flat{.point = std::move(point)};
  for (const Row& row : image_conditions_) {
    flat.Require(OfImage(row));
    flat.Require(OfImage(row) * -1);
  }
  for (size_t d = 0; d < domain_->dimensions.size(); ++d) {
    const Dimension& dimension = domain_->dimensions[d];
    for (const AffineBound& bound : dimension.lower) {
      flat.Require(flat.point[d] * bound.divisor - flat.Of(bound.expr));
    }
    for (const AffineBound& bound : dimension.upper) {
      flat.Require(flat.Of(bound.expr) - flat.point[d] * bound.divisor);
    }
  }
  flat.guards_left[0] = !flat.RequireAll(domain_->guard);
  flat.guards_left[1] = guard_ != nullptr && !flat.RequireAll(*guard_);
  flat_ = std::move(flat);
}

AffineExpr InverseMap::OfImage(const Row& row) const {
  AffineExpr out{.constant = row.constant};
  for (size_t m = 0; m < row.image.size(); ++m) {
    out.coefficients[m] = row.image[m];
  }
  return out;
}

AffineExpr InverseMap::Flat::Of(const AffineExpr& expr) const {
  AffineExpr out{.constant = expr.constant};
  for (size_t d = 0; d < point.size(); ++d) {
    out = out + point[d] * expr.coefficients[d];
  }
  return out;
}

void InverseMap::Flat::Require(const AffineExpr& expr) {
  if (expr.IsConstant() && expr.constant >= 0) return;
  for (AffineExpr& known : conditions) {
    if (known.coefficients != expr.coefficients) continue;
    known.constant = std::min(known.constant, expr.constant);
    return;
  }
  conditions.push_back(expr);
}

bool InverseMap::Flat::RequireAll(const Guard& guard) {
  if (guard.IsAlways()) return true;
  if (guard.any_of.size() > 1) return false;
  bool is_affine = true;
  for (const Constraint& c : guard.any_of[0]) {
    if (c.kind == Constraint::Kind::kDivisible) {
      is_affine = false;
      continue;
    }
    Require(Of(c.expr));
    if (c.kind == Constraint::Kind::kZero) Require(Of(c.expr) * -1);
  }
  return is_affine;
}

bool InverseMap::VisitFlat(
    const IndexVector& image,
    absl::FunctionRef<bool(const IndexVector&)> visit) const {
  for (const AffineExpr& condition : flat_->conditions) {
    if (condition.Evaluate(image) < 0) return true;
  }
  IndexVector point;
  for (const AffineExpr& expr : flat_->point) {
    point.push_back(expr.Evaluate(image));
  }
  if (flat_->guards_left[0] && !domain_->guard.Holds(point)) return true;
  if (flat_->guards_left[1] && !guard_->Holds(point)) return true;
  return visit(point);
}

// An index that equations make a number becomes one, and its bounds become
// bounds of the indices further out. So the domain has no outer index without a
// point, and a cursor finds its runs.
Domain InverseMap::PointsOf(const IndexVector& image) const {
  Domain out = *domain_;
  bool any = image.size() == image_size_;
  for (const Row& row : image_conditions_) {
    any = any && OfImage(row).Evaluate(image) == 0;
  }
  std::vector<std::optional<int64_t>> numbers(row_of_index_.size());
  const auto with_numbers = [&numbers](AffineExpr expr) {
    for (size_t e = 0; e < numbers.size(); ++e) {
      if (!numbers[e].has_value()) continue;
      expr.constant += std::exchange(expr.coefficients[e], 0) * *numbers[e];
    }
    return expr;
  };
  for (size_t d = 0; d < row_of_index_.size() && any; ++d) {
    if (row_of_index_[d] < 0) continue;
    const Row& row = rows_[row_of_index_[d]];
    const int64_t pivot = row.coefficients[d];
    AffineExpr rest = AffineExpr::Constant(OfImage(row).Evaluate(image));
    for (size_t e = 0; e < d; ++e) rest.coefficients[e] = -row.coefficients[e];
    rest = with_numbers(rest);
    Dimension& dimension = out.dimensions[d];
    if (!rest.IsConstant()) {
      const AffineBound bound{.expr = pivot > 0 ? rest : rest * -1,
                              .divisor = std::abs(pivot)};
      dimension.lower.push_back(bound);
      dimension.upper.push_back(bound);
      continue;
    }
    any = rest.constant % pivot == 0;
    if (!any) break;
    numbers[d] = rest.constant / pivot;
    const AffineExpr number = AffineExpr::Constant(*numbers[d]);
    const std::vector<AffineBound> one = {{.expr = number}};
    const std::vector<AffineBound> lower = std::exchange(dimension.lower, one);
    const std::vector<AffineBound> upper = std::exchange(dimension.upper, one);
    for (const AffineBound& bound : lower) {
      any = any && out.Narrow({.expr = with_numbers(number * bound.divisor -
                                                    bound.expr)});
    }
    for (const AffineBound& bound : upper) {
      any = any && out.Narrow({.expr = with_numbers(bound.expr -
                                                    number * bound.divisor)});
    }
  }
  if (guard_ != nullptr) out.guard = Both(out.guard, *guard_);
  if (any && out.guard.any_of.size() == 1) {
    std::vector<Constraint> left;
    std::vector<Constraint> all_of = std::move(out.guard.any_of[0]);
    out.guard = {};
    for (Constraint& c : all_of) {
      c.expr = with_numbers(c.expr);
      any = any && out.Narrow(c);
      if (c.kind == Constraint::Kind::kDivisible) left.push_back(c);
    }
    out.guard.Require(left);
  }
  if (!any) out.guard = {{{{.expr = AffineExpr::Constant(-1)}}}};
  return out;
}

bool InverseMap::FitsImage(const IndexVector& image) const {
  if (image.size() != image_size_) return false;
  for (const Row& row : image_conditions_) {
    int64_t sum = row.constant;
    for (int m = 0; m < image_size_; ++m) {
      sum += row.image[m] * image[m];
    }
    if (sum != 0) return false;
  }
  return true;
}

int64_t InverseMap::Count(const IndexVector& image) const {
  if (!FitsImage(image)) return 0;
  if (free_count_ > 0) return PointsOf(image).Count();
  int64_t count = 0;
  ForEach(image, [&count](const IndexVector&) {
    ++count;
    return true;
  });
  return count;
}

bool InverseMap::ForEach(
    const IndexVector& image,
    absl::FunctionRef<bool(const IndexVector&)> visit) const {
  if (image.size() != image_size_) return true;
  if (flat_.has_value()) return VisitFlat(image, visit);
  if (!FitsImage(image)) return true;
  IndexVector index;
  return Solve(image, index, visit);
}

bool InverseMap::Solve(
    const IndexVector& image, IndexVector& index,
    absl::FunctionRef<bool(const IndexVector&)> visit) const {
  const auto d = static_cast<size_t>(index.size());
  if (d == row_of_index_.size()) {
    if (!domain_->guard.Holds(index)) return true;
    if (guard_ != nullptr && !guard_->Holds(index)) return true;
    return visit(index);
  }
  const Dimension& dimension = domain_->dimensions[d];
  int64_t lower = dimension.Lower(index);
  int64_t upper = dimension.Upper(index);
  if (row_of_index_[d] >= 0) {
    const Row& row = rows_[row_of_index_[d]];
    int64_t rest = row.constant;
    for (int m = 0; m < image_size_; ++m) {
      rest += row.image[m] * image[m];
    }
    for (size_t e = 0; e < d; ++e) {
      rest -= row.coefficients[e] * index[static_cast<int>(e)];
    }
    if (rest % row.coefficients[d] != 0) return true;
    const int64_t value = rest / row.coefficients[d];
    if (value < lower || value > upper) return true;
    lower = upper = value;
  }
  for (int64_t i = lower; i <= upper; ++i) {
    index.push_back(i);
    const bool go_on = Solve(image, index, visit);
    index.pop_back();
    if (!go_on) return false;
  }
  return true;
}

}  // namespace dogged
