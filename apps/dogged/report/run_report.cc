#include "apps/dogged/report/run_report.h"

#include <algorithm>
#include <utility>

#include "apps/dogged/report/outputs_json.h"

namespace dogged {

nlohmann::ordered_json LossJson(const Loss& loss) {
  return {{"who", loss.who},
          {"when", absl::ToDoubleSeconds(loss.after)},
          {"cause", loss.cause}};
}

nlohmann::ordered_json LoopEnd::ToJson() const {
  return {{"parameter", parameter}, {"value", value}, {"is_last", is_last}};
}

std::optional<LoopEnd> LoopEndOf(const Program& program, int64_t time) {
  const auto& repeat = program.repeat;
  if (!repeat.has_value()) return std::nullopt;
  return LoopEnd{.parameter = repeat->parameter,
                 .value = time,
                 .is_last = time == repeat->last};
}

nlohmann::ordered_json RunReport::ToJson() const {
  nlohmann::ordered_json out;
  out["job"] = job;
  out["program"] = program;
  out["wall_seconds"] = wall_seconds;
  out["compute_seconds"] = compute_seconds;
  out["fetch_seconds"] = fetch_seconds;
  out["tasks_needed"] = tasks_needed;
  out["tasks_executed"] = tasks_executed;
  out["tasks_duplicated"] = tasks_duplicated;
  out["tasks_recomputed"] = tasks_recomputed;
  out["tasks_per_agent"] = tasks_per_agent;
  out["submissions"] = submissions;
  out["agents_started"] = agents_started;
  out["agents_joined"] = agents_joined;
  out["agents_left"] = agents_left;
  out["agents_lost"] = losses.size();
  out["replicas"] = replicas;
  out["losses"] = nlohmann::ordered_json::array();
  for (const Loss& loss : losses) {
    auto one = LossJson(loss);
    one["redone"] = loss.redone;
    out["losses"].push_back(std::move(one));
  }
  if (!agents_unheard.empty()) out["agents_unheard"] = agents_unheard;
  if (!troubles.empty()) out["troubles"] = troubles;
  out["messages_sent"] = messages_sent;
  out["bytes_sent"] = bytes_sent;
  out["bytes_resent"] = bytes_resent;
  out["bytes_moved"] = bytes_moved;
  out["publications"] = publications;
  out["publication_messages"] = publication_messages;
  out["publication_bytes"] = publication_bytes;
  out["copy_bytes"] = copy_bytes;
  out["work_at_risk_seconds"] = work_at_risk_seconds;
  out["reads_local"] = reads_local;
  out["reads_remote"] = reads_remote;
  out["bytes_read_local"] = bytes_read_local;
  out["bytes_read_remote"] = bytes_read_remote;
  out["input_bytes_received"] = input_bytes_received;
  out["input_bytes_supplied"] = input_bytes_supplied;
  out["input_bytes_read"] = input_bytes_read;
  out["results_lent"] = results_lent;
  out["peak_rss_bytes"] = peak_rss_bytes;
  out["result_digest"] =
      result_digest == Digest() ? "" : result_digest.ToString();
  if (gflops > 0) out["gflops"] = gflops;
  if (loop.has_value()) out["loop"] = loop->ToJson();
  out["seed"] = seed;
  out["inputs_made"] = nlohmann::ordered_json::object();
  for (const auto& made : inputs_made) {
    out["inputs_made"][made.array] = made.kernel;
  }
  out["results_not_finite"] = results_not_finite;
  out["outputs"] = OutputsJson(outputs);
  if (!outputs_failed.empty()) out["outputs_failed"] = outputs_failed;
  if (check_passed.has_value()) out["check_passed"] = *check_passed;
  if (residual.has_value()) out["residual"] = *residual;
  if (solve_error.has_value()) out["solve_error"] = *solve_error;
  if (condition.has_value()) out["condition"] = *condition;
  if (!not_judged.empty()) out["not_judged"] = not_judged;
  return out;
}

void AgentLedger::Note(const StatusReply& reply, JobId job) {
  Agent& agent = agents_[reply.self];
  agent.messages_sent = reply.messages_sent;
  agent.bytes_sent = reply.bytes_sent;
  agent.memory_bytes_peak = reply.memory_bytes_peak;
  for (const JobSummary& summary : reply.jobs) {
    if (summary.record.job() == job) agent.stats = summary.stats;
  }
  for (const MemberStatus& member : reply.members) {
    for (const auto& [known, stats] : member.stats) {
      if (known != job) continue;
      JobStats& last = agents_[member.member.id].stats;
      if (stats.messages_sent >= last.messages_sent) last = stats;
    }
  }
}

JobStats AgentLedger::TotalStats() const {
  JobStats total;
  for (const auto& [id, agent] : agents_) total += agent.stats;
  return total;
}

void AgentLedger::Fill(RunReport& report) const {
  const JobStats total = TotalStats();
  report.tasks_executed = total.tasks_executed;
  report.tasks_duplicated = total.tasks_duplicated;
  report.tasks_recomputed = std::max<int64_t>(
      0, total.tasks_executed - report.tasks_needed - total.tasks_duplicated);
  report.bytes_resent = total.bytes_resent;
  report.bytes_moved = total.bytes_moved;
  report.publications = total.publications;
  report.publication_messages = total.publication_messages;
  report.publication_bytes = total.publication_bytes;
  report.copy_bytes = total.copy_bytes;
  report.work_at_risk_seconds = 1e-3 * static_cast<double>(total.at_risk_ms);
  report.reads_local = total.reads_local;
  report.reads_remote = total.reads_remote;
  report.bytes_read_local = total.bytes_read_local;
  report.bytes_read_remote = total.bytes_read_remote;
  report.input_bytes_received = total.input_bytes_received;
  report.input_bytes_supplied = total.input_bytes_supplied;
  report.input_bytes_read = total.input_bytes_read;
  if (report.compute_seconds > 0) {
    report.gflops = total.flops / report.compute_seconds / 1e9;
  }
  for (const auto& [id, agent] : agents_) {
    report.tasks_per_agent.push_back(agent.stats.tasks_executed);
    report.messages_sent += agent.messages_sent;
    report.bytes_sent += agent.bytes_sent;
    report.peak_rss_bytes =
        std::max(report.peak_rss_bytes, agent.memory_bytes_peak);
  }
}

void AgentLedger::NoteAddress(AgentId agent, const std::string& address) {
  by_address_[address] = agent;
}

AgentId AgentLedger::AgentAt(const std::string& address) const {
  const auto it = by_address_.find(address);
  return it == by_address_.end() ? AgentId() : it->second;
}

void AgentLedger::ShareRedone(const std::vector<AgentId>& lost,
                              RunReport& report) const {
  int64_t all = 0;
  std::vector<int64_t> upto = {0};  // tasks run by the lost up to each
  for (const AgentId id : lost) {
    const auto it = agents_.find(id);
    // An agent never heard of counts as a task, so that sums stay whole.
    all += std::max<int64_t>(
        1, it == agents_.end() ? 0 : it->second.stats.tasks_executed);
    upto.push_back(all);
  }
  const auto part = [&](size_t i) {
    return static_cast<int64_t>(static_cast<double>(report.tasks_recomputed) *
                                static_cast<double>(upto[i]) /
                                static_cast<double>(all));
  };
  for (size_t i = 0; i < report.losses.size() && i < lost.size(); ++i) {
    report.losses[i].redone = part(i + 1) - part(i);
    report.losses[i].needed = report.tasks_needed;
  }
}

}  // namespace dogged
