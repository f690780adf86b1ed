// FabricDomain: what libfabric keeps for all connections of a transport: the
// provider that was found, the queues of completions and of connections'
// events, and the port that others connect to.
#ifndef DOGGED_ROUTING_FABRIC_FABRIC_DOMAIN_H_
#define DOGGED_ROUTING_FABRIC_FABRIC_DOMAIN_H_

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "routing/control/socket_address.h"
#include "routing/fabric/fabric_transport.h"
#include "routing/fabric/port_filter.h"

namespace dogged {

struct FidCloser {
  template <typename F>
  void operator()(F* object) const {
    fi_close(&object->fid);
  }
};
template <typename F>
using FidPtr = std::unique_ptr<F, FidCloser>;

struct InfoFreer {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using InfoPtr = std::unique_ptr<fi_info, InfoFreer>;

// "fi_connect: Connection refused".
std::string FabricError(absl::string_view what, ssize_t code);

// Members are closed in the opposite order.
struct FabricDomain {
  // Empty, or the error in words.
  std::string Open(const FabricOptions& options);

  // An endpoint that a connection is to go out by, with `context`; null, with
  // `error` set, if there is none. `source` is filled in with the address that
  // it is bound to, if not null.
  FidPtr<fid_ep> MakeOutgoing(void* context, SocketAddress* source,
                              std::string& error);
  // That of a connection which has come in with `info`.
  FidPtr<fid_ep> MakeIncoming(fi_info* info, void* context, std::string& error);

  // Admits connections from `sources` alone, if strangers are kept out. Errors:
  // kResourceExhausted; no connection is admitted then.
  absl::Status Admit(absl::Span<const FilteredSource> sources);

  InfoPtr info;
  FidPtr<fid_fabric> fabric;
  FidPtr<fid_domain> domain;
  FidPtr<fid_eq> events;
  FidPtr<fid_cq> completions;
  FidPtr<fid_pep> port;
  int events_fd = -1;
  int completions_fd = -1;
  SocketAddress address;  // of the port
  int filtered_fd = -1;   // the port's socket, if strangers are kept out
  std::string warning;    // why they are not

 private:
  std::string FindProvider(const FabricOptions& options);
  std::string OpenQueues();
  std::string OpenPort(bool keeps_strangers_out);
  void TakeMemory();
  FidPtr<fid_ep> Make(fi_info* with, void* context, std::string& error);
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_FABRIC_FABRIC_DOMAIN_H_
