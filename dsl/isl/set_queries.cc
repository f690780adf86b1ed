#include "dsl/isl/set_queries.h"

#include <isl/constraint.h>
#include <isl/set.h>
#include <isl/val.h>

#include <algorithm>
#include <memory>

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

}  // namespace dogged::dsl
