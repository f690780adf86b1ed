#include "dsl/isl/set_queries.h"

#include <isl/constraint.h>
#include <isl/set.h>
#include <isl/val.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dogged::dsl {
namespace {

// A C object with the function that frees it.
template <typename T, T* (*Free)(T*)>
struct Deleter {
  void operator()(T* object) const { Free(object); }
};
using Val = std::unique_ptr<isl_val, Deleter<isl_val, isl_val_free>>;

// Whether an inequality has a div, the rest of a division: a guard can't.
bool HasFloors(const isl::set& set) {
  const auto visit = [](isl_constraint* c, void* user) -> isl_stat {
    const bool is_inequality = isl_constraint_is_equality(c) == isl_bool_false;
    for (int e = 0; e < isl_constraint_dim(c, isl_dim_div); ++e) {
      *static_cast<bool*>(user) |=
          is_inequality &&
          isl_constraint_involves_dims(c, isl_dim_div, static_cast<unsigned>(e),
                                       1) == isl_bool_true;
    }
    isl_constraint_free(c);
    return isl_stat_ok;
  };
  bool out = false;
  set.foreach_basic_set([&](const isl::basic_set& piece) {
    isl_basic_set_foreach_constraint(piece.get(), visit, &out);
  });
  return out;
}

// The form of `aff` over `dims` indices, if it has no divisions.
std::optional<AffineExpr> FormOf(const isl::aff& aff, int dims) {
  AffineExpr out;
  bool is_good = isl_aff_dim(aff.get(), isl_dim_div) == 0;
  const auto take = [&is_good](isl_val* value) {
    const auto number = TakeInteger(value);
    is_good = is_good && number.has_value();
    return number.value_or(0);
  };
  for (int d = 0; d < dims; ++d) {
    out.coefficients[d] =
        take(isl_aff_get_coefficient_val(aff.get(), isl_dim_in, d));
  }
  out.constant = take(isl_aff_get_constant_val(aff.get()));
  if (!is_good) return std::nullopt;
  return out;
}

}  // namespace

std::optional<int64_t> TakeInteger(isl_val* value) {
  const Val owned(value);
  if (!owned || isl_val_is_int(owned.get()) != isl_bool_true) {
    return std::nullopt;
  }
  if (isl_val_cmp_si(owned.get(), 1L << 50) > 0 ||
      isl_val_cmp_si(owned.get(), -(1L << 50)) < 0) {
    return std::nullopt;
  }
  return isl_val_get_num_si(owned.get());
}

int Dimensions(const isl::set& set) {
  return static_cast<int>(isl_set_dim(set.get(), isl_dim_set));
}

isl::set WithLast(const isl::set& set, int d) {
  const isl_size rank = isl_set_dim(set.get(), isl_dim_set);
  std::vector<std::string> from;
  std::vector<std::string> to;
  for (int k = 0; k < rank; ++k) {
    from.push_back(absl::StrCat("x", k));
    if (k != d) to.push_back(from.back());
  }
  to.push_back(from[static_cast<size_t>(d)]);
  const isl::map moved(set.ctx(),
                       absl::StrCat("{ [", absl::StrJoin(from, ", "), "] -> [",
                                    absl::StrJoin(to, ", "), "] }"));
  return isl::manage(isl_set_reset_tuple_id(set.copy())).apply(moved);
}

isl::set ShadowOn(const isl::set& set, int d) {
  isl_set* shadow =
      isl_set_project_out(set.copy(), isl_dim_set, static_cast<unsigned>(d + 1),
                          static_cast<unsigned>(Dimensions(set) - d - 1));
  shadow =
      isl_set_project_out(shadow, isl_dim_set, 0, static_cast<unsigned>(d));
  return isl::manage(shadow);
}

bool HasDivs(const isl::set& set) {
  bool out = false;
  set.foreach_basic_set([&out](const isl::basic_set& piece) {
    out = out || isl_basic_set_dim(piece.get(), isl_dim_div) > 0;
  });
  return out;
}

isl::set Coalesced(const isl::set& set) {
  const isl::set out = set.coalesce();
  return !HasFloors(out) && out.is_equal(set) ? out : set;
}

std::optional<int64_t> Least(const isl::set& set, int d) {
  return TakeInteger(isl_set_dim_min_val(set.copy(), d));
}

std::optional<int64_t> Greatest(const isl::set& set, int d) {
  return TakeInteger(isl_set_dim_max_val(set.copy(), d));
}

int64_t Stride(const isl::set& set, int d) {
  const isl::set values = ShadowOn(set, d);
  return std::max<int64_t>(
      1, TakeInteger(isl_set_get_stride(values.get(), 0)).value_or(1));
}

std::optional<int64_t> SharedValue(const isl::set& set, int d) {
  const auto least = Least(set, d);
  return least == Greatest(set, d) ? least : std::nullopt;
}

std::vector<int64_t> FirstPoint(const isl::set& set) {
  const isl::set first = set.lexmin();
  std::vector<int64_t> out;
  for (int d = 0; d < Dimensions(first); ++d) {
    out.push_back(Least(first, d).value_or(0));
  }
  return out;
}

std::optional<std::vector<Piece>> PiecesOf(const isl::map& map) {
  std::vector<Piece> out;
  struct Visit {
    std::vector<Piece>& pieces;
    bool is_good = true;
  } to{out};
  const auto visit = [](isl_set* set, isl_multi_aff* forms,
                        void* user) -> isl_stat {
    auto& found = *static_cast<Visit*>(user);
    Piece piece{.domain = isl::manage(set), .forms = {}};
    const isl::multi_aff all = isl::manage(forms);
    const auto dims =
        static_cast<int>(isl_multi_aff_dim(all.get(), isl_dim_in));
    const auto count =
        static_cast<int>(isl_multi_aff_dim(all.get(), isl_dim_out));
    for (int k = 0; k < count; ++k) {
      const auto form =
          FormOf(isl::manage(isl_multi_aff_get_aff(all.get(), k)), dims);
      found.is_good = found.is_good && form.has_value();
      piece.forms.push_back(form.value_or(AffineExpr()));
    }
    found.pieces.push_back(std::move(piece));
    return isl_stat_ok;
  };
  const isl::pw_multi_aff all =
      isl::manage(isl_pw_multi_aff_from_map(map.copy()));
  isl_pw_multi_aff_foreach_piece(all.get(), visit, &to);
  if (!to.is_good) return std::nullopt;
  return out;
}

}  // namespace dogged::dsl
