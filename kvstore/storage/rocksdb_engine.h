// The Engine port over RocksDB: a module beside the binary (linking it would
// cost every command some ten milliseconds at its start), loaded by
// rocksdb_module.h.
#ifndef DOGGED_KVSTORE_STORAGE_ROCKSDB_ENGINE_H_
#define DOGGED_KVSTORE_STORAGE_ROCKSDB_ENGINE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "kvstore/storage/engine.h"

namespace dogged {

struct RocksDbOptions {
  std::string directory;
  // Called on the engine's thread when Poll() has something after it had
  // nothing. It must not call the engine.
  std::function<void()> on_reply;
  // Called on the engine's thread, with words for people, once it is found out
  // that the directory is damaged: nothing can be written there any more. Best
  // it does not return, for others do the work of an agent that ends.
  std::function<void(const std::string&)> on_damage;
  // Puts become durable together: at the latest this long after they were
  // written, or when there are so many bytes of them.
  absl::Duration flush_interval = absl::Milliseconds(50);
  int64_t flush_bytes = 16 << 20;
};

// The module's one function. Null on errors, then `status` says why:
//
// Errors: kFailedPrecondition if another agent uses the directory, or it holds
//         something else or another format;
//         kResourceExhausted if it can't be made, written or locked.
inline constexpr char kMakeRocksDbEngineName[] = "DoggedMakeRocksDbEngine";
using MakeRocksDbEngine = Engine* (*)(const RocksDbOptions& options,
                                      absl::Status& status);

}  // namespace dogged

#endif  // DOGGED_KVSTORE_STORAGE_ROCKSDB_ENGINE_H_
