// SharedMemory: the port through which agents of one host read each other's
// values. Each process has one arena, which it alone writes and its peers map
// for reading. ADR-7 says who may use which bytes for how long.
#ifndef DOGGED_ROUTING_MEMORY_SHARED_MEMORY_H_
#define DOGGED_ROUTING_MEMORY_SHARED_MEMORY_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dogged {

// The arena of another process, mapped here for reading. It stays readable for
// as long as this object lives, whatever becomes of its owner.
class PeerArena {
 public:
  virtual ~PeerArena() = default;
  // `bytes` bytes from `offset`; null if they don't lie within.
  virtual const void* At(int64_t offset, int64_t bytes) const = 0;
  // The place there of `data`; none if it is elsewhere.
  virtual std::optional<int64_t> OffsetOf(const void* data) const = 0;
  // The process has ended, for certain: it reads nothing any more. Suspicion by
  // other agents does not count here.
  virtual bool HasEnded() const = 0;
};

// Used by one thread.
class SharedMemory {
 public:
  virtual ~SharedMemory() = default;

  // Where peers find this process's arena; empty if there is none. Names the
  // process too: the same for all its incarnations.
  virtual std::string address() const = 0;
  // The place in the own arena of `data`; none if it is elsewhere.
  virtual std::optional<int64_t> OffsetOf(const void* data) const = 0;

  // Maps the arena at `address`.
  //
  // Errors: kUnavailable as long as an earlier mapping of it is in use here;
  //         anything else: it can't be mapped, now or later (another host,
  //         another user, a container, a process that has ended).
  virtual absl::StatusOr<std::shared_ptr<PeerArena>> Map(
      absl::string_view address) = 0;

  // Keeps `held` for `reader`, which may still read it and is no longer asked,
  // until that process has ended or Forget() is called.
  void Keep(std::string address, std::shared_ptr<const PeerArena> reader,
            std::vector<std::shared_ptr<const void>> held) {
    kept_.push_back({std::move(address), std::move(reader), std::move(held)});
  }
  // That process has nothing of earlier incarnations of this one in use.
  void Forget(absl::string_view address);
  // Drops values kept for processes that have ended.
  void Sweep();
  bool keeps_any() const { return !kept_.empty(); }

  // Numbers the mappings that this process makes, from 1 on, across its
  // incarnations: the later of two messages about an arena is known.
  uint64_t NumberMapping() { return ++mapping_count_; }

 protected:
  // Drops all kept values, before the arena goes that they may lie in.
  void ForgetAll() { kept_.clear(); }

 private:
  struct Kept {
    std::string address;
    std::shared_ptr<const PeerArena> reader;
    std::vector<std::shared_ptr<const void>> held;
  };
  std::vector<Kept> kept_;
  uint64_t mapping_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMORY_SHARED_MEMORY_H_
