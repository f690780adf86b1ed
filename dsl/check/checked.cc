#include "dsl/check/checked.h"

#include <cmath>

#include "runtime/base/check.h"

namespace dogged::dsl {

int32_t CheckedProgram::FindArray(absl::string_view name) const {
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (arrays[i].name == name) return static_cast<int32_t>(i);
  }
  return -1;
}

AffineExpr Instantiate(const LinearForm& form, const CheckedProgram& program) {
  AffineExpr out;
  DOGGED_CHECK(form.dims.size() <= out.coefficients.size());
  for (size_t d = 0; d < form.dims.size(); ++d) {
    out.coefficients[d] = form.dims[d];
  }
  int64_t constant = form.constant;
  for (size_t p = 0; p < form.params.size(); ++p) {
    int64_t product = 0;
    const bool overflow =
        __builtin_mul_overflow(form.params[p], program.parameters[p].integer,
                               &product) ||
        __builtin_add_overflow(constant, product, &constant);
    DOGGED_CHECK(!overflow) << "index out of range";
  }
  out.constant = constant;
  return out;
}

AffineMap Instantiate(const CheckedRef& ref, const CheckedProgram& program) {
  AffineMap out;
  for (const LinearForm& form : ref.index) {
    out.push_back(Instantiate(form, program));
  }
  return out;
}

Guard Instantiate(const CheckedGuard& guard, const CheckedProgram& program) {
  Guard out;
  for (const auto& alternative : guard.any_of) {
    std::vector<Constraint> constraints;
    for (const CheckedConstraint& c : alternative) {
      constraints.push_back({.expr = Instantiate(c.form, program),
                             .kind = c.kind,
                             .modulus = c.modulus});
    }
    out.any_of.push_back(std::move(constraints));
  }
  return out;
}

Domain Instantiate(const CheckedDomain& domain, const CheckedProgram& program) {
  const auto bounds = [&program](const std::vector<CheckedBound>& from) {
    std::vector<AffineBound> out;
    for (const CheckedBound& bound : from) {
      out.push_back(
          {.expr = Instantiate(bound.form, program), .divisor = bound.divisor});
    }
    return out;
  };
  Domain out;
  for (const CheckedDimension& dimension : domain.dimensions) {
    out.dimensions.push_back({.name = dimension.name,
                              .lower = bounds(dimension.lower),
                              .upper = bounds(dimension.upper)});
  }
  out.guard = Instantiate(domain.guard, program);
  return out;
}

}  // namespace dogged::dsl
