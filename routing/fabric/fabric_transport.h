// The interface between the libfabric module (dogged_fabric, built from
// fabric_transport.cc) and its loader (fabric_module.h).
#ifndef DOGGED_ROUTING_FABRIC_FABRIC_TRANSPORT_H_
#define DOGGED_ROUTING_FABRIC_FABRIC_TRANSPORT_H_

#include <cstdint>
#include <string>

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
  // need (reliable datagrams, a descriptor to wait on).
  std::string provider;
  // Messages are up to segment_bytes and some headers long; at most
  // outbox_bytes_max bytes wait for a peer.
  Limits limits;
};

// The module's only symbol. Null, with `error` set, if there is no transport.
using MakeFabricTransport = Transport* (*)(const FabricOptions& options,
                                           std::string& error);
inline constexpr char kMakeFabricTransportName[] =
    "dogged_make_fabric_transport";

}  // namespace dogged

#endif  // DOGGED_ROUTING_FABRIC_FABRIC_TRANSPORT_H_
