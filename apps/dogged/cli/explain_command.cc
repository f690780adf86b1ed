#include "apps/dogged/cli/explain_command.h"

#include <cstdio>

#include "absl/strings/str_cat.h"
#include "apps/dogged/process/errors.h"
#include "dsl/text/explain.h"

namespace dogged {

ExitCode ExplainCommand(const std::string& code) {
  const std::string text = dsl::Explain(code);
  if (text.empty()) {
    PrintError(absl::StrCat(code, " is no code; they go from D001 to D029"));
    return ExitCode::kMistyped;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
  return ExitCode::kDone;
}

}  // namespace dogged
