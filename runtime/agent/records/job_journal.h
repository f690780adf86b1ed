// JobJournal: what the directory of this agent holds of jobs beside their
// values: the job value, once, and the newest record of each submission. After
// a restart it says what is there, so that jobs go on without a client
// (JobExchange), and none begins again that has ended: the record of an ended
// job stays when all else of it goes. ADR-38.
//
// Without a directory, or once the disk takes no more, it does nothing.
//
// Used by one thread.
#ifndef DOGGED_RUNTIME_AGENT_RECORDS_JOB_JOURNAL_H_
#define DOGGED_RUNTIME_AGENT_RECORDS_JOB_JOURNAL_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "kvstore/storage/engine.h"
#include "kvstore/storage/record_store.h"
#include "runtime/agent/job_records.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"

namespace dogged {

class JobJournal {
 public:
  // Records of ended submissions that stay, at most: the last ones.
  static constexpr int64_t kEndedMax = 4096;

  // A record of the directory, as it was found there.
  struct Found {
    JobRecord record;
    absl::Duration age;      // since the end of the submission, if it has ended
    bool has_value = false;  // the job value and the job's values are there
  };

  // On the engine of a directory, which outlives this; null: there is none.
  JobJournal(Engine* engine, std::function<absl::Time()> wall_time,
             const JobRecords& records);
  JobJournal(const JobJournal&) = delete;
  JobJournal& operator=(const JobJournal&) = delete;

  // --- what is written
  // The job begins here: its value is to be there after a restart.
  void NoteValue(const Digest& job, const Bytes& encoded);
  // A record of which membership knows. One of a job that has ended counts if
  // the directory has it as running.
  void Note(const JobRecord& record);
  // All but the records of ended submissions goes.
  void Forget(const Digest& job);
  // The job would not go on from here yet.
  bool IsWriting(const Digest& job) const;
  // The submission of this key has ended, and would go on from here still.
  bool IsWritingEnd(const std::string& key) const;

  // --- what was there
  bool has_directory() const { return store_ != nullptr; }
  void Take(const EngineReply& reply);
  // All records that can be read have been found.
  bool HasScanned() const { return has_scanned_; }
  std::vector<Found> TakeFound();
  // The fate of each job that was found is known from now on.
  void SetDecided() { is_decided_ = true; }
  bool IsDecided() const { return is_decided_; }
  // Has the job value read; TakeLoaded() has it later, or no bytes if it is
  // lost.
  void Load(const Digest& job);
  std::vector<std::pair<Digest, Bytes>> TakeLoaded();
  // It may yet be found that the job goes on, or keeps its results: nothing of
  // it is to be erased.
  bool Awaits(const Digest& job) const;

 private:
  // A submission of which a record is on disk, or on its way there.
  struct Submission {
    uint64_t version = 0;
    int64_t end_number = 0;
    int64_t ended_ms = 0;  // by the wall clock; 0: it runs
    bool is_delivered = false;
    bool has_value = false;
    bool is_durable = false;      // some record of it
    bool end_is_durable = false;  // a record of its end
    uint64_t ticket = 0;          // of the put that is on its way; 0: none
    bool writes_end = false;      // that put
    bool is_stale = false;        // another one is to follow
  };
  using Submissions = std::map<std::string, Submission>;

  void Write(const std::string& key, Submission& submission);
  void NoteFound(const RecordStore::Event& event);
  void NoteLoaded(const RecordStore::Event& event);
  void NoteWritten(uint64_t ticket);
  void DropOldest();
  void GiveUp();
  template <typename Visit>
  void ForEachOf(const Digest& job, Visit visit);

  const std::function<absl::Time()> wall_time_;
  const JobRecords& records_;
  std::unique_ptr<RecordStore> store_;  // null: no directory
  Submissions submissions_;             // by the record's key
  // Submissions that have ended.
  std::set<std::pair<int64_t, std::string>> ended_;
  std::map<Digest, uint64_t> values_;  // ticket of the put; 0: it is there
  absl::flat_hash_map<uint64_t, std::string> writing_;  // names, by ticket
  bool has_scanned_ = false;
  bool is_decided_ = false;  // what becomes of what was found
  int64_t unreadable_count_ = 0;
  int64_t other_format_count_ = 0;
  int other_format_ = 0;  // of the last one
  std::vector<Found> found_;
  std::set<Digest> loading_;
  std::vector<std::pair<Digest, Bytes>> loaded_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_RECORDS_JOB_JOURNAL_H_
