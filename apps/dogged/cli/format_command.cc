#include "apps/dogged/cli/format_command.h"

#include <cstdio>

#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/text_file.h"
#include "apps/output/file.h"
#include "dsl/text/diagnostics.h"
#include "dsl/text/format.h"

namespace dogged {
ExitCode FormatCommand(const std::vector<std::string>& files, bool only_check) {
  ExitCode out = ExitCode::kDone;
  for (const std::string& path : files) {
    absl::StatusOr<std::string> text = ReadText(path);
    if (!text.ok()) return PrintMistyped(text.status());
    dsl::Diagnostics diagnostics(path, *text);
    const absl::StatusOr<std::string> formatted = dsl::Format(diagnostics);
    if (!formatted.ok()) {
      std::fputs(diagnostics.ToString().c_str(), stderr);
      return ExitCode::kWrong;
    }
    if (*formatted == *text) continue;
    if (only_check) {
      std::printf("%s\n", path.c_str());
      out = ExitCode::kFailed;
      continue;
    }
    const absl::Status written =
        WriteWholeFile(path, {absl::string_view(*formatted)});
    if (!written.ok()) return PrintMistyped(written);
  }
  return out;
}

}  // namespace dogged
