// Shared memory of simulated processes: arenas that processes of their host can
// map. Returned memory is scribbled over at once, so an agent that reads
// without a loan computes nonsense, which a test sees.
#ifndef DOGGED_RUNTIME_SIM_SHARED_MEMORY_H_
#define DOGGED_RUNTIME_SIM_SHARED_MEMORY_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "routing/memory/shared_memory.h"
#include "runtime/base/arena_blocks.h"
#include "runtime/base/value_memory.h"

namespace dogged {

// SimArena: the arena of a process, in which agents may be restarted one after
// another.
class SimArena : public SharedMemory, public ValueMemory {
 public:
  // All processes of a simulation, by address.
  using Processes = std::map<std::string, SimArena*>;

  // Values of `value_bytes_min` bytes and more come from it. `processes`
  // outlives it.
  SimArena(Processes& processes, std::string host, int64_t bytes,
           int64_t value_bytes_min);
  ~SimArena() override;
  SimArena(const SimArena&) = delete;
  SimArena& operator=(const SimArena&) = delete;

  // The process ends here: its arena cannot be mapped any more, and returned
  // memory stays as it is for processes that map it.
  void End();
  const std::string& host() const { return host_; }

  void* Take(int64_t bytes) override;
  void Give(void* data, int64_t bytes) override;
  std::string address() const override { return address_; }
  std::optional<int64_t> OffsetOf(const void* data) const override;
  absl::StatusOr<std::shared_ptr<PeerArena>> Map(
      absl::string_view address) override;

 private:
  struct Slab {
    std::vector<char> storage;
    char* memory = nullptr;  // aligned to 64
    int64_t bytes = 0;
    bool has_ended = false;

    std::optional<int64_t> OffsetOf(const void* data) const;
  };
  class Mapped;

  Processes& processes_;
  const std::string host_;
  const std::string address_;
  const int64_t value_bytes_min_;
  const std::shared_ptr<Slab> slab_ = std::make_shared<Slab>();
  ArenaBlocks blocks_;
  // Offsets and sizes, to be free before the next one is taken.
  std::vector<std::pair<int64_t, int64_t>> given_back_;
  std::map<std::string, std::weak_ptr<PeerArena>> mapped_;  // by address
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_SHARED_MEMORY_H_
