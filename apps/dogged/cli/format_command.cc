#include "apps/dogged/cli/format_command.h"

#include <cstdio>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/text_file.h"
#include "apps/output/file.h"
#include "dsl/text/diagnostics.h"
#include "dsl/text/format.h"

namespace dogged {
namespace {

// Gives one program its form. `had_it`: nothing was to be done.
ExitCode FormatFile(const std::string& path, bool only_check, bool& had_it) {
  const absl::StatusOr<std::string> text = ReadText(path);
  if (!text.ok()) return PrintMistyped(text.status());
  dsl::Diagnostics diagnostics(path, *text);
  const absl::StatusOr<std::string> formatted = dsl::Format(diagnostics);
  NoteDiagnostics(diagnostics);
  if (!formatted.ok()) {
    std::fputs(diagnostics.ToString().c_str(), stderr);
    return ExitCode::kWrong;
  }
  had_it = *formatted == *text;
  if (had_it || only_check) return ExitCode::kDone;
  const absl::Status written =
      WriteWholeFile(path, {absl::string_view(*formatted)});
  return written.ok() ? ExitCode::kDone : PrintMistyped(written);
}

}  // namespace

ExitCode FormatCommand(const FormatOptions& options) {
  ExitCode out = ExitCode::kDone;
  auto seen = nlohmann::ordered_json::array();
  std::vector<std::string> others;
  for (const std::string& path : options.files) {
    bool had_it = false;
    out = FormatFile(path, options.only_check, had_it);
    if (out != ExitCode::kDone) break;
    if (!had_it) others.push_back(path);
    const char* const state = had_it               ? "canonical"
                              : options.only_check ? "other"
                                                   : "changed";
    seen.push_back({{"file", path}, {"state", state}});
    if (!had_it && options.only_check && !options.json) {
      std::printf("%s\n", path.c_str());
    }
  }
  SetAnswer({{"files", std::move(seen)}});
  if (out != ExitCode::kDone || !options.only_check || others.empty()) {
    return out;
  }
  NoteErrorWords(
      absl::StrCat("not in canonical form: ", absl::StrJoin(others, ", "),
                   "; `dogged fmt` without --check writes it"));
  return ExitCode::kFailed;
}

}  // namespace dogged
