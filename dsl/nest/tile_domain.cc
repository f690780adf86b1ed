#include "dsl/nest/tile_domain.h"

#include <isl/constraint.h>
#include <isl/set.h>

#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

// More alternatives are one, their hull, or too many.
constexpr int kAlternativesMax = 4;
constexpr int kExactAlternativesMax = 16;

std::optional<std::vector<Constraint>> ConstraintsOf(
    const isl::basic_set& set) {
  struct Out {
    std::vector<Constraint> constraints;
    bool is_good = true;
  } out;
  const auto visit = [](isl_constraint* c, void* user) -> isl_stat {
    Out& to = *static_cast<Out*>(user);
    Constraint constraint;
    const auto take = [&to](isl_val* value) {
      const auto number = TakeInteger(value);
      to.is_good = to.is_good && number.has_value();
      return number.value_or(0);
    };
    const int rank = static_cast<int>(isl_constraint_dim(c, isl_dim_set));
    for (int d = 0; d < rank; ++d) {
      constraint.expr.coefficients[d] =
          take(isl_constraint_get_coefficient_val(c, isl_dim_set, d));
    }
    constraint.expr.constant = take(isl_constraint_get_constant_val(c));
    to.is_good = to.is_good && isl_constraint_dim(c, isl_dim_div) == 0;
    if (isl_constraint_is_equality(c) == isl_bool_true) {
      constraint.kind = Constraint::Kind::kZero;
    }
    to.constraints.push_back(constraint);
    isl_constraint_free(c);
    return isl_stat_ok;
  };
  isl_basic_set_foreach_constraint(set.get(), visit, &out);
  if (!out.is_good) return std::nullopt;
  return std::move(out.constraints);
}

// Bounds of index d by a constraint that mentions it, and none further in.
void AddBounds(const Constraint& c, int d, Dimension& out) {
  const auto s = static_cast<size_t>(d);
  AffineExpr rest = c.expr;
  const int64_t factor = std::exchange(rest.coefficients[s], 0);
  if (factor == 0) return;
  const bool is_equal = c.kind == Constraint::Kind::kZero;
  const AffineBound bound{.expr = factor > 0 ? rest * -1 : rest,
                          .divisor = std::abs(factor)};
  if (factor > 0 || is_equal) out.lower.push_back(bound);
  if (factor < 0 || is_equal) out.upper.push_back(bound);
}

isl::basic_set HullOf(const isl::set& set) {
  return isl::manage(isl_basic_set_remove_redundancies(
      isl_set_simple_hull(isl_set_remove_divs(set.copy()))));
}

}  // namespace

std::optional<Domain> DomainOfTiles(const isl::set& tiles) {
  Domain out;
  const int rank = Dimensions(tiles);
  const isl::basic_set hull = HullOf(tiles);
  for (int d = 0; d < rank; ++d) {
    const isl::basic_set shadow = isl::manage(isl_basic_set_remove_redundancies(
        isl_basic_set_remove_divs(isl_basic_set_project_out(
            hull.copy(), isl_dim_set, static_cast<unsigned>(d + 1),
            static_cast<unsigned>(rank - d - 1)))));
    const auto constraints = ConstraintsOf(shadow);
    if (!constraints) return std::nullopt;
    Dimension dimension;
    dimension.name = absl::StrCat("T", d);
    for (const Constraint& c : *constraints) AddBounds(c, d, dimension);
    if (dimension.lower.empty() || dimension.upper.empty()) {
      return std::nullopt;
    }
    out.dimensions.push_back(std::move(dimension));
  }
  return out;
}

std::optional<Guard> GuardOfTiles(const isl::set& tiles, const isl::set& all,
                                  bool is_exact) {
  Guard out;
  if (all.is_subset(tiles)) return out;
  isl::set pieces = isl::manage(isl_set_remove_divs(tiles.copy())).coalesce();
  const int alternatives = isl_set_n_basic_set(pieces.get());
  if (is_exact) {
    const bool is_good =
        alternatives <= kExactAlternativesMax && pieces.is_equal(tiles);
    if (!is_good) return std::nullopt;
  } else if (alternatives > kAlternativesMax) {
    pieces = isl::set(HullOf(pieces));
  }
  pieces = isl::manage(isl_set_gist(pieces.copy(), all.copy()));
  bool is_good = true;
  bool is_always = false;
  pieces.foreach_basic_set([&](const isl::basic_set& piece) {
    auto constraints = ConstraintsOf(piece);
    is_good = is_good && constraints.has_value();
    if (!constraints) return;
    is_always = is_always || constraints->empty();
    out.any_of.push_back(*std::move(constraints));
  });
  if (!is_good) return std::nullopt;
  if (is_always) out.any_of.clear();
  return out;
}

}  // namespace dogged::dsl
