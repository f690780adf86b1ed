#include "apps/dogged_bench/peers/stores.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "apps/dogged_bench/report.h"
#include "runtime/base/check.h"

extern char** environ;

namespace dogged {
namespace {

// Store: its command, and its requests and replies.
struct Store {
  const char* name;
  std::vector<std::string> command;  // PORT stands for the port
  std::function<std::string(const std::string& value)> set;
  std::string set_reply;
  std::string get;
  std::function<std::string(const std::string& value)> get_reply;
};

std::vector<Store> Stores() {
  const auto length = [](const std::string& value) { return value.size(); };
  return {
      {.name = "memcached",
       .command = {"memcached", "-u", "nobody", "-l", "127.0.0.1", "-p",
                   "PORT"},
       .set =
           [=](const std::string& value) {
             return absl::StrCat("set k 0 0 ", length(value), "\r\n", value,
                                 "\r\n");
           },
       .set_reply = "STORED\r\n",
       .get = "get k\r\n",
       .get_reply =
           [=](const std::string& value) {
             return absl::StrCat("VALUE k 0 ", length(value), "\r\n", value,
                                 "\r\nEND\r\n");
           }},
      {.name = "redis",
       .command = {"redis-server", "--port", "PORT", "--bind", "127.0.0.1",
                   "--save", "", "--loglevel", "warning"},
       .set =
           [=](const std::string& value) {
             return absl::StrCat("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$",
                                 length(value), "\r\n", value, "\r\n");
           },
       .set_reply = "+OK\r\n",
       .get = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
       .get_reply =
           [=](const std::string& value) {
             return absl::StrCat("$", length(value), "\r\n", value, "\r\n");
           }},
  };
}

sockaddr_in Loopback(int port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htons(static_cast<uint16_t>(port));
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return out;
}

int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at = Loopback(0);
  socklen_t size = sizeof(at);
  DOGGED_CHECK(bind(fd, reinterpret_cast<sockaddr*>(&at), size) == 0);
  getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size);
  close(fd);
  return ntohs(at.sin_port);
}

// Ends with this object.
class StoreProcess {
 public:
  explicit StoreProcess(const Store& store) {
    const int port = FreePort();
    std::vector<std::string> words = store.command;
    for (std::string& word : words) {
      if (word == "PORT") word = absl::StrCat(port);
    }
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    if (posix_spawnp(&pid_, argv[0], nullptr, nullptr, argv.data(), environ) !=
        0) {
      pid_ = 0;
      return;
    }
    // The server listens soon, or has ended.
    while (waitpid(pid_, nullptr, WNOHANG) == 0) {
      fd_ = socket(AF_INET, SOCK_STREAM, 0);
      const sockaddr_in at = Loopback(port);
      if (connect(fd_, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) ==
          0) {
        const int one = 1;
        setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        return;
      }
      close(fd_);
      fd_ = -1;
    }
    pid_ = 0;
  }
  ~StoreProcess() {
    if (fd_ >= 0) close(fd_);
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  StoreProcess(const StoreProcess&) = delete;
  StoreProcess& operator=(const StoreProcess&) = delete;

  bool is_up() const { return fd_ >= 0; }
  // Microseconds until all of `reply` has come.
  double Ask(const std::string& request, const std::string& reply) {
    answer_.resize(reply.size());
    const double seconds = Seconds([&] {
      size_t sent = 0;
      while (sent < request.size()) {
        const ssize_t count = send(fd_, request.data() + sent,
                                   request.size() - sent, MSG_NOSIGNAL);
        DOGGED_CHECK(count > 0);
        sent += static_cast<size_t>(count);
      }
      size_t got = 0;
      while (got < reply.size()) {
        const ssize_t count =
            recv(fd_, answer_.data() + got, reply.size() - got, 0);
        DOGGED_CHECK(count > 0);
        got += static_cast<size_t>(count);
      }
    });
    DOGGED_CHECK(answer_ == reply);
    return 1e6 * seconds;
  }

 private:
  pid_t pid_ = 0;
  int fd_ = -1;
  std::string answer_;
};

}  // namespace

std::vector<StoreTimes> TimeStores(int64_t bytes, int count) {
  std::vector<StoreTimes> out;
  const std::string value(static_cast<size_t>(bytes), 'v');
  for (const Store& store : Stores()) {
    StoreProcess process(store);
    if (!process.is_up()) continue;
    StoreTimes times{.name = store.name, .get_us = {}, .set_us = {}};
    const std::string set = store.set(value);
    const std::string reply = store.get_reply(value);
    for (int i = 0; i < count; ++i) {
      times.set_us.push_back(process.Ask(set, store.set_reply));
      times.get_us.push_back(process.Ask(store.get, reply));
    }
    out.push_back(std::move(times));
  }
  return out;
}

}  // namespace dogged
