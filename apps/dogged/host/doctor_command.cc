#include "apps/dogged/host/doctor_command.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/dogged/host/finding.h"
#include "apps/dogged/host/system_findings.h"
#include "apps/dogged/process/answer.h"

namespace dogged {

ExitCode DoctorCommand(const DoctorOptions& options,
                       const Environment& environment) {
  std::vector<Finding> findings;
  for (const std::string& words : options.bad_variables) {
    findings.push_back({Finding::Level::kError, "environment", words,
                        "no agent starts with it: unset or mend it"});
  }
  for (Finding& one : AgentFindings(options.place, environment)) {
    findings.push_back(std::move(one));
  }
  for (Finding& one : SystemFindings({.directory = environment.directory,
                      .temporary = environment.temporary_folder})) {
    findings.push_back(std::move(one));
  }
  if (options.json) {
    SetAnswer(FindingsJson(findings));
  } else {
    const std::string text = FindingsText(findings);
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  const bool has_error = std::any_of(
      findings.begin(), findings.end(),
      [](const Finding& one) { return one.level == Finding::Level::kError; });
  if (has_error) NoteErrorWords(Verdict(findings));
  return has_error ? ExitCode::kFailed : ExitCode::kDone;
}

}  // namespace dogged
