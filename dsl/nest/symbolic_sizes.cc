#include "dsl/nest/symbolic_sizes.h"

#include <isl/constraint.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/space.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

// Numbers up to here are distances, not sizes.
constexpr int64_t kSmall = 16;
// Numbers so near to a size, or to a multiple of it, are forms of it.
constexpr int64_t kNear = 8;
constexpr int64_t kMultipleMax = 2;
// More sizes than programs have.
constexpr size_t kSizesMax = 8;

std::string SizeName(size_t size) { return absl::StrCat("p", size); }

template <typename Function>
void ForEachConstraint(const isl::basic_map& piece, Function function) {
  const auto visit = [](isl_constraint* constraint, void* user) -> isl_stat {
    (*static_cast<Function*>(user))(constraint);
    return isl_stat_ok;
  };
  isl_basic_map_foreach_constraint(piece.get(), visit, &function);
}

unsigned DivisionsOf(const isl::basic_map& piece) {
  return static_cast<unsigned>(isl_basic_map_dim(piece.get(), isl_dim_div));
}

bool HasDivision(isl_constraint* constraint) {
  const isl_size divisions = isl_constraint_dim(constraint, isl_dim_div);
  return isl_constraint_involves_dims(constraint, isl_dim_div, 0,
                                      static_cast<unsigned>(divisions)) ==
         isl_bool_true;
}

}  // namespace

SymbolicSizes::SymbolicSizes(isl::ctx context,
                             const std::vector<isl::map>& maps)
    : context_(context) {
  std::set<int64_t> constants;
  for (const isl::map& map : maps) {
    map.foreach_basic_map([&](const isl::basic_map& piece) {
      ForEachConstraint(piece, [&](isl_constraint* constraint) {
        if (!HasDivision(constraint)) {
          constants.insert(
              std::abs(TakeInteger(isl_constraint_get_constant_val(constraint))
                           .value_or(0)));
        }
        isl_constraint_free(constraint);
      });
    });
  }
  for (const int64_t constant : constants) {
    if (constant <= kSmall || values_.size() == kSizesMax) continue;
    if (FormOf(constant).factor == 0) values_.push_back(constant);
  }
}

SymbolicSizes::Form SymbolicSizes::FormOf(int64_t constant) const {
  const int64_t sign = constant < 0 ? -1 : 1;
  for (size_t s = 0; s < values_.size(); ++s) {
    for (int64_t factor = 1; factor <= kMultipleMax; ++factor) {
      const int64_t rest = constant - sign * factor * values_[s];
      if (std::abs(rest) > kNear) continue;
      return {.size = s, .factor = sign * factor, .rest = rest};
    }
  }
  return {.rest = constant};
}

isl::basic_map SymbolicSizes::PieceOf(const isl::basic_map& piece) const {
  isl_space* space = isl_basic_map_get_space(piece.get());
  for (size_t s = 0; s < values_.size(); ++s) {
    space = isl_space_add_param_id(
        space,
        isl_id_alloc(isl::ctx(context_).get(), SizeName(s).c_str(), nullptr));
  }
  isl_basic_map* out = isl_basic_map_universe(isl_space_copy(space));
  isl_local_space* local = isl_local_space_from_space(space);
  ForEachConstraint(piece, [&](isl_constraint* from) {
    if (HasDivision(from)) {
      isl_constraint_free(from);
      return;
    }
    isl_constraint* to =
        isl_constraint_is_equality(from) == isl_bool_true
            ? isl_constraint_alloc_equality(isl_local_space_copy(local))
            : isl_constraint_alloc_inequality(isl_local_space_copy(local));
    for (const isl_dim_type type : {isl_dim_in, isl_dim_out}) {
      const isl_size count = isl_constraint_dim(from, type);
      for (int d = 0; d < count; ++d) {
        to = isl_constraint_set_coefficient_val(
            to, type, d, isl_constraint_get_coefficient_val(from, type, d));
      }
    }
    isl_val* constant = isl_constraint_get_constant_val(from);
    const auto number = TakeInteger(isl_val_copy(constant));
    to = isl_constraint_set_constant_val(to, constant);
    const Form form = FormOf(number.value_or(0));
    if (form.factor != 0) {
      to = isl_constraint_set_constant_si(to, static_cast<int>(form.rest));
      to = isl_constraint_set_coefficient_si(to, isl_dim_param,
                                             static_cast<int>(form.size),
                                             static_cast<int>(form.factor));
    }
    out = isl_basic_map_add_constraint(out, to);
    isl_constraint_free(from);
  });
  isl_local_space_free(local);
  if (const unsigned divisions = DivisionsOf(piece); divisions > 0) {
    isl_basic_map* divided = isl_basic_map_drop_constraints_not_involving_dims(
        piece.copy(), isl_dim_div, 0, divisions);
    isl_space* params = isl_basic_map_get_space(out);
    out = isl_basic_map_intersect(out,
                                  isl_basic_map_align_params(divided, params));
  }
  return isl::manage(out);
}

isl::map SymbolicSizes::Of(const isl::map& map) const {
  if (IsEmpty()) return map;
  isl::map out = isl::manage(isl_map_empty(isl_map_get_space(map.get())));
  map.foreach_basic_map([&](const isl::basic_map& piece) {
    out = out.unite(isl::map(PieceOf(piece)));
  });
  return out;
}

isl::set SymbolicSizes::Of(const isl::set& set) const {
  return Of(isl::manage(isl_map_from_range(set.copy()))).range();
}

isl::set SymbolicSizes::Context() const {
  std::vector<std::string> names;
  std::vector<std::string> conditions = {"true"};
  for (size_t s = 0; s < values_.size(); ++s) {
    names.push_back(SizeName(s));
    const std::string least = s == 0
                                  ? absl::StrCat(kSmall)
                                  : absl::StrCat(SizeName(s - 1), " + ", kNear);
    conditions.push_back(absl::StrCat(SizeName(s), " > ", least));
  }
  return isl::set(context_,
                  absl::StrCat("[", absl::StrJoin(names, ", "), "] -> { : ",
                               absl::StrJoin(conditions, " and "), " }"));
}

isl::map SymbolicSizes::Numbered(const isl::map& map) const {
  isl_map* out = map.copy();
  for (size_t s = 0; s < values_.size(); ++s) {
    const int at =
        isl_map_find_dim_by_name(out, isl_dim_param, SizeName(s).c_str());
    if (at < 0) continue;
    out = isl_map_fix_val(
        out, isl_dim_param, static_cast<unsigned>(at),
        isl_val_int_from_si(isl::ctx(context_).get(), values_[s]));
    out = isl_map_project_out(out, isl_dim_param, static_cast<unsigned>(at), 1);
  }
  return isl::manage(out);
}

}  // namespace dogged::dsl
