#include "routing/fabric/fabric_module.h"

#include <dlfcn.h>
#include <sys/resource.h>
#include <unistd.h>

#include <climits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/clock.h"

namespace dogged {
namespace {

// No provider sends so much without a buffer of its own.
constexpr size_t kLargeMessageBytes = 8192;
// A message to oneself takes no longer, if it goes at all.
constexpr absl::Duration kOwnMessageTime = absl::Seconds(10);

// Where addresses are limited, values may take the last ones before the first
// message goes out, and libfabric, which takes its buffers then, would say
// "again" for ever. So this agent writes to itself at once.
bool TakesBuffers(Transport& transport, AgentId self) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return true;
  }
  transport.SetPeer(self, transport.address());
  transport.Send(self, Bytes(std::string(kLargeMessageBytes, ' ')));
  SystemClock clock;
  const absl::Time deadline = clock.Now() + kOwnMessageTime;
  std::vector<Arrival> arrivals;
  while (arrivals.empty() && clock.Now() < deadline) transport.Poll(arrivals);
  transport.ForgetPeer(self);
  return !arrivals.empty();
}

std::string FolderOfProgram() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof(path));
  const std::string program(path, size > 0 ? static_cast<size_t>(size) : 0);
  return program.substr(0, program.rfind('/'));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transport>> LoadFabricTransport(
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
  std::unique_ptr<Transport> transport(make(options, error));
  if (transport == nullptr) {
    return absl::UnavailableError(absl::StrCat("no transport: ", error));
  }
  if (!TakesBuffers(*transport, options.self)) {
    return absl::UnavailableError(
        "no transport: libfabric has no memory for messages");
  }
  return transport;
}

}  // namespace dogged
