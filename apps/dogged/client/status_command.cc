#include "apps/dogged/client/status_command.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/agent/told_address.h"
#include "apps/dogged/client/cluster_client.h"
#include "apps/dogged/client/cluster_jobs.h"
#include "apps/dogged/client/open_cluster.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/errors.h"
#include "apps/output/run_text.h"

namespace dogged {
namespace {

// Ended jobs that are shown, unless all are wanted.
constexpr int64_t kEndedShown = 20;

// Words of agents that refused this client, by address.
using Refusals = std::map<std::string, std::string>;

// Rows of a table of jobs.
struct JobRows {
  // By hash; first running jobs, then the last ended ones, the last one first.
  std::vector<std::pair<std::string, JobOverAll>> jobs;
  int64_t left_out = 0;
};

JobRows RowsOf(const std::vector<StatusReply>& replies, int64_t ended_max) {
  const std::map<std::string, JobOverAll> jobs = JobsOf(replies);
  JobRows out;
  for (const StatusReply& reply : replies) {
    out.left_out = std::max(out.left_out, reply.jobs_known);
  }
  std::multimap<int64_t, std::string> ended;
  for (const auto& [hash, job] : jobs) {
    const JobRecord& record = Foremost(job);
    if (record.state == JobState::kRunning) {
      out.jobs.emplace_back(hash, job);
    } else {
      ended.emplace(-record.end_number, hash);
    }
  }
  // Agents need not agree on the last ones.
  for (const auto& [order, hash] : ended) {
    if (ended_max-- > 0) out.jobs.emplace_back(hash, jobs.at(hash));
  }
  out.left_out = std::max<int64_t>(0, out.left_out - std::ssize(out.jobs));
  return out;
}

// Share of the tasks that are done. A lower bound until the job is done, for
// the work of lost agents is not in it.
double Share(const JobOverAll& job) {
  if (Foremost(job).state == JobState::kDone) return 1;
  if (job.tasks_needed == 0) return 0;
  return std::min(1.0, static_cast<double>(job.stats.tasks_done) /
                           static_cast<double>(job.tasks_needed));
}

// Results that have enough copies. Homes that left count as long as others
// tell of them.
int64_t ResultsDurable(const JobOverAll& job) {
  return std::min(job.stats.results_durable, job.results_needed);
}

// A job whose results are there is done once they have their copies.
bool WaitsForCopies(const JobOverAll& job) {
  return Foremost(job).state == JobState::kRunning && job.results_needed > 0 &&
         job.stats.results_bound >= job.results_needed &&
         ResultsDurable(job) < job.results_needed;
}

nlohmann::ordered_json LinksJson(
    const StatusReply& reply, const std::map<AgentId, std::string>& addresses) {
  auto out = nlohmann::ordered_json::array();
  for (const LinkStatus& link : reply.links) {
    const auto to = addresses.find(link.to);
    if (to == addresses.end()) continue;
    nlohmann::ordered_json one = {{"to", to->second}};
    if (link.bytes_per_second > 0) {
      one["bytes_per_second"] = link.bytes_per_second;
    }
    if (link.round_trip_seconds >= 0) {
      one["round_trip_seconds"] = link.round_trip_seconds;
    }
    out.push_back(one);
  }
  return out;
}

std::map<AgentId, std::string> AddressesOf(
    const std::vector<StatusReply>& replies) {
  std::map<AgentId, std::string> out;
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      out[m.member.id] = m.member.control_address;
    }
  }
  return out;
}

// Why a member is not as it should be: as others say, or as this client saw.
std::string CauseOf(const MemberStatus& member, const Refusals& refusals) {
  const auto refusal = refusals.find(member.member.control_address);
  if (member.state != "alive" || refusal == refusals.end()) return member.cause;
  return absl::StrCat(member.cause, member.cause.empty() ? "" : "; ",
                      refusal->second);
}

nlohmann::ordered_json StatusJson(const std::vector<StatusReply>& replies,
                                  const Refusals& refusals,
                                  const JobRows& rows) {
  nlohmann::ordered_json out;
  out["agents"] = nlohmann::ordered_json::array();
  std::map<AgentId, const StatusReply*> answered;
  for (const StatusReply& reply : replies) answered[reply.self] = &reply;
  const std::map<AgentId, std::string> addresses = AddressesOf(replies);
  std::set<AgentId> said;
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      if (!said.insert(m.member.id).second) continue;
      const auto it = answered.find(m.member.id);
      nlohmann::ordered_json agent = {
          {"id", m.member.id.ToString()},
          {"address", m.member.control_address},
          {"fabric_address", std::string(FabricAddressOf(m.member))},
          {"host", m.member.host},
          {"topology_id", m.member.topology_id.ToString()},
          {"workers", m.member.workers},
          {"wire",
           {{"oldest", m.member.wire.oldest},
            {"newest", m.member.wire.newest}}},
          {"state", m.state}};
      const std::string cause = CauseOf(m, refusals);
      if (!cause.empty()) agent["cause"] = cause;
      if (it != answered.end()) {
        agent["memory_bytes"] = it->second->memory_bytes;
        agent["refused"] = it->second->refused;
        agent["dropped"] = it->second->dropped;
        agent["links"] = LinksJson(*it->second, addresses);
        agent["keys"] = it->second->keys;
      }
      out["agents"].push_back(agent);
    }
  }
  out["jobs"] = nlohmann::ordered_json::array();
  for (const auto& [hash, job] : rows.jobs) {
    const JobRecord& record = Foremost(job);
    out["jobs"].push_back(
        {{"job", hash},
         {"program", record.name},
         {"state", std::string(JobStateName(record.state))},
         {"message", record.message},
         {"note", job.note},
         {"troubles", job.troubles},
         {"submissions", job.submission_count},
         {"round", record.round + 1},
         {"result_digest", record.result_digest == Digest()
                               ? ""
                               : record.result_digest.ToString()},
         {"progress", Share(job)},
         {"tasks_needed", job.tasks_needed},
         {"tasks_executed", job.stats.tasks_executed},
         {"results_needed", job.results_needed},
         {"results_durable", ResultsDurable(job)},
         {"input_bytes_supplied", job.stats.input_bytes_supplied},
         {"kept_bytes", job.kept_bytes},
         {"keep_left_seconds", static_cast<double>(job.keep_left_ms) / 1000}});
  }
  out["jobs_left_out"] = rows.left_out;
  return out;
}

void PrintJobs(const JobRows& rows) {
  if (rows.jobs.empty() && rows.left_out == 0) return;
  std::printf("%-22s %-18s %-9s %9s  %s\n", "job", "program", "state",
              "progress", "words");
  for (const auto& [hash, job] : rows.jobs) {
    const JobRecord& record = Foremost(job);
    std::printf("%-22s %-18s %-9s %7.0f %%  %s%s%s\n",
                hash.substr(0, 12).c_str(), Printable(record.name).c_str(),
                std::string(JobStateName(record.state)).c_str(),
                std::floor(100 * Share(job)),
                record.round > 0
                    ? absl::StrCat("round ", record.round + 1, " ").c_str()
                    : "",
                Printable(record.message).c_str(), Printable(job.note).c_str());
    if (WaitsForCopies(job)) {
      std::printf("  its results are there; %lld of %lld have their copies\n",
                  static_cast<long long>(ResultsDurable(job)),
                  static_cast<long long>(job.results_needed));
    }
    if (job.keep_left_ms > 0) {
      std::printf(
          "  keeps its results, %s at all agents, for %s\n",
          HumanBytes(job.kept_bytes).c_str(),
          absl::FormatDuration(absl::Ceil(absl::Milliseconds(job.keep_left_ms),
                                          absl::Seconds(1)))
              .c_str());
    }
    for (const std::string& words : job.troubles) {
      std::printf("  %s\n", Printable(words).c_str());
    }
  }
  if (rows.left_out > 0) {
    std::printf("%lld more that ended: --all\n",
                static_cast<long long>(rows.left_out));
  }
}

void PrintDropped(const StatusReply& reply) {
  if (reply.dropped == 0) return;
  for (const MemberStatus& m : reply.members) {
    if (m.member.id != reply.self) continue;
    std::printf("%s has dropped %lld messages, for want of room or a peer\n",
                m.member.control_address.c_str(),
                static_cast<long long>(reply.dropped));
  }
}

// The slowest of the links whose rate is known.
void PrintSlowestLink(const std::vector<StatusReply>& replies) {
  const std::map<AgentId, std::string> addresses = AddressesOf(replies);
  const StatusReply* from = nullptr;
  const LinkStatus* slowest = nullptr;
  for (const StatusReply& reply : replies) {
    for (const LinkStatus& link : reply.links) {
      if (link.bytes_per_second <= 0 || !addresses.contains(link.to)) continue;
      if (slowest == nullptr ||
          link.bytes_per_second < slowest->bytes_per_second) {
        from = &reply;
        slowest = &link;
      }
    }
  }
  if (slowest == nullptr || !addresses.contains(from->self)) return;
  std::printf(
      "slowest link: %s to %s, %.3g MB/s", addresses.at(from->self).c_str(),
      addresses.at(slowest->to).c_str(), slowest->bytes_per_second / 1e6);
  if (slowest->round_trip_seconds >= 0) {
    std::printf(", round trip %.2g ms", 1e3 * slowest->round_trip_seconds);
  }
  std::printf("\n");
}

// Which agents have which keys, while they have several or not the same.
void PrintKeys(const std::vector<StatusReply>& replies) {
  std::map<std::string, std::vector<std::string>> having;
  bool are_several = false;
  for (const StatusReply& reply : replies) {
    are_several = are_several || reply.keys.size() > 1;
    for (const MemberStatus& m : reply.members) {
      if (m.member.id != reply.self) continue;
      having[absl::StrJoin(reply.keys, ", ")].push_back(
          m.member.control_address);
    }
  }
  if (having.size() < 2 && !are_several) return;
  for (const auto& [keys, addresses] : having) {
    std::printf("keys %s (the first is used): %s\n", Printable(keys).c_str(),
                absl::StrJoin(addresses, ", ").c_str());
  }
}

void PrintStatus(const std::vector<StatusReply>& replies,
                 const Refusals& refusals, const JobRows& rows) {
  std::map<AgentId, const StatusReply*> answered;
  for (const StatusReply& reply : replies) answered[reply.self] = &reply;
  std::set<AgentId> said;
  std::printf("%-22s %-10s %-12s %7s %10s  %s\n", "agent", "topology", "host",
              "workers", "memory", "state");
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      if (!said.insert(m.member.id).second) continue;
      const auto it = answered.find(m.member.id);
      const std::string cause = CauseOf(m, refusals);
      const std::string memory =
          it == answered.end()
              ? "-"
              : absl::StrCat(it->second->memory_bytes >> 20, " MB");
      std::printf("%-22s %-10s %-12s %7d %10s  %s%s%s\n",
                  m.member.control_address.c_str(),
                  m.member.topology_id.ToString().c_str(),
                  Printable(m.member.host).c_str(), m.member.workers,
                  memory.c_str(), m.state.c_str(), cause.empty() ? "" : ": ",
                  Printable(cause).c_str());
    }
  }
  for (const StatusReply& reply : replies) PrintDropped(reply);
  PrintSlowestLink(replies);
  PrintKeys(replies);
  PrintJobs(rows);
}

}  // namespace

ExitCode StatusCommand(const ClusterOptions& options,
                       const Environment& environment) {
  const auto opened = OpenCluster(options, environment);
  if (!opened.ok()) return PrintError(opened.status());
  ClusterClient* const client = opened->get();
  const int64_t ended_max = options.all ? INT64_MAX : kEndedShown;
  const auto replies = client->AwaitStatus({.jobs = {.ended_max = ended_max}});
  if (!replies.ok()) return PrintError(replies.status());
  const JobRows rows = RowsOf(*replies, ended_max);
  if (options.json) {
    SetAnswer(StatusJson(*replies, client->refusals(), rows));
  } else {
    PrintStatus(*replies, client->refusals(), rows);
  }
  return ExitCode::kDone;
}

}  // namespace dogged
