#include "apps/dogged/run/run_warnings.h"

#include <cstdio>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "apps/output/run_text.h"
#include "runtime/base/status.h"

namespace dogged {

absl::Status WarnOfMemory(const RunMemory& memory) {
  DOGGED_ASSIGN_OR_RETURN(const std::string warning, CheckMemory(memory));
  if (!warning.empty()) {
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  }
  return absl::OkStatus();
}

void WarnOfReplicas(int asked, int agents) {
  const std::string warning = ReplicasSentence(asked, agents);
  if (!warning.empty()) {
    std::fprintf(stderr, "warning: %s\n", warning.c_str());
  }
}

void WarnOfPointTasks(const LoadedProgram& program, int64_t tasks, int agents) {
  // Fewer are done in a moment, and blocks are worth their messages.
  constexpr int64_t kManyTasks = 5000;
  constexpr double kPointBytesMax = 64;
  constexpr absl::string_view kPoints = "point by point: ";
  const std::string& how = program.job.lowering;
  const auto results = static_cast<double>(program.job.program.ResultCount());
  if (agents < 2 || tasks < kManyTasks || !absl::StartsWith(how, kPoints) ||
      program.facts.footprint.results > kPointBytesMax * results) {
    return;
  }
  std::fprintf(
      stderr,
      "warning: each point is a task of its own (%s): agents take many "
      "times as long for it as one process, --agents 1\n",
      how.substr(kPoints.size()).c_str());
}

}  // namespace dogged
