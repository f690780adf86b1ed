#include "apps/dogged/host/finding.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "apps/output/run_text.h"

namespace dogged {
namespace {

int64_t CountOf(const std::vector<Finding>& findings, Finding::Level level) {
  return std::count_if(
      findings.begin(), findings.end(),
      [level](const Finding& one) { return one.level == level; });
}

}  // namespace

std::string LevelText(Finding::Level level) {
  switch (level) {
    case Finding::Level::kOk:
      return "ok";
    case Finding::Level::kWarning:
      return "warning";
    case Finding::Level::kError:
      return "error";
  }
  return "";
}

std::string Verdict(const std::vector<Finding>& findings) {
  std::vector<std::string> subjects;
  for (const Finding& one : findings) {
    if (one.level != Finding::Level::kOk) subjects.push_back(one.subject);
  }
  if (subjects.empty()) return "all is well";
  return absl::StrCat(
      CountOf(findings, Finding::Level::kError) > 0 ? "agents can't run here; "
                                                    : "agents can run here; ",
      subjects.size(), subjects.size() == 1 ? " thing" : " things",
      " to mend: ", absl::StrJoin(subjects, ", "));
}

std::string FindingsText(const std::vector<Finding>& findings) {
  size_t width = 0;
  for (const Finding& one : findings) {
    width = std::max(width, one.subject.size());
  }
  std::string out;
  for (const Finding& one : findings) {
    absl::StrAppendFormat(&out, "%-8s %-*s  %s\n", LevelText(one.level), width,
                          Printable(one.subject), Printable(one.words));
    if (!one.way_out.empty()) {
      absl::StrAppendFormat(&out, "%*s  %s\n", 9 + width, "",
                            Printable(one.way_out));
    }
  }
  absl::StrAppend(&out, Verdict(findings), "\n");
  return out;
}

nlohmann::ordered_json FindingsJson(const std::vector<Finding>& findings) {
  auto list = nlohmann::ordered_json::array();
  for (const Finding& one : findings) {
    list.push_back({{"level", LevelText(one.level)},
                    {"subject", one.subject},
                    {"words", one.words},
                    {"way_out", one.way_out}});
  }
  return {{"findings", list},
          {"warnings", CountOf(findings, Finding::Level::kWarning)},
          {"errors", CountOf(findings, Finding::Level::kError)},
          {"verdict", Verdict(findings)}};
}

}  // namespace dogged
