#include "runtime/agent/records/job_index.h"

#include <algorithm>
#include <climits>
#include <iterator>
#include <tuple>

#include "runtime/base/codec.h"

namespace dogged {

void JobIndex::Count(const std::pair<JobId, SubmissionId>& name,
                     const Submission& submission, int32_t by) {
  Known& known = jobs_[name.first];
  known.delivered += submission.is_delivered ? by : 0;
  if (submission.state == JobState::kDone) {
    known.done += by;
    const std::tuple kept = {name.first, submission.keep_ms, name.second};
    if (by < 0) {
      kept_.erase(kept);
    } else if (!submission.is_delivered && submission.keep_ms > 0) {
      kept_.insert(kept);
    }
  }
  if (submission.state != JobState::kRunning) return;
  known.running += by;
  if (by > 0) {
    running_.insert(name);
  } else {
    running_.erase(name);
  }
}

void JobIndex::Note(const JobRecord& record) {
  const std::pair<JobId, SubmissionId> name = {record.job(), record.submission};
  Known& known = jobs_[name.first];
  over_.erase({known.end_number, name.first});
  NoteNewest(name, record);
  known.hash = record.hash;
  known.round_twice = std::max(
      known.round_twice, 2 * record.round + (record.is_last_round ? 1 : 0));
  known.end_number = std::max(known.end_number, record.end_number);
  last_end_number_ = std::max(last_end_number_, record.end_number);
  if (known.running == 0) over_.insert({known.end_number, name.first});
  const JobOptions& options = record.options;
  if (record.text_hash != 0 && options.agents > 0 && options.workers > 0) {
    sizes_[record.text_hash].insert({options.agents, options.workers});
  }
}

void JobIndex::NoteNewest(const std::pair<JobId, SubmissionId>& name,
                          const JobRecord& record) {
  const auto [it, is_new] = submissions_.try_emplace(name);
  Submission& newest = it->second;
  const uint64_t version = record.version();
  if (!is_new && version < newest.version) return;
  if (is_new) {
    ++jobs_[name.first].submissions;
  } else {
    Count(name, newest, -1);
  }
  newest = {.version = version,
            .state = record.state,
            .is_delivered = record.is_delivered,
            .keep_ms = record.options.keep_ms};
  Count(name, newest, 1);
}

const JobIndex::Known* JobIndex::Find(JobId job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? nullptr : &it->second;
}

std::vector<SubmissionId> JobIndex::RunningOf(JobId job) const {
  std::vector<SubmissionId> out;
  for (auto it = running_.lower_bound({job, SubmissionId()});
       it != running_.end() && it->first == job; ++it) {
    out.push_back(it->second);
  }
  return out;
}

int64_t JobIndex::KeepOf(JobId job) const {
  const auto behind = kept_.lower_bound({job, INT64_MAX, SubmissionId()});
  if (behind == kept_.begin()) return 0;
  const auto& [last, keep_ms, submission] = *std::prev(behind);
  return last == job ? keep_ms : 0;
}

SubmissionId JobIndex::Foremost(JobId job) const {
  const auto rank = [](const Submission& submission) {
    switch (submission.state) {
      case JobState::kDone:
        return submission.is_delivered ? 1 : 0;
      case JobState::kFailed:
        return 2;
      case JobState::kCancelled:
        return 3;
      case JobState::kRunning:
        return 4;
    }
    return 5;
  };
  std::pair<int, SubmissionId> out = {INT_MAX, SubmissionId()};
  for (auto it = submissions_.lower_bound({job, SubmissionId()});
       it != submissions_.end() && it->first.first == job; ++it) {
    out = std::min(out, {rank(it->second), it->first.second});
  }
  return out.second;
}

std::vector<JobId> JobIndex::LastEnded(int64_t count_max) const {
  std::vector<JobId> out;
  for (auto it = over_.rbegin();
       it != over_.rend() && std::ssize(out) < count_max; ++it) {
    out.push_back(it->second);
  }
  return out;
}

std::vector<std::pair<int, int>> JobIndex::SizesOf(uint64_t text_hash) const {
  const auto it = sizes_.find(text_hash);
  if (it == sizes_.end()) return {};
  return {it->second.begin(), it->second.end()};
}

void JobIndex::Keep(JobId job, const JobStats& stats, int64_t tasks_needed,
                    int64_t results_needed) {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return;
  Encoder out;
  stats.Encode(out);
  out.PutSigned(tasks_needed);
  out.PutSigned(results_needed);
  stats.EncodeLater(out);
  std::pmr::string kept = memory_.CopyOf(out.view());
  it->second.kept.swap(kept);
}

void JobIndex::FillIn(JobSummary& summary) const {
  const Known* known = Find(summary.record.job());
  if (known == nullptr || known->kept.empty()) return;
  Decoder in(known->kept);
  summary.stats = JobStats::Decode(in);
  summary.tasks_needed = in.GetSigned();
  summary.results_needed = in.GetSigned();
  summary.stats.DecodeLater(in);
}

}  // namespace dogged
