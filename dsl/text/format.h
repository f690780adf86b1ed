// Format: a program's text in its one canonical form. Declarations stay in
// their order and comments at their place; only blanks, line breaks and
// needless brackets change.
#ifndef DOGGED_DSL_TEXT_FORMAT_H_
#define DOGGED_DSL_TEXT_FORMAT_H_

#include <string>

#include "absl/status/statusor.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// The text of `diagnostics` formatted; formatting that again changes nothing.
// With errors in `diagnostics` afterwards the status is kInvalidArgument.
// Included files are not followed.
absl::StatusOr<std::string> Format(Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_FORMAT_H_
