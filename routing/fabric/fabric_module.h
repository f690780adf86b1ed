// Loads the libfabric transport: a module beside the binary, so that commands
// that need no network do not pay for it (200 ms per start).
#ifndef DOGGED_ROUTING_FABRIC_FABRIC_MODULE_H_
#define DOGGED_ROUTING_FABRIC_FABRIC_MODULE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "routing/fabric/fabric_transport.h"

namespace dogged {

// The transport of `libdir`/dogged_fabric.so; an empty `libdir` means the
// folder of the running program. Call it before threads start. Signal handlers
// are afterwards as they were before, though libraries under libfabric install
// their own.
//
// Errors: kUnavailable, naming the missing part.
absl::StatusOr<std::unique_ptr<FabricTransport>> LoadFabricTransport(
    absl::string_view libdir, const FabricOptions& options);

}  // namespace dogged

#endif  // DOGGED_ROUTING_FABRIC_FABRIC_MODULE_H_
