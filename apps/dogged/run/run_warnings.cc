#include "apps/dogged/run/run_warnings.h"

#include <cstdio>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "apps/dogged/report/point_cost.h"
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

void WarnOfPointTasks(const LoadedProgram& program, int64_t tasks, int agents,
                      int workers) {
  // Fewer are done in a moment, and blocks are worth their messages.
  constexpr int64_t kManyTasks = 5000;
  constexpr double kPointBytesMax = 64;
  constexpr absl::Duration kLong = absl::Seconds(5);
  constexpr absl::string_view kPoints = "point by point: ";
  const std::string& how = program.job.lowering;
  if (absl::StartsWith(how, dsl::kLoopNest)) {
    std::fprintf(stderr, "%s\n", how.substr(0, how.find('\n')).c_str());
    return;
  }
  const auto results = static_cast<double>(program.job.program.ResultCount());
  if (tasks < kManyTasks || !absl::StartsWith(how, kPoints) ||
      program.facts.footprint.results > kPointBytesMax * results) {
    return;
  }
  const auto cost = PointCostOf(program.job.program, workers);
  const bool is_long = cost.has_value() && cost->in_one_process >= kLong;
  if (agents < 2 && !is_long) return;
  std::fprintf(stderr, "warning: each point is a task of its own");
  if (!program.facts.is_warned_of_points) {
    std::fprintf(stderr, " (%s)", how.substr(kPoints.size()).c_str());
  }
  if (agents > 1) {
    std::fprintf(stderr,
                 ": agents take many times as long for it as one process, "
                 "--agents 1");
  }
  if (is_long) {
    const dsl::Footprint& footprint = program.facts.footprint;
    const double beside =
        agents > 1 ? footprint.beside_on_agents : footprint.beside;
    std::fprintf(stderr, "; %s, and %s beside the values",
                 PointCostText(*cost).c_str(),
                 HumanBytes(static_cast<int64_t>(beside)).c_str());
  }
  std::fprintf(stderr, "\n");
}

}  // namespace dogged
