#include "apps/dogged/process/diagnostics_json.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace dogged {
namespace {

nlohmann::ordered_json OneJson(const dsl::Diagnostics& diagnostics,
                               const dsl::Diagnostic& one) {
  const bool is_error = one.severity == dsl::Severity::kError;
  nlohmann::ordered_json out = {{"severity", is_error ? "error" : "warning"},
                                {"code", dsl::CodeText(one.code)},
                                {"message", one.message}};
  out["file"] = diagnostics.file();
  if (!one.range.IsNone()) {
    const std::string place = diagnostics.PlaceOf(one.range.begin);
    const auto [line, column] = diagnostics.LineAndColumn(one.range.begin);
    out["file"] = std::string(
        absl::StripSuffix(place, absl::StrCat(":", line, ":", column)));
    // Lines of a command line have no numbers.
    if (line > 0) {
      out["line"] = line;
      out["column"] = column;
      out["end_column"] = column + one.range.end - one.range.begin;
    }
  }
  if (!one.note.empty()) out["note"] = one.note;
  if (!one.help.empty()) out["help"] = one.help;
  out["text"] = diagnostics.ToString(one);
  return out;
}

}  // namespace

nlohmann::ordered_json DiagnosticsJson(const dsl::Diagnostics& diagnostics) {
  auto out = nlohmann::ordered_json::array();
  for (const auto wanted : {dsl::Severity::kError, dsl::Severity::kWarning}) {
    for (const dsl::Diagnostic& one : diagnostics.all()) {
      if (one.severity != wanted) continue;
      if (out.size() >= dsl::Diagnostics::kShownMax) return out;
      out.push_back(OneJson(diagnostics, one));
    }
  }
  return out;
}

}  // namespace dogged
