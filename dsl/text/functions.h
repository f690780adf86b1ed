// The functions of the language, sqrt, min and so on, in a table that the
// checker, the interpreter and the C generator share.
#ifndef DOGGED_DSL_TEXT_FUNCTIONS_H_
#define DOGGED_DSL_TEXT_FUNCTIONS_H_

#include <cmath>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/strings/string_view.h"

namespace dogged::dsl {

struct Function {
  // The name in the language; also that of the C function for double (with an
  // f behind it for float), except for min, max and abs.
  absl::string_view name;
  int argument_count;
  // True for min, max and abs: of int64 they give int64; of all other types,
  // the common one. False: integers are converted to double first.
  bool keeps_integers;
};

// Null if there is none.
const Function* FindFunction(absl::string_view name);
std::vector<std::string> FunctionNames();

// max and min, as all that compute do them; of real numbers they are the
// maximum and minimum of IEEE 754-2019: NaN if one of them is, and -0 is less
// than 0. Without branches, for loops over many.
template <typename T>
T MaxOf(T a, T b) {
  const T larger = a < b ? b : a;
  if constexpr (std::is_floating_point_v<T>) {
    const T sum = a + b;
    const T out = a == b ? std::copysign(a, sum) : larger;
    return (a != a) | (b != b) ? sum : out;
  } else {
    return larger;
  }
}
template <typename T>
T MinOf(T a, T b) {
  const T smaller = b < a ? b : a;
  if constexpr (std::is_floating_point_v<T>) {
    const T sum = -(-a - b);
    const T out = a == b ? std::copysign(a, sum) : smaller;
    return (a != a) | (b != b) ? sum : out;
  } else {
    return smaller;
  }
}

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_FUNCTIONS_H_
