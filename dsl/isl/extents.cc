#include "dsl/isl/extents.h"

#include <isl/set.h>
#include <isl/val.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {

// With numbers for parameters, which a set without points does not have.
void FillInExtents(Proof& proof) {
  for (size_t a = 0; a < proof.program.arrays.size(); ++a) {
    CheckedArray& array = proof.program.arrays[a];
    isl_set* labels =
        isl_set_union(proof.KnownLabels(static_cast<int32_t>(a)).release(),
                      proof.wanted[a].copy());
    if (const auto& declared = proof.sets.Declared(static_cast<int32_t>(a))) {
      labels = isl_set_union(labels, declared->copy());
    }
    const int params = static_cast<int>(isl_set_dim(labels, isl_dim_param));
    for (int p = 0; p < params; ++p) {
      const char* name =
          isl_set_get_dim_name(labels, isl_dim_param, static_cast<unsigned>(p));
      const auto& parameter = proof.program.parameters[std::atoi(name + 1)];
      labels = isl_set_fix_val(
          labels, isl_dim_param, static_cast<unsigned>(p),
          isl_val_int_from_si(isl_set_get_ctx(labels), parameter.integer));
    }
    const isl::set known = isl::manage(labels);
    if (known.is_empty()) continue;
    for (int d = 0; d < array.rank; ++d) {
      const auto lower = Least(known, d);
      const auto upper = Greatest(known, d);
      if (!lower || !upper) {
        if (proof.Fails()) {
          proof.diagnostics.Error(
              Code::kTooLarge, array.range,
              absl::StrCat("the indices of ", array.name,
                           " go beyond 2^50, or have no end"));
        }
        return;
      }
      array.lower.push_back(*lower);
      array.upper.push_back(*upper);
    }
  }
}

}  // namespace dogged::dsl
