#include "apps/dogged_bench/peers/tcp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "apps/dogged_bench/bench.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

// Two ends of a connection over loopback.
std::pair<int, int> TcpPair() {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(at);
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  DOGGED_CHECK(listener >= 0 && bind(listener, address, size) == 0);
  DOGGED_CHECK(listen(listener, 1) == 0);
  DOGGED_CHECK(getsockname(listener, address, &size) == 0);
  const int one = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  DOGGED_CHECK(one >= 0 && connect(one, address, size) == 0);
  const int other = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  DOGGED_CHECK(other >= 0);
  close(listener);
  for (const int end : {one, other}) {
    const int on = 1;
    DOGGED_CHECK(setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) ==
                 0);
  }
  return {one, other};
}

bool SendAll(int fd, const std::vector<char>& message) {
  size_t sent = 0;
  while (sent < message.size()) {
    const ssize_t count =
        send(fd, message.data() + sent, message.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return false;
    sent += static_cast<size_t>(count);
  }
  return true;
}

bool ReceiveAll(int fd, std::vector<char>& message) {
  return recv(fd, message.data(), message.size(), MSG_WAITALL) ==
         static_cast<ssize_t>(message.size());
}

}  // namespace

std::vector<double> TcpHops(size_t bytes, int rounds) {
  const auto [here, there] = TcpPair();
  std::thread echo([bytes, there = there] {
    std::vector<char> message(bytes);
    while (ReceiveAll(there, message) && SendAll(there, message)) {
    }
  });
  std::vector<char> message(bytes);
  std::vector<double> out;
  for (int i = 0; i < rounds; ++i) {
    out.push_back(0.5e6 * Seconds([&, here = here] {
                    DOGGED_CHECK(SendAll(here, message) &&
                                 ReceiveAll(here, message));
                  }));
  }
  shutdown(here, SHUT_RDWR);
  echo.join();
  close(here);
  close(there);
  return out;
}

}  // namespace dogged
