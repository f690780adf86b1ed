#include "routing/fabric/fabric_domain.h"

#include <netinet/in.h>
#include <rdma/fi_errno.h>

#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "routing/fabric/port_filter.h"
#include "routing/fabric/providers.h"

namespace dogged {
namespace {

// The same address with any port.
void ForgetPort(fi_info& info) {
  auto* const at = static_cast<sockaddr*>(info.src_addr);
  if (at->sa_family == AF_INET) {
    reinterpret_cast<sockaddr_in*>(at)->sin_port = 0;
  } else if (at->sa_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(at)->sin6_port = 0;
  }
}

std::string NameOf(fid* object, SocketAddress& at) {
  size_t size = sizeof(at.storage);
  const int code = fi_getname(object, &at.storage, &size);
  if (code != 0) return FabricError("fi_getname", code);
  at.size = static_cast<socklen_t>(size);
  return "";
}

}  // namespace

std::string FabricError(absl::string_view what, ssize_t code) {
  return absl::StrCat(what, ": ", fi_strerror(static_cast<int>(-code)));
}

std::string FabricDomain::Open(const FabricOptions& options) {
  std::string error = FindProvider(options);
  if (error.empty()) error = OpenQueues();
  if (error.empty()) error = OpenPort(options.keeps_strangers_out);
  if (error.empty()) TakeMemory();
  return error;
}

std::string FabricDomain::FindProvider(const FabricOptions& options) {
  std::vector<std::string> names(FabricProviders().begin(),
                                 FabricProviders().end());
  if (!options.provider.empty()) names = {options.provider};
  int code = -FI_ENODATA;
  for (const std::string& name : names) {
    fi_info* found = nullptr;
    code = FindFabricProvider(name, options.host, options.port, found);
    if (code == 0) {
      info.reset(found);
      return "";
    }
  }
  return FabricError(
      absl::StrCat("no libfabric provider of connections (tried ",
                   names.front(), ") at ", options.host),
      code);
}

std::string FabricDomain::OpenQueues() {
  fid_fabric* new_fabric = nullptr;
  int code = fi_fabric(info->fabric_attr, &new_fabric, nullptr);
  if (code != 0) return FabricError("fi_fabric", code);
  fabric.reset(new_fabric);
  fid_domain* new_domain = nullptr;
  code = fi_domain(new_fabric, info.get(), &new_domain, nullptr);
  if (code != 0) return FabricError("fi_domain", code);
  domain.reset(new_domain);
  fi_eq_attr eq_attr{};
  eq_attr.wait_obj = FI_WAIT_FD;
  fid_eq* eq = nullptr;
  code = fi_eq_open(new_fabric, &eq_attr, &eq, nullptr);
  if (code != 0) return FabricError("fi_eq_open", code);
  events.reset(eq);
  fi_cq_attr cq_attr{};
  cq_attr.size = 4096;
  cq_attr.format = FI_CQ_FORMAT_MSG;
  cq_attr.wait_obj = FI_WAIT_FD;
  fid_cq* cq = nullptr;
  code = fi_cq_open(new_domain, &cq_attr, &cq, nullptr);
  if (code != 0) return FabricError("fi_cq_open", code);
  completions.reset(cq);
  code = fi_control(&cq->fid, FI_GETWAIT, &completions_fd);
  if (code == 0) code = fi_control(&eq->fid, FI_GETWAIT, &events_fd);
  if (code != 0) return FabricError("fi_control(FI_GETWAIT)", code);
  return "";
}

std::string FabricDomain::OpenPort(bool keeps_strangers_out) {
  fid_pep* pep = nullptr;
  int code = fi_passive_ep(fabric.get(), info.get(), &pep, nullptr);
  if (code != 0) return FabricError("fi_passive_ep", code);
  port.reset(pep);
  code = fi_pep_bind(pep, &events->fid, 0);
  if (code != 0) return FabricError("fi_pep_bind", code);
  std::string error = NameOf(&pep->fid, address);
  if (!error.empty()) return error;
  if (address.family() != AF_INET && address.family() != AF_INET6) {
    return absl::StrCat("provider ", info->fabric_attr->prov_name,
                        " has no IP addresses");
  }
  if (keeps_strangers_out) {
    // Before anybody can connect.
    const absl::StatusOr<int> fd = FindBoundSocket(address.storage);
    const absl::Status filtered = fd.ok() ? AdmitOnly(*fd, {}) : fd.status();
    if (filtered.ok()) {
      filtered_fd = *fd;
    } else {
      warning = std::string(filtered.message());
    }
  }
  code = fi_listen(pep);
  return code == 0 ? "" : FabricError("fi_listen", code);
}

// Providers take memory for operations with the first one, and keep it until
// the queue is closed: `tcp` half a megabyte for 1024 of them. An agent of a
// host that needs no connection for hours would seem to grow on the day that it
// does. So the first operation is here: a receive, which ends with its
// endpoint.
void FabricDomain::TakeMemory() {
  char byte = 0;
  std::string error;
  FidPtr<fid_ep> endpoint = MakeOutgoing(nullptr, nullptr, error);
  if (endpoint == nullptr) return;
  (void)fi_recv(endpoint.get(), &byte, sizeof(byte), nullptr, FI_ADDR_UNSPEC,
                nullptr);
  endpoint.reset();
  fi_cq_err_entry cancelled{};
  (void)fi_cq_readerr(completions.get(), &cancelled, 0);
}

absl::Status FabricDomain::Admit(absl::Span<const FilteredSource> sources) {
  if (filtered_fd < 0 || AdmitOnly(filtered_fd, sources).ok()) {
    return absl::OkStatus();
  }
  // The kernel charges filters to net.core.optmem_max, the new one beside the
  // old: an empty one between makes room, and drops a packet at worst.
  (void)AdmitOnly(filtered_fd, {});
  if (AdmitOnly(filtered_fd, sources).ok()) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "the kernel takes no filter for ", sources.size(), " connections"));
}

FidPtr<fid_ep> FabricDomain::Make(fi_info* with, void* context,
                                  std::string& error) {
  fid_ep* made = nullptr;
  int code = fi_endpoint(domain.get(), with, &made, context);
  if (code != 0) {
    error = FabricError("fi_endpoint", code);
    return nullptr;
  }
  FidPtr<fid_ep> endpoint(made);
  code = fi_ep_bind(made, &events->fid, 0);
  if (code == 0) {
    code = fi_ep_bind(made, &completions->fid, FI_SEND | FI_RECV);
  }
  if (code == 0) code = fi_enable(made);
  if (code == 0) return endpoint;
  error = FabricError("fi_enable", code);
  return nullptr;
}

FidPtr<fid_ep> FabricDomain::MakeOutgoing(void* context, SocketAddress* source,
                                          std::string& error) {
  const InfoPtr with(fi_dupinfo(info.get()));
  ForgetPort(*with);
  if (source == nullptr) return Make(with.get(), context, error);
  // A port of one's own is known before the connection is made if a passive
  // endpoint, which is bound at once, becomes the active one (fi_endpoint(3)).
  fid_pep* pep = nullptr;
  const int code = fi_passive_ep(fabric.get(), with.get(), &pep, nullptr);
  if (code != 0) {
    error = FabricError("fi_passive_ep", code);
    return nullptr;
  }
  const FidPtr<fid_pep> bound(pep);
  error = NameOf(&pep->fid, *source);
  if (!error.empty()) return nullptr;
  with->handle = &pep->fid;
  return Make(with.get(), context, error);
}

FidPtr<fid_ep> FabricDomain::MakeIncoming(fi_info* info_of, void* context,
                                          std::string& error) {
  return Make(info_of, context, error);
}

}  // namespace dogged
