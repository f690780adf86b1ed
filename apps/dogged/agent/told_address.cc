#include "apps/dogged/agent/told_address.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "routing/control/socket_address.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// The parts of HOST:PORT or [IPV6]:PORT.
absl::string_view HostOf(absl::string_view address) {
  return address.substr(0, address.rfind(':'));
}
absl::string_view PortOf(absl::string_view address) {
  return address.substr(address.rfind(':') + 1);
}
// HOST:PORT, of a fabric address without the key and the memory that other
// transports add (sealed_transport.h, host_transport.h).
absl::string_view WithoutRest(absl::string_view address) {
  return address.substr(0, address.find_first_of("#;"));
}
std::string WithoutBrackets(absl::string_view host) {
  if (absl::ConsumePrefix(&host, "[")) absl::ConsumeSuffix(&host, "]");
  return std::string(host);
}

// Many hosts take their own name for an address of loopback (/etc/hosts).
absl::Status CheckNoLoopback(absl::string_view flag, const std::string& text,
                             const SocketAddress& address) {
  const absl::string_view host = HostOf(text);
  if (!address.IsLoopback() || IsNumeric(text) ||
      absl::StartsWith(host, "localhost") ||
      absl::StartsWith(host, "ip6-localhost")) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      flag, " ", text, ": here that name means ",
      WithoutBrackets(HostOf(address.ToString())),
      ", which leads others to themselves; give an address of this host, as "
      "`hostname -I` says"));
}

}  // namespace

absl::Status CheckTold(const AgentCommandOptions& options) {
  const auto listen = ResolveAddress(options.listen);
  if (!listen.ok()) return Annotate(listen.status(), "--listen");
  if (options.advertise.empty()) {
    if (!listen->IsWildcard()) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(
        "--listen ", options.listen,
        ": others would be told that address, which leads nowhere; give the "
        "one by which they reach this host:  --advertise HOST:",
        PortOf(options.listen)));
  }
  const auto told = ResolveAddress(options.advertise);
  if (!told.ok()) return Annotate(told.status(), "--advertise");
  if (!told->IsWildcard()) {
    return CheckNoLoopback("--advertise", options.advertise, *told);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("--advertise ", options.advertise,
                   ": that address leads nowhere; give the one by which others "
                   "reach this host"));
}

absl::Status CheckReach(const AgentCommandOptions& options) {
  const auto listen = ResolveAddress(options.listen);
  if (!listen.ok()) return Annotate(listen.status(), "--listen");
  return CheckNoLoopback("--listen", options.listen, *listen);
}

std::string ToldControl(const AgentCommandOptions& options,
                        absl::string_view bound) {
  if (options.advertise.empty()) return std::string(bound);
  const auto told = ResolveAddress(options.advertise);
  const std::string text = told.ok() ? told->ToString() : options.advertise;
  if (PortOf(text) != "0") return text;
  return absl::StrCat(HostOf(text), ":", PortOf(bound));
}

std::string FabricHost(const AgentCommandOptions& options,
                       absl::string_view bound) {
  if (!options.advertise.empty()) {
    const auto told = ResolveAddress(options.advertise);
    if (told.ok() && told->IsOfThisHost()) {
      return WithoutBrackets(HostOf(told->ToString()));
    }
  }
  return WithoutBrackets(HostOf(bound));
}

std::string ToldFabric(const AgentCommandOptions& options,
                       absl::string_view address) {
  if (options.advertise.empty()) return std::string(address);
  const auto told = ResolveAddress(options.advertise);
  if (!told.ok()) return std::string(address);
  const absl::string_view own = WithoutRest(address);
  return absl::StrCat(HostOf(told->ToString()), ":", PortOf(own),
                      address.substr(own.size()));
}

absl::string_view FabricAddressOf(const Member& member) {
  return WithoutRest(member.fabric_address);
}

}  // namespace dogged
