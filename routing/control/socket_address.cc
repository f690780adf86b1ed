#include "routing/control/socket_address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <system_error>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace dogged {

std::string SocketAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (family() == AF_INET6) {
    const auto* in6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
    return absl::StrCat("[", text, "]:", ntohs(in6->sin6_port));
  }
  const auto* in = reinterpret_cast<const sockaddr_in*>(&storage);
  inet_ntop(AF_INET, &in->sin_addr, text, sizeof(text));
  return absl::StrCat(text, ":", ntohs(in->sin_port));
}

std::string SocketAddress::Host() const {
  const std::string text = ToString();
  return text.substr(0, text.rfind(':'));
}

bool SocketAddress::IsLoopback() const {
  if (family() == AF_INET6) {
    const auto* in6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
  }
  const auto* in = reinterpret_cast<const sockaddr_in*>(&storage);
  return (ntohl(in->sin_addr.s_addr) >> 24) == 127;
}

bool SocketAddress::IsWildcard() const {
  if (family() == AF_INET6) {
    const auto* in6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    if (IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr)) {
      return std::all_of(in6->sin6_addr.s6_addr + 12,
                         in6->sin6_addr.s6_addr + 16,
                         [](uint8_t part) { return part == 0; });
    }
    return IN6_IS_ADDR_UNSPECIFIED(&in6->sin6_addr);
  }
  const auto* in = reinterpret_cast<const sockaddr_in*>(&storage);
  return in->sin_addr.s_addr == htonl(INADDR_ANY);
}

bool SocketAddress::IsOfThisHost() const {
  SocketAddress any_port = *this;
  if (family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&any_port.storage)->sin6_port = 0;
  } else {
    reinterpret_cast<sockaddr_in*>(&any_port.storage)->sin_port = 0;
  }
  const int fd = socket(family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const bool is_bound = bind(fd, any_port.get(), any_port.size) == 0;
  close(fd);
  return is_bound;
}

namespace {

// `flags` as those of getaddrinfo().
absl::StatusOr<std::vector<SocketAddress>> LookUp(absl::string_view text,
                                                  int flags) {
  const size_t colon = text.rfind(':');
  int port = -1;
  if (colon == absl::string_view::npos || colon == 0 ||
      !absl::SimpleAtoi(text.substr(colon + 1), &port) || port < 0 ||
      port > 65535) {
    return absl::InvalidArgumentError(
        absl::StrCat("address \"", text, "\" is not HOST:PORT"));
  }
  std::string host(text.substr(0, colon));
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* found = nullptr;
  const int error =
      getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("address \"", text, "\": ", gai_strerror(error)));
  }
  std::vector<SocketAddress> out;
  for (const addrinfo* it = found; it != nullptr; it = it->ai_next) {
    SocketAddress& address = out.emplace_back();
    std::memcpy(&address.storage, it->ai_addr, it->ai_addrlen);
    address.size = it->ai_addrlen;
  }
  freeaddrinfo(found);
  // Agents listen on one, where a name has both.
  std::stable_partition(out.begin(), out.end(), [](const auto& address) {
    return address.family() == AF_INET;
  });
  return out;
}

}  // namespace

absl::StatusOr<std::vector<SocketAddress>> ResolveAll(absl::string_view text) {
  return LookUp(text, /*flags=*/0);
}

absl::StatusOr<SocketAddress> ResolveAddress(absl::string_view text) {
  const auto all = LookUp(text, /*flags=*/0);
  if (!all.ok()) return all.status();
  return all->front();
}

bool IsNumeric(absl::string_view text) {
  return LookUp(text, AI_NUMERICHOST).ok();
}

SocketAddress LocalAddress(int fd) {
  SocketAddress address;
  address.size = sizeof(address.storage);
  getsockname(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size);
  return address;
}

SocketAddress PeerAddress(int fd) {
  SocketAddress address;
  address.size = sizeof(address.storage);
  getpeername(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.size);
  return address;
}

std::string ErrorText(absl::string_view address, int error) {
  return absl::StrCat(address, ": ", std::generic_category().message(error));
}

}  // namespace dogged
