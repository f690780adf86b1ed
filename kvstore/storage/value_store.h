// ValueStore: values by job and label, on the engine of this agent. A value
// from disk equals the value written, or counts as lost: every record carries a
// digest of all of it, its name included.
//
// A machine over the Engine port: never waits. Used by one thread.
#ifndef DOGGED_KVSTORE_STORAGE_VALUE_STORE_H_
#define DOGGED_KVSTORE_STORAGE_VALUE_STORE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "kvstore/storage/engine.h"
#include "runtime/base/hash.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

// A job of which values may be there, and the sizes that its tiles were cut
// for.
struct StoredJob {
  static constexpr int kTargetMax = 1024;  // agents, and workers of each
  Digest hash;
  uint64_t text_hash = 0;  // of the program's text; 0: not told
  int agents = 0;
  int workers = 0;  // of each
};

class ValueStore {
 public:
  struct Event {
    enum class Kind : uint8_t {
      kWritten,  // the value outlives this process
      kLoaded,   // here it is
      kLost,     // it can't be read, or differs from the value written
      kFound,    // of a scan: this is there
      kScanned,  // of a scan: that was all
      kFailed,   // the disk takes no more
    };
    Kind kind = Kind::kWritten;
    uint64_t ticket = 0;  // of kWritten: the result of Write()
    Digest job;
    Label label;
    Value value;          // of kLoaded, kFound
    absl::Status status;  // of kFailed
  };

  // The engine outlives the store.
  explicit ValueStore(Engine& engine) : engine_(engine) {}
  ValueStore(const ValueStore&) = delete;
  ValueStore& operator=(const ValueStore&) = delete;

  // Returns the ticket of its kWritten.
  uint64_t Write(const Digest& job, const Label& label, const Value& value);
  void Load(const Digest& job, const Label& label);
  void Erase(const Digest& job, const Label& label);
  // All that is there of a job: kFound for each value, then kScanned.
  void Scan(const Digest& job);
  // Does nothing where nothing of the job can be there: an erasure has its
  // cost, and agents hear of the end of a job again and again.
  void EraseJob(const Digest& job);
  // Notes that values of a job are going to be there, on disk too.
  void NoteJob(const StoredJob& job);
  // Reads which those are; they are in stored_jobs() a little later.
  void ScanJobs();
  const absl::flat_hash_map<Digest, StoredJob>& stored_jobs() const {
    return stored_jobs_;
  }
  // Bytes of values that are being written: they live until they are.
  int64_t writing_bytes() const { return writing_bytes_; }
  absl::Duration BusyTime() const { return engine_.BusyTime(); }

  // Appends events since the last call.
  void Poll(std::vector<Event>& events);
  // Replies of the engine to requests that were not made here: RecordStore's.
  std::vector<EngineReply> TakeOthers() { return std::exchange(others_, {}); }

 private:
  struct Request {
    Digest job;
    Label label;
    int64_t bytes = 0;
    bool is_of_jobs = false;  // a StoredJob, no value
  };

  uint64_t Submit(EngineRequest request, const Digest& job, const Label& label,
                  bool is_of_jobs = false);
  void NoteJobs(const EngineReply& reply);
  void NotePage(const EngineReply& reply, const Request& request,
                std::vector<Event>& events);

  Engine& engine_;
  absl::flat_hash_map<uint64_t, Request> requests_;  // by ticket
  uint64_t next_ticket_ = 1;
  int64_t writing_bytes_ = 0;
  absl::flat_hash_map<Digest, StoredJob> stored_jobs_;
  absl::flat_hash_set<Digest> written_jobs_;  // since the last erasure of each
  bool reads_jobs_ = false;  // stored_jobs_ may lack some that are there
  absl::flat_hash_set<Digest> erased_jobs_;  // meanwhile
  std::vector<EngineReply> replies_;
  std::vector<EngineReply> others_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_STORAGE_VALUE_STORE_H_
