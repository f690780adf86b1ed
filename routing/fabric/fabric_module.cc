#include "routing/fabric/fabric_module.h"

#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <string>

#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

std::string FolderOfProgram() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  const std::string program(path, size > 0 ? static_cast<size_t>(size) : 0);
  return program.substr(0, program.rfind('/'));
}

}  // namespace

absl::StatusOr<std::unique_ptr<FabricTransport>> LoadFabricTransport(
    absl::string_view libdir, const FabricOptions& options) {
  const std::string path =
      absl::StrCat(libdir.empty() ? FolderOfProgram() : std::string(libdir),
                   "/dogged_fabric.so");
  // Never unloaded: buffers of received messages are freed by its code.
  void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    return absl::UnavailableError(absl::StrCat("no transport: ", dlerror()));
  }
  auto make = reinterpret_cast<MakeFabricTransport>(
      dlsym(module, kMakeFabricTransportName));
  if (make == nullptr) {
    return absl::UnavailableError(absl::StrCat(path, ": not a transport"));
  }
  std::string error;
  std::unique_ptr<FabricTransport> transport(make(options, error));
  if (transport == nullptr) {
    return absl::UnavailableError(absl::StrCat("no transport: ", error));
  }
  return transport;
}

}  // namespace dogged
