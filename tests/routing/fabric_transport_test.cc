// Aim: the libfabric transport carries messages between processes, never
// blocks, and survives peers that are killed, stopped, foreign or garbage.
// Method: this program starts itself again as an echo peer, over loopback;
// every wait is for a condition, with a deadline.
#include "routing/fabric/fabric_transport.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "routing/control/poller.h"
#include "routing/control/socket_address.h"
#include "routing/fabric/fabric_module.h"
#include "runtime/base/clock.h"
#include "runtime/base/hash.h"

extern char** environ;

namespace dogged {
namespace {

constexpr char kModuleFolder[] = DOGGED_MODULE_FOLDER;
const AgentId kSelf(1001);

// Long enough for all that is sent here.
constexpr int64_t kLongestBytes = 1 << 20;
Limits TestLimits() {
  Limits limits;
  limits.segment_bytes = kLongestBytes;
  return limits;
}

std::unique_ptr<Transport> Open(AgentId self,
                                const Limits& limits = TestLimits()) {
  FabricOptions options;
  options.self = self;
  options.limits = limits;
  absl::StatusOr<std::unique_ptr<Transport>> transport =
      LoadFabricTransport(kModuleFolder, options);
  if (!transport.ok()) {
    std::fprintf(stderr, "%s\n", transport.status().ToString().c_str());
    std::abort();
  }
  return *std::move(transport);
}

// Polls until `done`; sleeps in between. False after ten seconds.
bool PollUntil(Transport& transport, std::vector<Arrival>& arrivals,
               const std::function<bool()>& done) {
  SystemClock clock;
  std::unique_ptr<Poller> poller = *Poller::Create();
  poller->Watch(transport.wait_fd());
  const absl::Time deadline = clock.Now() + absl::Seconds(10);
  while (true) {
    transport.Poll(arrivals);
    if (done()) return true;
    if (clock.Now() > deadline) return false;
    if (transport.PrepareToWait()) poller->Wait(absl::Milliseconds(100));
  }
}

// Sends back what comes, until the parent closes our standard input.
int EchoPeer(uint64_t self, const std::string& parent) {
  std::unique_ptr<Transport> transport = Open(AgentId(self));
  transport->SetPeer(kSelf, parent);
  std::printf("%s\n", transport->address().c_str());
  std::fflush(stdout);
  std::unique_ptr<Poller> poller = *Poller::Create();
  poller->Watch(transport->wait_fd());
  poller->Watch(STDIN_FILENO);
  std::vector<Arrival> arrivals;
  while (true) {
    transport->Poll(arrivals);
    for (Arrival& arrival : arrivals) {
      transport->Send(arrival.from, std::move(arrival.message));
    }
    arrivals.clear();
    if (!transport->PrepareToWait()) continue;
    poller->Wait(absl::InfiniteDuration());
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (poll(&input, 1, 0) > 0) return 0;
  }
}

class Peer {
 public:
  Peer(uint64_t id, const Transport& parent) : id_(id) {
    int to_child[2];
    int from_child[2];
    EXPECT_EQ(pipe2(to_child, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(from_child, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, to_child[0], 0);
    posix_spawn_file_actions_adddup2(&actions, from_child[1], 1);
    std::string mode = "--echo-peer";
    std::string self = std::to_string(id);
    std::string address = parent.address();
    char program[] = "/proc/self/exe";
    char* argv[] = {program, mode.data(), self.data(), address.data(), nullptr};
    EXPECT_EQ(posix_spawn(&pid_, program, &actions, nullptr, argv, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(to_child[0]);
    close(from_child[1]);
    input_ = to_child[1];
    char line[128] = "";
    FILE* output = fdopen(from_child[0], "r");
    EXPECT_NE(std::fgets(line, sizeof(line), output), nullptr);
    std::fclose(output);
    address_ = std::string(line, std::strcspn(line, "\n"));
  }
  ~Peer() {
    close(input_);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }
  void Signal(int number) { kill(pid_, number); }
  void Kill() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  AgentId id() const { return AgentId(id_); }
  const std::string& address() const { return address_; }

 private:
  uint64_t id_;
  pid_t pid_ = -1;
  int input_ = -1;
  std::string address_;
};

Bytes Pattern(int64_t size, int seed) {
  std::string text(static_cast<size_t>(size), '\0');
  for (size_t i = 0; i < text.size(); ++i) {
    text[i] = static_cast<char>(i * 31 + static_cast<size_t>(seed) * 7);
  }
  return Bytes(std::move(text));
}

bool IsReadable(int fd, int patience_ms = 0) {
  pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&waiting, 1, patience_ms) > 0;
}

// While one thread sleeps and another sends, the latter looks for the answer
// and the former sleeps on; after the next PrepareToWait() it wakes up again.
TEST(FabricTransport, AThreadThatUsesItLooksInPlaceOfASleeper) {
  std::unique_ptr<Transport> transport = Open(kSelf);
  Peer peer(1002, *transport);
  transport->SetPeer(peer.id(), peer.address());
  std::vector<Arrival> arrivals;
  const auto send = [&] {
    transport->Send(peer.id(), Bytes(std::string("hello")));
  };
  const auto prepare = [&] {
    while (!transport->PrepareToWait()) transport->Poll(arrivals);
  };
  // The first message makes the connection.
  send();
  ASSERT_TRUE(
      PollUntil(*transport, arrivals, [&] { return arrivals.size() == 1; }));
  SystemClock clock;
  for (int i = 0; i < 100; ++i) {
    arrivals.clear();
    prepare();
    transport->SetWaiting(true);
    EXPECT_FALSE(transport->HasArrivals());
    send();
    const absl::Time deadline = clock.Now() + absl::Seconds(10);
    while (arrivals.empty() && clock.Now() < deadline) {
      if (transport->HasArrivals()) transport->Poll(arrivals);
      EXPECT_FALSE(IsReadable(transport->wait_fd()));
    }
    ASSERT_EQ(arrivals.size(), 1u);
    // Handed back: the sleeper is woken by an answer that comes late.
    arrivals.clear();
    peer.Signal(SIGSTOP);
    send();
    prepare();
    ASSERT_TRUE(arrivals.empty());
    peer.Signal(SIGCONT);
    while (arrivals.empty()) {
      ASSERT_TRUE(IsReadable(transport->wait_fd(), 10000));
      transport->Poll(arrivals);
      prepare();
    }
    transport->SetWaiting(false);
  }
}

TEST(FabricTransport, EchoesAllSizesAmongTwoProcesses) {
  std::unique_ptr<Transport> transport = Open(kSelf);
  Peer peer(2002, *transport);
  transport->SetPeer(peer.id(), peer.address());
  std::map<uint64_t, int> missing;
  int count = 0;
  for (int64_t size : std::initializer_list<int64_t>{
           0, 1, 39, 40, 41, 63, 64, 4000, 16360, 16384, 16385, 40000, 65536,
           kLongestBytes, kLongestBytes + 500}) {
    for (int i = 0; i < 20; ++i) {
      const Bytes message = Pattern(size, i);
      ++missing[Hash64(message.view())];
      ++count;
      transport->Send(peer.id(), message);
    }
  }
  std::vector<Arrival> arrivals;
  EXPECT_TRUE(
      PollUntil(*transport, arrivals,
                [&] { return static_cast<int>(arrivals.size()) >= count; }))
      << arrivals.size() << " of " << count;
  for (const Arrival& arrival : arrivals) {
    EXPECT_EQ(arrival.from, peer.id());
    --missing[Hash64(arrival.message.view())];
  }
  for (const auto& [hash, left] : missing) EXPECT_EQ(left, 0);
  EXPECT_EQ(transport->dropped_count(), 0);
  EXPECT_TRUE(PollUntil(*transport, arrivals, [&] {
    return transport->queued_bytes(peer.id()) == 0;
  }));
}

TEST(FabricTransport, KilledPeerCostsOthersNothing) {
  Limits limits = TestLimits();
  limits.outbox_bytes_max = 4 << 20;
  std::unique_ptr<Transport> transport = Open(kSelf, limits);
  Peer victim(2002, *transport);
  Peer other(3003, *transport);
  transport->SetPeer(victim.id(), victim.address());
  transport->SetPeer(other.id(), other.address());
  const Bytes message = Pattern(60000, 1);
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 20; ++i) transport->Send(victim.id(), message);
  EXPECT_TRUE(
      PollUntil(*transport, arrivals, [&] { return arrivals.size() >= 20; }));
  // In the middle of traffic.
  for (int i = 0; i < 30; ++i) transport->Send(victim.id(), message);
  victim.Kill();
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 10; ++i) transport->Send(victim.id(), message);
    arrivals.clear();
    transport->Send(other.id(), Pattern(1000, round));
    size_t from_other = 0;
    EXPECT_TRUE(PollUntil(*transport, arrivals, [&] {
      from_other = 0;
      for (const Arrival& arrival : arrivals) {
        if (arrival.from == other.id()) ++from_other;
      }
      return from_other >= 1;
    }));
    EXPECT_LE(transport->queued_bytes(victim.id()), limits.outbox_bytes_max);
  }
  EXPECT_GT(transport->dropped_count(), 0);
  EXPECT_GT(transport->queued_bytes(victim.id()), 0);
  transport->DropQueued(victim.id());
  EXPECT_EQ(transport->queued_bytes(victim.id()), 0);
  transport->Send(victim.id(), message);  // as to one that is alive after all
  EXPECT_EQ(transport->queued_bytes(victim.id()), message.size());
  transport->ForgetPeer(victim.id());
  transport->Send(victim.id(), message);
  EXPECT_EQ(transport->queued_bytes(victim.id()), 0);
  arrivals.clear();
  transport->Send(other.id(), message);
  EXPECT_TRUE(
      PollUntil(*transport, arrivals, [&] { return !arrivals.empty(); }));
}

TEST(FabricTransport, StoppedPeerBlocksNobodyAndGoesOn) {
  std::unique_ptr<Transport> transport = Open(kSelf);
  Peer peer(2002, *transport);
  transport->SetPeer(peer.id(), peer.address());
  std::vector<Arrival> arrivals;
  transport->Send(peer.id(), Pattern(10, 0));
  EXPECT_TRUE(
      PollUntil(*transport, arrivals, [&] { return arrivals.size() == 1; }));
  peer.Signal(SIGSTOP);
  SystemClock clock;
  const absl::Time start = clock.Now();
  for (int i = 0; i < 200; ++i) {
    transport->Send(peer.id(), Pattern(60000, i));
    transport->Poll(arrivals);
  }
  EXPECT_LT(clock.Now() - start, absl::Seconds(2));
  EXPECT_GT(transport->queued_bytes(peer.id()), 0);
  peer.Signal(SIGCONT);
  EXPECT_TRUE(PollUntil(*transport, arrivals, [&] {
    return arrivals.size() == 201;
  })) << arrivals.size();
}

TEST(FabricTransport, RefusesWhatIsForAnotherIncarnation) {
  std::unique_ptr<Transport> transport = Open(kSelf);
  Peer peer(2002, *transport);
  const AgentId before(4444);  // as if it had listened there before
  transport->SetPeer(before, peer.address());
  transport->SetPeer(peer.id(), peer.address());
  transport->Send(before, Pattern(100, 1));
  transport->Send(peer.id(), Pattern(100, 2));
  std::vector<Arrival> arrivals;
  EXPECT_TRUE(
      PollUntil(*transport, arrivals, [&] { return !arrivals.empty(); }));
  ASSERT_EQ(arrivals.size(), 1);
  EXPECT_EQ(arrivals[0].message, Pattern(100, 2));
}

TEST(FabricTransport, GarbageOnThePortChangesNothing) {
  std::unique_ptr<Transport> transport = Open(kSelf);
  Peer peer(2002, *transport);
  transport->SetPeer(peer.id(), peer.address());
  for (const std::string& address : {peer.address(), transport->address()}) {
    const absl::StatusOr<SocketAddress> at = ResolveAddress(address);
    ASSERT_TRUE(at.ok());
    const int fd = socket(at->family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(connect(fd, at->get(), at->size), 0);
    const Bytes noise = Pattern(5000, 9);
    EXPECT_GT(
        send(fd, noise.data(), static_cast<size_t>(noise.size()), MSG_NOSIGNAL),
        0);
    close(fd);
  }
  std::vector<Arrival> arrivals;
  for (int i = 0; i < 50; ++i) transport->Send(peer.id(), Pattern(500, i));
  EXPECT_TRUE(
      PollUntil(*transport, arrivals, [&] { return arrivals.size() >= 50; }));
}

// A port scan, or who took this for another port: `bytes`, and no more. Such a
// connection is closed, and its end wakes nobody again.
TEST(FabricTransport, LetsGoOfWhoIsNoPeer) {
  std::unique_ptr<Transport> transport = Open(kSelf);
  const absl::StatusOr<SocketAddress> at = ResolveAddress(transport->address());
  ASSERT_TRUE(at.ok());
  for (const std::string& bytes :
       {std::string(), std::string("\n"), std::string("GET / HTTP/1.0\r\n\r\n"),
        std::string(5000, 'x')}) {
    const int fd = socket(at->family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(connect(fd, at->get(), at->size), 0);
    ASSERT_EQ(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
    shutdown(fd, SHUT_WR);
    std::vector<Arrival> arrivals;
    EXPECT_TRUE(PollUntil(*transport, arrivals, [&] {
      pollfd other_end{fd, POLLIN, 0};
      return poll(&other_end, 1, 0) > 0;  // closed or reset
    })) << bytes.size();
    close(fd);
    EXPECT_TRUE(arrivals.empty());
  }
  // Poll runs after each wake-up; now there is nothing that wakes.
  std::unique_ptr<Poller> poller = *Poller::Create();
  poller->Watch(transport->wait_fd());
  std::vector<Arrival> arrivals;
  bool is_quiet = false;
  for (int i = 0; i < 1000 && !is_quiet; ++i) {
    transport->Poll(arrivals);
    is_quiet =
        transport->PrepareToWait() && !poller->Wait(absl::ZeroDuration());
  }
  EXPECT_TRUE(is_quiet);
}

// Pages of the memory that `bytes` are, or were, in.
int64_t PagesAt(absl::string_view bytes) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
  int64_t count = 0;
  for (uintptr_t at = (begin + page - 1) / page * page;
       at + page <= begin + bytes.size(); at += page) {
    unsigned char is_there = 0;
    // An error: nothing is mapped there.
    if (mincore(reinterpret_cast<void*>(at), page, &is_there) == 0) {
      count += is_there & 1;
    }
  }
  return count;
}

// Two long messages, one after the other, leave a buffer that is kept for the
// next one, and another that has been posted again.
TEST(FabricTransport, AConnectionAtRestHoldsNothingOfLongMessages) {
  std::unique_ptr<Transport> transport = Open(kSelf);
  Peer peer(2002, *transport);
  transport->SetPeer(peer.id(), peer.address());
  std::vector<Arrival> arrivals;
  const auto echo = [&](int64_t size) {
    arrivals.clear();
    transport->Send(peer.id(), Pattern(size, 1));
    ASSERT_TRUE(
        PollUntil(*transport, arrivals, [&] { return arrivals.size() == 1; }));
  };
  std::vector<absl::string_view> places;
  for (int i = 0; i < 2; ++i) {
    echo(kLongestBytes);
    places.push_back(arrivals[0].message.view());
    EXPECT_GT(PagesAt(places.back()), 200);
  }
  const auto pages = [&places] {
    return std::max(PagesAt(places[0]), PagesAt(places[1]));
  };
  SystemClock clock;
  const absl::Time deadline = clock.Now() + absl::Seconds(10);
  while (pages() > 8 && clock.Now() < deadline) echo(100);
  EXPECT_LE(pages(), 8);
}

// This process's own memory in use, in bytes.
int64_t OwnMemory() {
  malloc_trim(0);
  std::ifstream sizes("/proc/self/smaps_rollup");
  int64_t kilobytes = 0;
  for (std::string line; std::getline(sizes, line);) {
    if (std::sscanf(line.c_str(), "Anonymous: %ld", &kilobytes) == 1) break;
  }
  return kilobytes << 10;
}

// A provider takes memory with the first operation; see FabricDomain.
TEST(FabricTransport, TheFirstConnectionTakesLittleMemory) {
  std::unique_ptr<Transport> transport = Open(kSelf);
  Peer peer(2002, *transport);
  transport->SetPeer(peer.id(), peer.address());
  const int64_t before = OwnMemory();
  std::vector<Arrival> arrivals;
  transport->Send(peer.id(), Pattern(100, 1));
  ASSERT_TRUE(
      PollUntil(*transport, arrivals, [&] { return arrivals.size() == 1; }));
  EXPECT_LT(OwnMemory() - before, 300 << 10);
}

// The handler of signal `number`, as a number that can be compared.
uintptr_t HandlerOf(int number) {
  struct sigaction now {};
  sigaction(number, nullptr, &now);
  return reinterpret_cast<uintptr_t>(now.sa_handler);
}

constexpr int kSignals[] = {SIGTERM, SIGSEGV, SIGINT, SIGABRT};

// Before anything loads libfabric in this process.
const std::vector<uintptr_t>& HandlersAtStart() {
  static const std::vector<uintptr_t> handlers = [] {
    std::vector<uintptr_t> found;
    for (int number : kSignals) found.push_back(HandlerOf(number));
    return found;
  }();
  return handlers;
}

TEST(FabricTransport, SignalHandlersStayOurs) {
  std::unique_ptr<Transport> transport = Open(kSelf);
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    EXPECT_EQ(HandlerOf(kSignals[i]), HandlersAtStart()[i]) << kSignals[i];
  }
}

// As they are loaded, these sleep for a fifth of a second.
TEST(FabricTransport, LoadsNoLibraryOfCardsThatItDoesNotUse) {
  std::unique_ptr<Transport> transport = Open(kSelf);
  std::ifstream maps("/proc/self/maps");
  bool has_module = false;
  for (std::string line; std::getline(maps, line);) {
    const bool is_ours = line.find(kModuleFolder) != std::string::npos;
    has_module |= is_ours;
    EXPECT_EQ(line.find("libinfinipath"), std::string::npos) << line;
    EXPECT_TRUE(is_ours || line.find("libpsm") == std::string::npos) << line;
  }
  EXPECT_TRUE(has_module);
}

TEST(FabricTransport, SaysWhatIsMissing) {
  FabricOptions options;
  options.self = kSelf;
  options.provider = "pigeon";
  absl::StatusOr<std::unique_ptr<Transport>> transport =
      LoadFabricTransport(kModuleFolder, options);
  ASSERT_FALSE(transport.ok());
  EXPECT_EQ(transport.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(transport.status().message().find("pigeon"),
            absl::string_view::npos);
  EXPECT_FALSE(LoadFabricTransport("/nowhere", options).ok());
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// A library that opens a file by that name: libfabric would read for 0.1 s.
TEST(FabricTransport, LibrariesReadNoSymbolsOfTheKernel) {
  auto* const open_file = reinterpret_cast<FILE* (*)(const char*, const char*)>(
      dlsym(RTLD_DEFAULT, "fopen"));
  ASSERT_NE(open_file, nullptr);
  EXPECT_EQ(open_file("/proc/kallsyms", "r"), nullptr);
  FILE* const other = open_file("/proc/self/stat", "r");
  ASSERT_NE(other, nullptr);
  std::fclose(other);
}
#endif

// Not a test: the rate at which a peer echoes, for people.
int Bench(const std::vector<int64_t>& sizes) {
  std::unique_ptr<Transport> transport = Open(kSelf);
  Peer peer(2002, *transport);
  transport->SetPeer(peer.id(), peer.address());
  SystemClock clock;
  for (int64_t size : sizes) {
    const int count = 5000;
    const int window = size == 8 ? 1 : 32;
    const Bytes message = Pattern(size, 1);
    std::vector<Arrival> arrivals;
    const absl::Time start = clock.Now();
    int sent = 0;
    int received = 0;
    PollUntil(*transport, arrivals, [&] {
      received += static_cast<int>(arrivals.size());
      arrivals.clear();
      while (sent < count && sent - received < window) {
        transport->Send(peer.id(), message);
        ++sent;
      }
      return received == count;
    });
    const double seconds = absl::ToDoubleSeconds(clock.Now() - start);
    std::printf("%6ld bytes, window %2d: %7.1f us a round trip, %7.1f MB/s\n",
                static_cast<long>(size), window, seconds / count * 1e6,
                static_cast<double>(size) * count / seconds / 1e6);
  }
  return 0;
}

}  // namespace
}  // namespace dogged

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--echo-peer") == 0) {
    uint64_t self = 0;
    if (!absl::SimpleAtoi(argv[2], &self)) return 2;
    return dogged::EchoPeer(self, argv[3]);
  }
  if (argc >= 2 && std::strcmp(argv[1], "--bench") == 0) {
    std::vector<int64_t> sizes = {8, 1000, 8192, 65536};
    if (argc == 3 && !absl::SimpleAtoi(argv[2], &sizes.emplace_back())) {
      return 2;
    }
    if (argc == 3) sizes.erase(sizes.begin(), sizes.end() - 1);
    return dogged::Bench(sizes);
  }
  dogged::HandlersAtStart();
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
