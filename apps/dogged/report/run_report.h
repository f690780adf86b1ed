// RunReport: outcome and figures of a run, which are written in words and as
// JSON.
#ifndef DOGGED_APPS_DOGGED_REPORT_RUN_REPORT_H_
#define DOGGED_APPS_DOGGED_REPORT_RUN_REPORT_H_

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "apps/dogged/report/outputs.h"
#include "apps/output/run_text.h"
#include "dsl/compile.h"
#include "runtime/agent/loop/control.h"
#include "runtime/base/hash.h"
#include "runtime/graph/program.h"

namespace dogged {

// Who was lost, when and why; the cost is known at the end of a run.
nlohmann::ordered_json LossJson(const Loss& loss);

// Where a loop ended. At its last value nobody asks whether it would go on.
struct LoopEnd {
  std::string parameter;
  int64_t value = 0;
  bool is_last = false;

  nlohmann::ordered_json ToJson() const;
};
// None of a program without a loop; `time`: the parameter in the last round.
std::optional<LoopEnd> LoopEndOf(const Program& program, int64_t time);

struct RunReport {
  std::string job;      // hash, 32 hex digits
  std::string program;  // its name
  double wall_seconds = 0;
  double compute_seconds = 0;
  double fetch_seconds = 0;  // of results, after that
  int64_t tasks_needed = 0;
  int64_t tasks_executed = 0;
  int64_t tasks_duplicated = 0;
  int64_t tasks_recomputed = 0;
  std::vector<int64_t> tasks_per_agent;
  int submissions = 1;  // of this run, see --patience
  int agents_started = 0;
  int agents_joined = 0;
  int agents_left = 0;
  int replicas = 1;
  std::vector<Loss> losses;
  // Addresses of agents that live and did not answer at the end: their work
  // since they last did is not counted.
  std::vector<std::string> agents_unheard;
  std::vector<std::string> troubles;  // of agents
  int64_t messages_sent = 0;
  int64_t bytes_sent = 0;
  int64_t bytes_resent = 0;
  int64_t bytes_moved = 0;
  int64_t publications = 0;
  int64_t publication_messages = 0;
  int64_t publication_bytes = 0;
  int64_t copy_bytes = 0;
  double work_at_risk_seconds = 0;
  int64_t reads_local = 0;
  int64_t reads_remote = 0;
  int64_t bytes_read_local = 0;
  int64_t bytes_read_remote = 0;
  int64_t input_bytes_received = 0;
  int64_t input_bytes_supplied = 0;
  int64_t input_bytes_read = 0;
  int64_t results_lent = 0;
  int64_t peak_rss_bytes = 0;
  Digest result_digest;
  double gflops = 0;  // 0: the kernels declare no flops
  uint64_t seed = 0;
  std::vector<dsl::ProgramFacts::MadeInput> inputs_made;
  int64_t results_not_finite = 0;
  std::optional<LoopEnd> loop;
  std::vector<WrittenOutput> outputs;
  std::vector<std::string> outputs_failed;  // files not written
  std::optional<bool> check_passed;
  std::optional<double> residual;
  std::optional<double> solve_error;
  std::optional<double> condition;  // of the matrix; infinite: singular
  std::string not_judged;  // why a factorisation has no residual; else empty

  nlohmann::ordered_json ToJson() const;
};

// AgentLedger: the last figures of each agent, the dead included. Agents that
// left have the figures that others heard of them.
class AgentLedger {
 public:
  void Note(const StatusReply& reply, JobId job);
  JobStats TotalStats() const;
  // Fills everything that agents know.
  void Fill(RunReport& report) const;
  // Notes the agent at a control address, so that a process has an ID.
  void NoteAddress(AgentId agent, const std::string& address);
  AgentId AgentAt(const std::string& address) const;
  // Shares tasks_recomputed out among the losses, for nothing tells which loss
  // a task was run again for: by the tasks that each lost agent had run. `lost`
  // by position in the losses, which also get tasks_needed.
  void ShareRedone(const std::vector<AgentId>& lost, RunReport& report) const;
  int64_t tasks_done() const { return TotalStats().tasks_done; }

 private:
  struct Agent {
    JobStats stats;
    int64_t messages_sent = 0;
    int64_t bytes_sent = 0;
    int64_t memory_bytes_peak = 0;
  };
  std::map<AgentId, Agent> agents_;
  std::map<std::string, AgentId> by_address_;  // the newest
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_RUN_REPORT_H_
