#include "apps/dogged/run/sim_runs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "dsl/results.h"
#include "runtime/base/status.h"
#include "runtime/graph/relations.h"
#include "runtime/sim/cluster.h"

namespace dogged {
namespace {

// A fault lasts for ten minutes at most.
constexpr absl::Duration kTimeWithLongFaults = absl::Minutes(15);

// The results that every simulated run must give.
absl::StatusOr<std::map<Label, Digest>> SerialDigests(
    const Job& job, const KernelTable& table) {
  const Relations relations(job.program);
  std::map<Label, Digest> out;
  const auto ended = dsl::RunSerially(
      relations, table, [&out](const Label& label, const Value& value) {
        out[label] = value.digest();
        return absl::OkStatus();
      });
  if (!ended.ok()) {
    return absl::FailedPreconditionError(ended.status().message());
  }
  return out;
}

}  // namespace

std::string SimTotals::ToWords() const {
  return absl::StrFormat(
      "%d seeds, %d failed; %d faults, executed/needed %.3f, at most %d "
      "labels at an agent, %.2f simulated s each, last trace %016x",
      seeds, failed, faults_injected,
      static_cast<double>(tasks_executed) / static_cast<double>(tasks_needed),
      held_labels_max,
      absl::ToDoubleSeconds(elapsed) /
          static_cast<double>(std::max<int64_t>(seeds, 1)),
      trace_digest);
}

nlohmann::ordered_json SimTotals::ToJson(const std::string& program) const {
  return {{"program", program},
          {"seeds", seeds},
          {"failed", failed},
          {"faults_injected", faults_injected},
          {"tasks_needed", tasks_needed},
          {"tasks_executed", tasks_executed},
          {"held_labels_max", held_labels_max},
          {"virtual_seconds", absl::ToDoubleSeconds(elapsed)},
          {"trace_digest", absl::StrFormat("%016x", trace_digest)}};
}

SimRuns::SimRuns(Job job, const KernelSource& kernels, const Options& options)
    : job_(std::move(job)), kernels_(&kernels), options_(options) {
  job_.CutInputs();
  encoded_ = job_.Encode();
}

absl::StatusOr<SimRuns> SimRuns::Make(const Job& job,
                                      const KernelSource& kernels,
                                      const Options& options) {
  DOGGED_ASSIGN_OR_RETURN(const KernelTable table,
                          kernels.Load(job, /*workers=*/1));
  SimRuns out(job, kernels, options);
  DOGGED_ASSIGN_OR_RETURN(out.expected_, SerialDigests(job, table));
  return out;
}

std::string SimRuns::Run(uint64_t seed) {
  SimOptions sim{.agents = options_.agents, .seed = seed, .inputs = &job_};
  sim.job = {.replicas = options_.replicas,
             .search_only = options_.search_only,
             .claims = options_.claims};
  sim.faults = options_.faults;
  if (options_.faults.HasLongFaults()) sim.time_max = kTimeWithLongFaults;
  const SimOutcome outcome = Cluster(sim, encoded_, [this](const Job& job) {
                               return kernels_->Load(job, /*workers=*/1);
                             }).Run();
  ++totals_.seeds;
  totals_.faults_injected += outcome.faults_injected;
  totals_.tasks_needed += outcome.tasks_needed;
  totals_.tasks_executed += outcome.stats.tasks_executed;
  totals_.held_labels_max =
      std::max(totals_.held_labels_max, outcome.held_labels_max);
  totals_.elapsed += outcome.elapsed;
  totals_.trace_digest = outcome.trace_digest;
  if (outcome.status.ok() && outcome.results == expected_) return "";
  ++totals_.failed;
  if (outcome.status.ok()) return "the results differ from the serial run";
  return std::string(outcome.status.message());
}

}  // namespace dogged
