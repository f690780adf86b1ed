#include "apps/dogged/client/cluster_jobs.h"

#include <algorithm>

namespace dogged {

std::map<std::string, JobOverAll> JobsOf(
    const std::vector<StatusReply>& replies) {
  std::map<std::string, JobOverAll> jobs;
  for (const StatusReply& reply : replies) {
    std::set<std::string> counted;
    for (const JobSummary& summary : reply.jobs) {
      const std::string hash = summary.record.hash.ToString();
      JobOverAll& job = jobs[hash];
      JobRecord& record = job.submissions[summary.record.submission];
      if (record.version() <= summary.record.version()) record = summary.record;
      // Submissions of a job share its run.
      if (counted.insert(hash).second) {
        job.stats += summary.stats;
        job.kept_labels += summary.kept_labels;
        job.kept_bytes += summary.kept_bytes;
      }
      job.keep_left_ms = std::max(job.keep_left_ms, summary.keep_left_ms);
      job.results_needed = std::max(job.results_needed, summary.results_needed);
      job.tasks_needed = std::max(job.tasks_needed, summary.tasks_needed);
      job.submission_count =
          std::max(job.submission_count, summary.submissions);
      if (!summary.note.empty()) job.note = summary.note;
      job.troubles.insert(summary.troubles.begin(), summary.troubles.end());
    }
  }
  // Work of agents that left, as others heard of it.
  std::set<AgentId> counted;
  for (const StatusReply& reply : replies) counted.insert(reply.self);
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      if (m.stats.empty() || !counted.insert(m.member.id).second) continue;
      for (const auto& [id, stats] : m.stats) {
        for (auto& [hash, job] : jobs) {
          if (job.submissions.begin()->second.job() == id) job.stats += stats;
        }
      }
    }
  }
  return jobs;
}

const JobRecord& Foremost(const JobOverAll& job) {
  const auto rank = [](const JobRecord& record) {
    switch (record.state) {
      case JobState::kRunning:
        return 0;
      case JobState::kDone:
        return record.is_delivered ? 2 : 1;
      case JobState::kFailed:
        return 3;
      case JobState::kCancelled:
        return 4;
    }
    return 5;
  };
  const auto foremost =
      std::min_element(job.submissions.begin(), job.submissions.end(),
                       [&](const auto& a, const auto& b) {
                         return rank(a.second) < rank(b.second);
                       });
  return foremost->second;
}

}  // namespace dogged
