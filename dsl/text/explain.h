// Explain: what a code such as D012 means, in more words than a message has.
#ifndef DOGGED_DSL_TEXT_EXPLAIN_H_
#define DOGGED_DSL_TEXT_EXPLAIN_H_

#include <string>

#include "absl/strings/string_view.h"

namespace dogged::dsl {

// Some lines on `code`, in upper or lower case; empty if there is no such one.
std::string Explain(absl::string_view code);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_EXPLAIN_H_
