// JobRecord: the facts about a submission of a job that every agent knows.
// Records travel with membership gossip as a grow-only set; a later state
// replaces an earlier one. A running record is the root demand for the job's
// results.
#ifndef DOGGED_RUNTIME_AGENT_RECORDS_JOB_RECORD_H_
#define DOGGED_RUNTIME_AGENT_RECORDS_JOB_RECORD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/base/ids.h"
#include "runtime/job/context/job_options.h"
#include "runtime/job/context/job_stats.h"

namespace dogged {

// In the order in which they replace one another.
enum class JobState : uint8_t {
  kRunning = 1,
  kDone = 2,  // results were delivered, or are durable
  kCancelled = 3,
  kFailed = 4,
};

absl::string_view JobStateName(JobState state);

struct JobRecord {
  Digest hash;              // the job's name
  SubmissionId submission;  // cancelling names this
  std::string name;         // of the program, for people
  uint64_t text_hash = 0;   // of the program's text; 0: not told
  JobOptions options;
  JobState state = JobState::kRunning;
  std::string message;  // why it failed
  absl::StatusCode code = absl::StatusCode::kOk;
  Digest result_digest;  // when done
  // The newest round of a loop that is known, and whether it is the last.
  int64_t round = 0;
  bool is_last_round = false;
  // Done, and the client that submitted it has the results.
  bool is_delivered = false;
  // Order of its end: greater than all numbers that the concluding agent knew.
  // 0: not told.
  int64_t end_number = 0;
  std::string more;  // fields of a later version, passed on as they came

  JobId job() const { return JobId(hash.high); }
  // The key of the record in membership gossip. Keys of a job's submissions
  // follow one another, and begin alike.
  std::string Key() const { return KeyOf(hash, submission); }
  static std::string KeyOf(const Digest& hash, SubmissionId submission);
  static std::string KeyPrefix(const Digest& hash);
  // Grows: first with the state, then as results are delivered, then with the
  // round. An agent and a client that end a job at once say other words: an
  // agent that knew the former alone would keep results that nobody wants.
  uint64_t version() const {
    return (static_cast<uint64_t>(state) << 56) +
           (static_cast<uint64_t>(is_delivered) << 55) +
           2 * static_cast<uint64_t>(round) + (is_last_round ? 1 : 0);
  }
  Bytes Encode() const;
  static absl::StatusOr<JobRecord> Decode(absl::string_view bytes);
};

// JobQuery: selects a job, or all running ones and the last ones that ended.
struct JobQuery {
  JobId job;                // of this one alone, if given
  SubmissionId submission;  // and if given, its record for this one alone
  int64_t ended_max = 0;    // else so many jobs that have ended
};

// JobSummary: a job as this agent sees it: a summary for each running
// submission, or one for all of an ended job.
struct JobSummary {
  JobRecord record;
  JobStats stats;            // this agent's own
  int64_t tasks_needed = 0;  // 0 while the job value is not here, if not told
  int64_t results_needed = 0;
  // Submissions of the job, this one included.
  int64_t submissions = 1;
  // Reason for waiting, or, of a job that is over, for which results that were
  // lost are not made again; for people, mostly empty.
  std::string note;
  // Troubles of live agents with it, for people (troubles.h).
  std::vector<std::string> troubles;
  // Labels that this agent holds of a job that is done, their bytes in
  // memory with those of inputs, and how long they stay however often they are
  // fetched.
  int64_t kept_labels = 0;
  int64_t kept_bytes = 0;
  int64_t keep_left_ms = 0;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_RECORDS_JOB_RECORD_H_
