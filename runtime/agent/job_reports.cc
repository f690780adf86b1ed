#include "runtime/agent/job_reports.h"

#include <tuple>

#include "absl/strings/str_cat.h"
#include "runtime/job/inputs/input_chunks.h"
#include "runtime/job/job_run.h"

namespace dogged {

std::string JobReports::NoteOf(const JobEntry& entry) const {
  if (entry.run != nullptr && entry.troubles.empty() &&
      entry.unservable_since < absl::InfiniteFuture()) {
    return absl::StrCat("no agent here is of its numeric class \"",
                        entry.job->numeric_class,
                        "\"; it fails if none joins within ",
                        absl::FormatDuration(agent_.options.limits.class_wait));
  }
  return entry.inputs == nullptr ? "" : entry.inputs->Note();
}

JobSummary JobReports::Summarize(JobRecord record) const {
  JobSummary out{.record = std::move(record)};
  if (out.record.state == JobState::kDone &&
      journal_.IsWritingEnd(out.record.Key())) {
    out.record.state = JobState::kRunning;
    out.record.result_digest = {};
  }
  const JobIndex& index = records_.index();
  const JobIndex::Known& known = *index.Find(out.record.job());
  out.submissions = known.submissions;
  // However it has come to be known: a loop of the job is one.
  std::tie(out.record.round, out.record.is_last_round) = known.round();
  const JobEntry* const entry = table_.Find(out.record.job());
  if (entry == nullptr || entry->tasks_needed == 0) {
    index.FillIn(out);
  } else {
    out.tasks_needed = entry->tasks_needed;
    out.results_needed = entry->results_needed;
    out.note =
        out.record.state == JobState::kRunning ? NoteOf(*entry) : entry->loss;
    out.troubles =
        WordsOf(entry->troubles, agent_.membership.view()->members());
    // A job that is to begin here again has none yet.
    const bool is_over = out.record.state != JobState::kRunning;
    out.keep_left_ms = absl::ToInt64Milliseconds(entry->keep_left);
    if (out.record.state == JobState::kDone && entry->run != nullptr) {
      out.kept_labels = entry->run->held_count();
      out.kept_bytes =
          entry->run->held_bytes() +
          (entry->inputs == nullptr ? 0 : entry->inputs->held_bytes());
    }
    if (entry->run != nullptr) {
      out.stats = entry->run->stats();
    } else if (is_over) {
      out.stats = entry->stats;
    }
  }
  if (out.record.options.tasks_needed > 0) {
    out.tasks_needed = out.record.options.tasks_needed;
  }
  return out;
}

std::vector<std::pair<JobRecord, Bytes>> JobReports::RunningJobs() const {
  std::vector<std::pair<JobRecord, Bytes>> out;
  for (const auto& [job, entry] : table_) {
    if (entry.encoded.empty()) continue;
    for (JobRecord& record : records_.RunningOf(job)) {
      out.emplace_back(std::move(record), entry.encoded);
    }
  }
  return out;
}

Bytes JobReports::EncodedJob(JobId job) const {
  const JobEntry* const entry = table_.Find(job);
  return entry == nullptr ? Bytes() : entry->encoded;
}

std::vector<StoredJob> JobReports::StoredJobs(uint64_t text_hash) const {
  std::vector<StoredJob> out;
  if (agent_.values == nullptr || text_hash == 0) return out;
  for (const auto& [hash, job] : agent_.values->stored_jobs()) {
    if (job.text_hash == text_hash) out.push_back(job);
  }
  return out;
}

std::vector<JobSummary> JobReports::Jobs(const JobQuery& query) const {
  const JobIndex& index = records_.index();
  std::vector<std::pair<JobId, SubmissionId>> named;
  const auto add_ended = [&](JobId job) {
    named.emplace_back(job, index.Foremost(job));
  };
  if (!query.submission.IsNone()) {
    named.emplace_back(query.job, query.submission);
  } else if (query.job.IsNone()) {
    named.assign(index.running().begin(), index.running().end());
    for (const JobId job : index.LastEnded(query.ended_max)) add_ended(job);
  } else {
    for (const SubmissionId submission : index.RunningOf(query.job)) {
      named.emplace_back(query.job, submission);
    }
    if (named.empty()) add_ended(query.job);
  }
  std::vector<JobSummary> out;
  for (const auto& [job, submission] : named) {
    const JobIndex::Known* known = index.Find(job);
    if (known == nullptr) continue;
    auto record = records_.Find(JobRecord::KeyOf(known->hash, submission));
    if (record.has_value()) out.push_back(Summarize(*std::move(record)));
  }
  return out;
}

}  // namespace dogged
