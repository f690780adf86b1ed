// RecordStore: records by name, on the engine of this agent, beside the values
// of ValueStore: what else an agent has to find again after a restart. A record
// from disk equals the one written under its name, or counts as lost: it
// carries a digest of all of it, its name included.
//
// A machine over the Engine port: never waits. Used by one thread.
#ifndef DOGGED_KVSTORE_STORAGE_RECORD_STORE_H_
#define DOGGED_KVSTORE_STORAGE_RECORD_STORE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kvstore/storage/engine.h"
#include "runtime/base/bytes.h"

namespace dogged {

class RecordStore {
 public:
  // Tickets of this store's requests; those of ValueStore are below.
  static constexpr uint64_t kFirstTicket = uint64_t{1} << 63;

  struct Event {
    enum class Kind : uint8_t {
      kWritten,  // the record outlives this process
      kLoaded,   // here it is
      kLost,     // there is none, or it differs from the record written
      kFound,    // of a scan: this is there
      kScanned,  // of a scan: that was all
      kFailed,   // the disk takes no more
    };
    Kind kind = Kind::kWritten;
    uint64_t ticket = 0;  // of kWritten: the result of Put()
    std::string name;     // of kScanned: what names began with
    Bytes bytes;          // of kLoaded, kFound
    absl::Status status;  // of kFailed
  };

  // The engine outlives the store.
  explicit RecordStore(Engine& engine) : engine_(engine) {}
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;

  // Returns the ticket of its kWritten.
  uint64_t Put(absl::string_view name, const Bytes& bytes);
  void Load(absl::string_view name);
  void Erase(absl::string_view name);
  // All records whose names begin with `prefix`: kFound or kLost for each, then
  // kScanned.
  void Scan(absl::string_view prefix) { ScanBehind(std::string(prefix), ""); }
  // A reply to a request of this store. Appends what it says to `events`.
  void Take(const EngineReply& reply, std::vector<Event>& events);

 private:
  uint64_t Submit(EngineRequest request, std::string name);
  void ScanBehind(std::string prefix, std::string after);
  void NotePage(const EngineReply& reply, const std::string& prefix,
                std::vector<Event>& events);

  Engine& engine_;
  absl::flat_hash_map<uint64_t, std::string> names_;  // by ticket
  uint64_t next_ticket_ = kFirstTicket;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_STORAGE_RECORD_STORE_H_
