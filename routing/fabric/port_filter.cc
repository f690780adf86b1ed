#include "routing/fabric/port_filter.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/filter.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

// A filter of a TCP socket sees a packet from its TCP header on, whose first
// field is the sender's port. The IP header lies at SKF_NET_OFF.
constexpr uint32_t kSourcePort = 0;
constexpr uint32_t kIp = static_cast<uint32_t>(SKF_NET_OFF);
constexpr uint32_t kSource4 = kIp + 12;
constexpr uint32_t kSource6 = kIp + 8;
constexpr uint32_t kWholePacket = 0xffffffff;

constexpr uint16_t kLoadByte = BPF_LD | BPF_B | BPF_ABS;
constexpr uint16_t kLoadHalf = BPF_LD | BPF_H | BPF_ABS;
constexpr uint16_t kLoadWord = BPF_LD | BPF_W | BPF_ABS;
constexpr uint16_t kShiftRight = BPF_ALU | BPF_RSH | BPF_K;
constexpr uint16_t kIfEqual = BPF_JMP | BPF_JEQ | BPF_K;
constexpr uint16_t kReturn = BPF_RET | BPF_K;

struct Check {
  uint16_t load;
  uint32_t at;
  uint32_t wanted;
};

// The checks that packets from `address` pass; none for another family.
std::vector<Check> ChecksOf(const sockaddr_storage& address) {
  std::vector<Check> checks;
  uint16_t port = 0;
  const auto add4 = [&](const uint8_t* octets) {
    uint32_t word = 0;
    std::memcpy(&word, octets, sizeof(word));
    checks.push_back({kLoadWord, kSource4, ntohl(word)});
  };
  if (address.ss_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof(in));
    port = ntohs(in.sin_port);
    add4(reinterpret_cast<const uint8_t*>(&in.sin_addr));
  } else if (address.ss_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address, sizeof(in));
    port = ntohs(in.sin6_port);
    if (IN6_IS_ADDR_V4MAPPED(&in.sin6_addr)) {
      add4(in.sin6_addr.s6_addr + 12);
    } else {
      for (uint32_t i = 0; i < 16; i += 4) {
        uint32_t word = 0;
        std::memcpy(&word, in.sin6_addr.s6_addr + i, sizeof(word));
        checks.push_back({kLoadWord, kSource6 + i, ntohl(word)});
      }
    }
  } else {
    return {};
  }
  if (port != 0) checks.push_back({kLoadHalf, kSourcePort, port});
  return checks;
}

}  // namespace

absl::StatusOr<int> FindBoundSocket(const sockaddr_storage& at) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"),
                                                   closedir);
  if (folder == nullptr) {
    return absl::NotFoundError("/proc/self/fd can't be read");
  }
  while (const dirent* entry = readdir(folder.get())) {
    int fd = -1;
    if (!absl::SimpleAtoi(entry->d_name, &fd)) continue;
    int type = 0;
    socklen_t size = sizeof(type);
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
        type != SOCK_STREAM) {
      continue;
    }
    sockaddr_storage bound{};
    size = sizeof(bound);
    if (getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) == 0 &&
        bound.ss_family == at.ss_family &&
        std::memcmp(&bound, &at, size) == 0) {
      return fd;
    }
  }
  return absl::NotFoundError("no socket of this process is bound there");
}

absl::Status AdmitOnly(int fd, absl::Span<const FilteredSource> sources) {
  std::vector<sock_filter> program;
  const auto add = [&](uint16_t code, uint32_t k, size_t if_not = 0) {
    program.push_back(
        {.code = code, .jt = 0, .jf = static_cast<uint8_t>(if_not), .k = k});
  };
  for (const FilteredSource& source : sources) {
    const std::vector<Check> checks = ChecksOf(source.address);
    if (checks.empty()) continue;
    // The version of IP leads its header. A check that fails jumps beyond the
    // source's last instruction.
    size_t left = 2 * checks.size() + 1;
    add(kLoadByte, kIp);
    add(kShiftRight, 4);
    add(kIfEqual, checks.front().at == kSource4 ? 4 : 6, left);
    for (const Check& check : checks) {
      left -= 2;
      add(check.load, check.at);
      add(kIfEqual, check.wanted, left);
    }
    add(kReturn, kWholePacket);
  }
  add(kReturn, 0);
  const sock_fprog filter{.len = static_cast<uint16_t>(program.size()),
                          .filter = program.data()};
  if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof(filter)) !=
      0) {
    return absl::UnavailableError(
        absl::StrCat("SO_ATTACH_FILTER: ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

}  // namespace dogged
