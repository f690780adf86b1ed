// A disk in virtual time, and the Engine port on it. The disk outlives the
// agent; writes that were not synced when the agent died may be forgotten. The
// disk can be full, can return other bytes than were written, and can lose all.
#ifndef DOGGED_RUNTIME_SIM_DISK_H_
#define DOGGED_RUNTIME_SIM_DISK_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "kvstore/storage/engine.h"
#include "runtime/base/random.h"
#include "runtime/sim/event_queue.h"

namespace dogged {

struct DiskFaults {
  int64_t bytes_max = 0;  // beyond them the disk is full; 0: never
  double corrupt = 0;     // probability that one read value has a flipped bit
  double lose = 0;        // that a sync loses all that was there; once a disk
};

// SimDisk: the contents, which outlive agents.
struct SimDisk {
  std::map<std::string, std::string> content;
  int64_t bytes = 0;  // of keys and values
  bool has_lost = false;

  void Put(const std::string& key, std::string value);
  void Erase(const std::string& key);
};

class SimEngine : public Engine {
 public:
  // `wake` is called when Poll() has something. The disk outlives the engine.
  SimEngine(EventQueue& queue, SimDisk& disk, const DiskFaults& faults, Rng rng,
            std::function<void()> wake);
  // The agent's death: each change that was not synced happens or does not.
  ~SimEngine() override;
  SimEngine(const SimEngine&) = delete;
  SimEngine& operator=(const SimEngine&) = delete;

  void Submit(EngineRequest request) override;
  void Poll(std::vector<EngineReply>& replies) override;
  absl::Duration BusyTime() const override { return busy_; }

 private:
  void Serve(const EngineRequest& request);
  void Get(const EngineRequest& request, EngineReply& reply);
  void Scan(const EngineRequest& request, EngineReply& reply);
  void Sync();
  void Reply(EngineReply reply);
  // Result of a read: `value`, or corrupted bytes.
  Bytes Read(const std::string& value);
  bool IsFull() const;

  EventQueue& queue_;
  SimDisk& disk_;
  const DiskFaults faults_;
  Rng rng_;
  const std::function<void()> wake_;
  absl::Time busy_until_ = absl::InfinitePast();
  absl::Duration busy_;
  // The disk as a reader of this engine sees it; becomes the disk's at a sync.
  SimDisk cached_;
  std::vector<EngineReply> unsynced_;
  std::vector<EngineReply> replies_;
  bool sync_is_due_ = false;
  // Events that come after the death find this false.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_DISK_H_
