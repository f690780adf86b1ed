// Loads the RocksDB engine, for agents that have a directory.
#ifndef DOGGED_KVSTORE_STORAGE_ROCKSDB_MODULE_H_
#define DOGGED_KVSTORE_STORAGE_ROCKSDB_MODULE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kvstore/storage/engine.h"
#include "kvstore/storage/rocksdb_engine.h"

namespace dogged {

// The engine of `module_folder`/dogged_rocksdb.so on `options.directory`,
// which is made if it does not exist, and locked as long as the engine lives.
//
// Errors: those of MakeRocksDbEngine, and kFailedPrecondition if there is no
// such module.
absl::StatusOr<std::unique_ptr<Engine>> LoadRocksDbEngine(
    absl::string_view module_folder, const RocksDbOptions& options);

}  // namespace dogged

#endif  // DOGGED_KVSTORE_STORAGE_ROCKSDB_MODULE_H_
