#include "routing/fabric/fabric_module.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
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

// Not where fopen is another name of fopen64, or a sanitizer has its own.
#if defined(__GLIBC__) && !defined(__USE_FILE_OFFSET64) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// As libfabric starts it reads the symbols of the kernel, twice 200,000 lines,
// to learn whether cards could reach the memory of a GPU: most of the time in
// which an agent starts. Agents have no such memory, and a system that hides
// the file is taken for one that can't. A program's own function comes before
// the C library's; fopen64 is the latter by another name.
extern "C" FILE* fopen(const char* path, const char* mode) {
  if (std::strcmp(path, "/proc/kallsyms") == 0) {
    errno = ENOENT;
    return nullptr;
  }
  return fopen64(path, mode);
}
#endif
