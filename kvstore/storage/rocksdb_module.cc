#include "kvstore/storage/rocksdb_module.h"

#include <dlfcn.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace dogged {

absl::StatusOr<std::unique_ptr<Engine>> LoadRocksDbEngine(
    absl::string_view module_folder, const RocksDbOptions& options) {
  const std::string path = absl::StrCat(module_folder, "/dogged_rocksdb.so");
  // Never unloaded: bytes that were read are freed by its code.
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    return absl::FailedPreconditionError(
        absl::StrCat("no storage: ", dlerror()));
  }
  auto make = reinterpret_cast<MakeRocksDbEngine>(
      dlsym(module, kMakeRocksDbEngineName));
  if (make == nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": no storage"));
  }
  absl::Status status;
  std::unique_ptr<Engine> engine(make(options, status));
  if (engine == nullptr) return status;
  return engine;
}

}  // namespace dogged
