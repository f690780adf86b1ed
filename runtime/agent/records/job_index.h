// JobIndex: a summary of all records of each job, updated as records come; the
// records themselves are membership's. Only this stays of a job that is over.
//
// A data structure. Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_RECORDS_JOB_INDEX_H_
#define DOGGED_RUNTIME_AGENT_RECORDS_JOB_INDEX_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/base/hash.h"
#include "runtime/base/ids.h"
#include "runtime/base/small_blocks.h"

namespace dogged {

class JobIndex {
 public:
  // Over all submissions of a job.
  struct Known {
    using allocator_type = std::pmr::polymorphic_allocator<char>;

    explicit Known(const allocator_type& memory) : kept(memory) {}

    Digest hash;
    int32_t running = 0;
    int32_t done = 0;
    int32_t delivered = 0;
    // All clients of submissions that are done have their results.
    bool IsDelivered() const { return delivered > 0 && delivered == done; }
    int32_t submissions = 0;
    int64_t end_number = 0;  // the greatest
    // The newest round of a loop that is known, twice, and 1 if it is the last.
    int64_t round_twice = 0;
    std::pair<int64_t, bool> round() const {
      return {round_twice / 2, round_twice % 2 == 1};
    }
    // Stats of this agent for a job that it has forgotten; see Keep().
    std::pmr::string kept;
  };

  // The newest record of each submission counts, in whatever order they come.
  void Note(const JobRecord& record);
  // Null if no record names it.
  const Known* Find(JobId job) const;
  bool IsRunning(JobId job) const {
    const Known* known = Find(job);
    return known != nullptr && known->running > 0;
  }
  // Submissions that run: of all jobs, and of one.
  const std::set<std::pair<JobId, SubmissionId>>& running() const {
    return running_;
  }
  std::vector<SubmissionId> RunningOf(JobId job) const;
  // How long after its end results of a job stay: the longest time that one of
  // its submissions asks for which is done, and whose results are not
  // delivered, or forgotten. 0: none asks.
  int64_t KeepOf(JobId job) const;
  // A submission of an ended job: one that is done, if possible one whose
  // results are not delivered, else one that failed.
  SubmissionId Foremost(JobId job) const;
  // Jobs of which no submission runs, the last one first.
  std::vector<JobId> LastEnded(int64_t count_max) const;
  int64_t last_end_number() const { return last_end_number_; }
  int64_t job_count() const { return std::ssize(jobs_); }
  // Sizes that tiles of jobs of a text were cut for: agents, workers of each.
  std::vector<std::pair<int, int>> SizesOf(uint64_t text_hash) const;

  // Counts of a job that is known, for FillIn(), in a few bytes.
  void Keep(JobId job, const JobStats& stats, int64_t tasks_needed,
            int64_t results_needed);
  // It has: this agent had a part in the job, and has forgotten it.
  bool HasKept(JobId job) const {
    const Known* known = Find(job);
    return known != nullptr && !known->kept.empty();
  }
  // Fills in kept counts.
  void FillIn(JobSummary& summary) const;

 private:
  struct Submission {
    uint64_t version;
    JobState state;
    bool is_delivered;
    int64_t keep_ms;
  };
  void NoteNewest(const std::pair<JobId, SubmissionId>& name,
                  const JobRecord& record);
  void Count(const std::pair<JobId, SubmissionId>& name,
             const Submission& submission, int32_t by);

  template <typename T>
  using Memory = std::pmr::polymorphic_allocator<T>;
  using Name = std::pair<JobId, SubmissionId>;
  using End = std::pair<int64_t, JobId>;  // by number

  SmallBlocks memory_;  // for what stays
  std::pmr::map<JobId, Known> jobs_{&memory_};
  absl::btree_map<Name, Submission, std::less<Name>,
                  Memory<std::pair<const Name, Submission>>>
      submissions_{&memory_};
  absl::btree_set<End, std::less<End>, Memory<End>> over_{&memory_};
  std::set<Name> running_;
  // Submissions that are done, keep results, and were not delivered.
  std::set<std::tuple<JobId, int64_t, SubmissionId>> kept_;
  int64_t last_end_number_ = 0;
  std::map<uint64_t, std::set<std::pair<int, int>>> sizes_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_RECORDS_JOB_INDEX_H_
