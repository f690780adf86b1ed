// `dogged status` and `dogged cancel`.
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "apps/dogged/cluster_client.h"
#include "apps/dogged/commands.h"
#include "apps/dogged/job_source.h"
#include "apps/dogged/report.h"

namespace dogged {
namespace {

// A job over all agents that answered.
struct JobOverAll {
  JobRecord record;
  JobStats stats;
  int64_t tasks_needed = 0;
  std::string note;
};

std::map<std::string, JobOverAll> JobsOf(
    const std::vector<StatusReply>& replies) {
  std::map<std::string, JobOverAll> jobs;
  for (const StatusReply& reply : replies) {
    for (const JobSummary& summary : reply.jobs) {
      JobOverAll& job = jobs[summary.record.Key()];
      if (job.record.version() <= summary.record.version()) {
        job.record = summary.record;
      }
      job.stats += summary.stats;
      job.tasks_needed = std::max(job.tasks_needed, summary.tasks_needed);
      if (!summary.note.empty()) job.note = summary.note;
    }
  }
  return jobs;
}

double Share(const JobOverAll& job) {
  if (job.tasks_needed == 0) return 0;
  return std::min(1.0, static_cast<double>(job.stats.tasks_done) /
                           static_cast<double>(job.tasks_needed));
}

std::string StatusJson(const std::vector<StatusReply>& replies) {
  nlohmann::ordered_json out;
  out["agents"] = nlohmann::ordered_json::array();
  std::map<AgentId, const StatusReply*> answered;
  for (const StatusReply& reply : replies) answered[reply.self] = &reply;
  std::set<AgentId> said;
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      if (!said.insert(m.member.id).second) continue;
      const auto it = answered.find(m.member.id);
      nlohmann::ordered_json agent = {
          {"id", m.member.id.ToString()},
          {"address", m.member.control_address},
          {"host", m.member.host},
          {"topology_id", m.member.topology_id.ToString()},
          {"workers", m.member.workers},
          {"state", m.state}};
      if (!m.cause.empty()) agent["cause"] = m.cause;
      if (it != answered.end()) {
        agent["memory_bytes"] = it->second->memory_bytes;
      }
      out["agents"].push_back(agent);
    }
  }
  out["jobs"] = nlohmann::ordered_json::array();
  for (const auto& [key, job] : JobsOf(replies)) {
    out["jobs"].push_back(
        {{"job", job.record.hash.ToString()},
         {"program", job.record.name},
         {"state", std::string(JobStateName(job.record.state))},
         {"message", job.record.message},
         {"note", job.note},
         {"round", job.record.round + 1},
         {"result_digest", job.record.result_digest == Digest()
                               ? ""
                               : job.record.result_digest.ToString()},
         {"progress", Share(job)},
         {"tasks_needed", job.tasks_needed},
         {"tasks_executed", job.stats.tasks_executed}});
  }
  return out.dump();
}

void PrintStatus(const std::vector<StatusReply>& replies) {
  std::map<AgentId, const StatusReply*> answered;
  for (const StatusReply& reply : replies) answered[reply.self] = &reply;
  std::set<AgentId> said;
  std::printf("%-22s %-10s %-12s %7s %10s  %s\n", "agent", "topology", "host",
              "workers", "memory", "state");
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      if (!said.insert(m.member.id).second) continue;
      const auto it = answered.find(m.member.id);
      const std::string memory =
          it == answered.end()
              ? "-"
              : absl::StrCat(it->second->memory_bytes >> 20, " MB");
      std::printf("%-22s %-10s %-12s %7d %10s  %s%s%s\n",
                  m.member.control_address.c_str(),
                  m.member.topology_id.ToString().c_str(),
                  m.member.host.c_str(), m.member.workers, memory.c_str(),
                  m.state.c_str(), m.cause.empty() ? "" : ": ",
                  m.cause.c_str());
    }
  }
  for (const auto& [key, job] : JobsOf(replies)) {
    std::printf(
        "job %s  %s  %s  %.0f %%  %s\n",
        job.record.hash.ToString().substr(0, 12).c_str(),
        job.record.name.c_str(),
        std::string(JobStateName(job.record.state)).c_str(), 100 * Share(job),
        absl::StrCat(job.record.round > 0
                         ? absl::StrCat("round ", job.record.round + 1, " ")
                         : "",
                     job.record.message, job.note)
            .c_str());
  }
}

ExitCode Tell(const absl::Status& status) {
  std::fprintf(stderr, "error: %s\n", std::string(status.message()).c_str());
  return ExitCodeOf(status);
}

// Errors: kUnavailable if what listens at `address` does not answer.
absl::StatusOr<std::vector<StatusReply>> Poll(ClusterClient& client,
                                              const std::string& address) {
  std::vector<StatusReply> replies = client.PollStatus();
  if (replies.empty()) {
    return absl::UnavailableError(absl::StrCat(
        address,
        " takes the connection and does not answer; is it an agent, "
        "and is it stopped?"));
  }
  return replies;
}

}  // namespace

ExitCode StatusCommand(const ClusterOptions& options) {
  const auto client = ClusterClient::Connect({options.cluster});
  if (!client.ok()) return Tell(client.status());
  const auto replies = Poll(**client, options.cluster);
  if (!replies.ok()) return Tell(replies.status());
  if (options.json) {
    std::printf("%s\n", StatusJson(*replies).c_str());
  } else {
    PrintStatus(*replies);
  }
  return ExitCode::kDone;
}

ExitCode CancelCommand(const ClusterOptions& options) {
  const auto client = ClusterClient::Connect({options.cluster});
  if (!client.ok()) return Tell(client.status());
  const auto replies = Poll(**client, options.cluster);
  if (!replies.ok()) return Tell(replies.status());
  std::vector<JobRecord> named;
  for (const auto& [key, job] : JobsOf(*replies)) {
    if (!absl::StartsWith(job.record.hash.ToString(), options.job)) continue;
    if (job.record.state != JobState::kRunning) continue;
    if (!named.empty() && named.front().hash != job.record.hash) {
      std::fprintf(stderr,
                   "error: more than one running job starts with \"%s\"; give "
                   "more digits\n",
                   options.job.c_str());
      return ExitCode::kMistyped;
    }
    named.push_back(job.record);
  }
  int cancelled = 0;
  for (JobRecord record : named) {
    record.state = JobState::kCancelled;
    if (!(*client)->Conclude(record).ok()) continue;
    ++cancelled;
    std::printf("cancelled %s (%s)\n", record.hash.ToString().c_str(),
                record.name.c_str());
  }
  if (cancelled > 0) return ExitCode::kDone;
  std::fprintf(stderr,
               "error: no running job starts with %s; `dogged status "
               "--cluster %s` lists them\n",
               options.job.c_str(), options.cluster.c_str());
  return ExitCode::kMistyped;
}

}  // namespace dogged
