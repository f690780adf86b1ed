// GivenBy: how users give a program its parameters and inputs, and so how
// messages speak of them. Pure.
#ifndef DOGGED_DSL_TEXT_GIVEN_BY_H_
#define DOGGED_DSL_TEXT_GIVEN_BY_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace dogged::dsl {

enum class GivenBy : uint8_t {
  kFlags,  // of a command
  kCall,   // of a library, in any language
};

// "-D N=5", or "N=5".
inline std::string ParameterWords(GivenBy by, absl::string_view name,
                                  absl::string_view value) {
  return absl::StrCat(by == GivenBy::kFlags ? "-D " : "", name, "=", value);
}

// "--input A=FILE", or "input A".
inline std::string InputWords(GivenBy by, absl::string_view array,
                              absl::string_view file) {
  return by == GivenBy::kFlags ? absl::StrCat("--input ", array, "=", file)
                               : absl::StrCat("input ", array);
}

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_GIVEN_BY_H_
