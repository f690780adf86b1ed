#include "apps/dogged/client/named_job.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "apps/dogged/client/client_times.h"
#include "apps/output/run_text.h"
#include "routing/control/poller.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// For agents to read their directories.
constexpr absl::Duration kReadingMax = absl::Seconds(10);

std::string ListWords(absl::string_view cluster) {
  if (cluster.empty()) return "the cluster's `status` lists them";
  return absl::StrCat("`dogged status --all --cluster ", cluster,
                      "` lists them");
}

std::string StateWords(const NamedJob& job) {
  const std::string words = job.ToWords();
  return absl::StrCat(words.substr(0, words.size() - 1), ", ",
                      JobStateName(job.record().state), ")");
}

// The jobs whose hashes begin with `prefix`. Agents that read their directories
// still are asked again while there is none.
absl::StatusOr<std::vector<NamedJob>> JobsThatBegin(ClusterClient& client,
                                                    absl::string_view prefix) {
  DOGGED_ASSIGN_OR_RETURN(const std::unique_ptr<Poller> pause,
                          Poller::Create());
  SystemClock clock;
  const absl::Time deadline = clock.Now() + kReadingMax;
  while (true) {
    DOGGED_ASSIGN_OR_RETURN(
        const std::vector<StatusReply> replies,
        client.AwaitStatus({.jobs = {.ended_max = INT64_MAX}}));
    std::vector<NamedJob> found;
    for (auto& [hash, job] : JobsOf(replies)) {
      if (absl::StartsWith(hash, prefix)) {
        found.push_back({.hash = hash, .job = std::move(job)});
      }
    }
    const bool may_come = absl::c_any_of(
        replies, [](const StatusReply& one) { return one.reads_directory; });
    if (!found.empty() || !may_come || clock.Now() >= deadline) return found;
    (void)pause->Wait(kPollInterval);
  }
}

}  // namespace

std::string NamedJob::ToWords() const {
  return absl::StrCat(hash.substr(0, kNameDigits), " (",
                      Printable(record().name), ")");
}

absl::Status CheckDigits(absl::string_view digits, absl::string_view cluster) {
  // Every hash starts with nothing.
  if (digits.empty()) {
    return absl::NotFoundError(absl::StrCat("which job? ", ListWords(cluster)));
  }
  if (!absl::c_all_of(digits, absl::ascii_isxdigit)) {
    return absl::NotFoundError(absl::StrCat(
        "\"", Printable(digits),
        "\" is no job: the first digits of its hash are wanted, of 0 to 9 and "
        "a to f; ",
        ListWords(cluster)));
  }
  return absl::OkStatus();
}

absl::StatusOr<NamedJob> FindNamedJob(ClusterClient& client,
                                      absl::string_view digits,
                                      absl::string_view cluster,
                                      bool prefers_running) {
  constexpr size_t kNamedMax = 8;
  const std::string prefix = absl::AsciiStrToLower(digits);
  DOGGED_RETURN_IF_ERROR(CheckDigits(digits, cluster));
  DOGGED_ASSIGN_OR_RETURN(std::vector<NamedJob> found,
                          JobsThatBegin(client, prefix));
  const auto runs = [](const NamedJob& job) {
    return job.record().state == JobState::kRunning;
  };
  if (prefers_running && absl::c_any_of(found, runs)) {
    std::erase_if(found, [&runs](const NamedJob& job) { return !runs(job); });
  }
  if (found.size() == 1) return std::move(found.front());
  if (found.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no job starts with ", prefix, "; ", ListWords(cluster)));
  }
  std::vector<std::string> words;
  for (const NamedJob& job : found) {
    if (words.size() < kNamedMax) words.push_back(StateWords(job));
  }
  if (found.size() > kNamedMax) words.push_back("and more");
  return absl::NotFoundError(absl::StrCat(
      "\"", prefix, "\" fits ", found.size(),
      " jobs: ", absl::StrJoin(words, ", "), "; give more digits"));
}

std::vector<NamedJob> NamedJobIn(const std::vector<StatusReply>& replies,
                                 const Digest& hash) {
  std::vector<NamedJob> out;
  const std::string name = hash.ToString();
  for (auto& [known, job] : JobsOf(replies)) {
    if (known == name) out.push_back({.hash = name, .job = std::move(job)});
  }
  return out;
}

std::vector<NamedJob> PollNamedJob(ClusterClient& client, const Digest& hash) {
  return NamedJobIn(client.PollStatus({.jobs = {.job = JobIdOf(hash)}}), hash);
}

absl::Status EndOf(const JobRecord& record) {
  switch (record.state) {
    case JobState::kRunning:
    case JobState::kDone:
      return absl::OkStatus();
    case JobState::kCancelled:
      return absl::AbortedError("the job was cancelled");
    case JobState::kFailed:
      break;
  }
  return record.code == absl::StatusCode::kResourceExhausted
             ? absl::ResourceExhaustedError(record.message)
             : absl::AbortedError(record.message);
}

}  // namespace dogged
