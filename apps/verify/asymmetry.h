// What a Cholesky factorisation does not read of a matrix.
#ifndef DOGGED_APPS_VERIFY_ASYMMETRY_H_
#define DOGGED_APPS_VERIFY_ASYMMETRY_H_

#include <string>

#include "absl/strings/string_view.h"
#include "runtime/base/value.h"

namespace dogged {

// "A above its diagonal, where A(0)(5) = 1 and A(5)(0) = 4" if `a`, of that
// name, is a square matrix of floats or doubles that is not symmetric, by more
// than rounding. Empty for all else, and if it holds nothing but zeros there.
std::string AsymmetryOf(absl::string_view name, const Value& a);

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_ASYMMETRY_H_
