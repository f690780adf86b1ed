// The interface between the libfabric module (dogged_fabric) and its loader
// (fabric_module.h).
#ifndef DOGGED_ROUTING_FABRIC_FABRIC_TRANSPORT_H_
#define DOGGED_ROUTING_FABRIC_FABRIC_TRANSPORT_H_

#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "routing/transport/admission.h"
#include "routing/transport/transport.h"
#include "runtime/base/ids.h"
#include "runtime/base/limits.h"

namespace dogged {

struct FabricOptions {
  AgentId self;
  // The interface to listen at, numeric; other agents must reach it.
  std::string host = "127.0.0.1";
  int port = 0;  // 0: any
  // libfabric's name of the provider; empty: the first that can do what we
  // need (connections, a descriptor to wait on).
  std::string provider;
  // Only connections that were admitted reach libfabric (Admission); otherwise
  // all do. All agents of a cluster say the same.
  bool keeps_strangers_out = false;
  // An admitted connection comes within this.
  absl::Duration admitted_time = absl::Seconds(5);
  // Messages are up to segment_bytes and some headers long; at most
  // outbox_bytes_max bytes wait for a peer.
  Limits limits;
};

class FabricTransport : public Transport, public Admission {
 public:
  // Why strangers reach libfabric though they should not; empty if they don't.
  virtual std::string warning() const = 0;
};

// The module's only symbol. Null, with `error` set, if there is no transport.
using MakeFabricTransport = FabricTransport* (*)(const FabricOptions& options,
                                                 std::string& error);
inline constexpr char kMakeFabricTransportName[] =
    "dogged_make_fabric_transport";

}  // namespace dogged

#endif  // DOGGED_ROUTING_FABRIC_FABRIC_TRANSPORT_H_
