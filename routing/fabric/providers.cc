#include "routing/fabric/providers.h"

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "routing/fabric/port_filter.h"
#include "routing/fabric/provider_list.h"

namespace dogged {
namespace {

constexpr uint32_t kApiVersion = FI_VERSION(1, 17);
constexpr const char* kProviders[] = {"tcp", "net"};

struct FoundInfoFreer {
  void operator()(fi_info* info) const { fi_freeinfo(info); }
};
using FoundInfo = std::unique_ptr<fi_info, FoundInfoFreer>;

// Names of all providers that have anything at all here, and the kinds of
// endpoints of each.
std::map<std::string, std::vector<fi_ep_type>> KindsOfEndpoints() {
  std::map<std::string, std::vector<fi_ep_type>> out;
  fi_info* found = nullptr;
  if (fi_getinfo(kApiVersion, nullptr, nullptr, 0, nullptr, &found) != 0) {
    return out;
  }
  const FoundInfo all(found);
  for (const fi_info* info = found; info != nullptr; info = info->next) {
    out[info->fabric_attr->prov_name].push_back(info->ep_attr->type);
  }
  return out;
}

std::string WordsOf(int code) { return fi_strerror(-code); }

// Why a provider that the transport does not try is of no use to it.
std::string ReasonAgainst(const std::string& name, const std::string& host,
                          const std::vector<fi_ep_type>& kinds) {
  if (!std::count(kinds.begin(), kinds.end(), FI_EP_MSG)) {
    return "has no connections";
  }
  fi_info* found = nullptr;
  const int code = FindFabricProvider(name, host, 0, found);
  const FoundInfo info(found);
  if (code != 0) {
    return absl::StrCat("has no connections at ", host, ": ", WordsOf(code));
  }
  const uint32_t format = info->addr_format;
  if (format != FI_SOCKADDR && format != FI_SOCKADDR_IN &&
      format != FI_SOCKADDR_IN6) {
    return "has no IP addresses, by which agents know each other";
  }
  return "not among those that agents sleep well with: they use TCP";
}

}  // namespace

absl::Span<const char* const> FabricProviders() { return kProviders; }

int FindFabricProvider(const std::string& provider, const std::string& host,
                       int port, fi_info*& found) {
  const FoundInfo hints(fi_allocinfo());
  hints->caps = FI_MSG;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->ep_attr->type = FI_EP_MSG;
  hints->domain_attr->threading = FI_THREAD_DOMAIN;
  hints->domain_attr->mr_mode = 0;
  hints->fabric_attr->prov_name = strdup(provider.c_str());
  return fi_getinfo(kApiVersion, host.c_str(), std::to_string(port).c_str(),
                    FI_SOURCE, hints.get(), &found);
}

namespace {

void ListProviders(const std::string& host, ProviderList& out) {
  const uint32_t version = fi_version();
  // libfabric's own third number is only in its text, "1.17.0".
  out.library = absl::StrCat(FI_MAJOR(version), ".", FI_MINOR(version));
  auto kinds = KindsOfEndpoints();
  std::string taken;
  for (const char* const name : kProviders) {
    fi_info* found = nullptr;
    const int code = FindFabricProvider(name, host, 0, found);
    const FoundInfo info(found);
    const bool is_taken = code == 0 && taken.empty();
    std::string reason;
    if (is_taken) {
      taken = name;
      reason = absl::StrCat(
          "taken: the first of those that are tried with "
          "connections at ",
          host);
    } else if (code == 0) {
      reason = absl::StrCat("not needed: ", taken, " is tried before it");
    } else {
      reason =
          absl::StrCat("has no connections at ", host, ": ", WordsOf(code));
    }
    out.providers.push_back({name, is_taken, std::move(reason)});
    kinds.erase(name);
  }
  for (const auto& [name, types] : kinds) {
    out.providers.push_back({name, false, ReasonAgainst(name, host, types)});
  }
  std::stable_partition(
      out.providers.begin(), out.providers.end(),
      [](const ProviderList::Provider& one) { return one.is_taken; });
}

// Sets a filter of the usual kind at a socket that nobody reaches.
void TryFilter(ProviderList& out) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  FilteredSource source;
  source.address.ss_family = AF_INET;
  const absl::Status set = AdmitOnly(fd, {source});
  if (fd >= 0) close(fd);
  out.no_filter = std::string(set.message());
}

}  // namespace
}  // namespace dogged

extern "C" __attribute__((visibility("default"))) void
dogged_list_fabric_providers(const std::string& host,
                             dogged::ProviderList& out) {
  dogged::ListProviders(host, out);
  dogged::TryFilter(out);
}
