// Aim: while the loop's thread sleeps, workers pass in its place; it still
// wakes up for messages and clients, which their passes leave to it. Method: a
// real AgentLoop on its thread, over a real poller and control port; the test
// takes the worker's part of the turn, and a transport notes the calls. All
// waits are for events that have to happen.
#include "runtime/agent/loop/agent_loop.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/agent/one_agent.h"

namespace dogged {
namespace {

constexpr auto kLong = std::chrono::seconds(20);

// Reaches nobody. Says that it is waited for, and who polls it.
class NotedTransport : public Transport {
 public:
  ~NotedTransport() override { close(fd_); }
  void Send(AgentId, Bytes) override {}
  void Poll(std::vector<Arrival>&) override {
    const std::lock_guard lock(mutex_);
    uint64_t ignored = 0;
    (void)!read(fd_, &ignored, sizeof(ignored));
    ++(std::this_thread::get_id() == loop_ ? loop_polls_ : worker_polls_);
    changed_.notify_all();
  }
  void SetPeer(AgentId, absl::string_view) override {}
  void ForgetPeer(AgentId) override {}
  std::string address() const override { return "nowhere"; }
  int64_t queued_bytes(AgentId) const override { return 0; }
  int wait_fd() const override { return fd_; }
  int listen_fd() const override { return fd_; }
  void SetWaiting(bool is_waiting) override {
    const std::lock_guard lock(mutex_);
    loop_ = std::this_thread::get_id();
    is_waiting_ = is_waiting;
    changed_.notify_all();
  }

  void Ring() const {
    const uint64_t one = 1;
    (void)!write(fd_, &one, sizeof(one));
  }
  int loop_polls() {
    const std::lock_guard lock(mutex_);
    return loop_polls_;
  }
  int worker_polls() {
    const std::lock_guard lock(mutex_);
    return worker_polls_;
  }
  bool AwaitSleep() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLong, [&] { return is_waiting_; });
  }
  bool AwaitLoopPoll(int more_than) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kLong,
                             [&] { return loop_polls_ > more_than; });
  }

 private:
  const int fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  std::mutex mutex_;
  std::condition_variable changed_;
  std::thread::id loop_;
  bool is_waiting_ = false;
  int loop_polls_ = 0;
  int worker_polls_ = 0;
};

class NoBackground : public Background {
 public:
  void Submit(std::function<Rest()>) override {}
  void Poll() override {}
};

class NoWriter : public PartWriter {
 public:
  void Submit(ConnectionId, WriteRequest, std::vector<Value>) override {}
  void Forget(ConnectionId) override {}
  std::vector<std::pair<ConnectionId, WrittenReply>> TakeDone() override {
    return {};
  }
};

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    poller_->Watch(transport_.wait_fd());
    poller_->Watch(control_->wait_fd());
    loop_ = std::thread([this] { server_.Run(); });
    EXPECT_TRUE(transport_.AwaitSleep());
  }
  ~ServerTest() override {
    server_.Leave("a test");
    loop_.join();
  }

  SystemClock clock_;
  NotedTransport transport_;
  HeldTasks tasks_;
  NoBackground background_;
  LoopTurn turn_;
  std::unique_ptr<Poller> poller_ = Poller::Create().value();
  std::unique_ptr<ControlPort> control_ =
      ControlPort::Listen("127.0.0.1:0").value();
  Contacts contacts_{{}};
  NoWriter writer_;
  Agent agent_{{.self = {.id = kSelf, .host = "here"}},
               transport_,
               tasks_,
               background_,
               {}};
  AgentLoop server_{agent_,
                    {.clock = clock_,
                     .transport = transport_,
                     .control = *control_,
                     .poller = *poller_,
                     .turn = turn_,
                     .memory = [] { return ProcessMemory(); },
                     .writer = writer_,
                     .contacts = contacts_,
                     .on_settled = [] { return true; }}};
  std::thread loop_;
};

TEST_F(ServerTest, WorkersPassWhileItSleeps) {
  const int by_workers = transport_.worker_polls();
  while (!turn_.TryPass()) std::this_thread::yield();
  EXPECT_EQ(transport_.worker_polls(), by_workers + 1);
  turn_.HandBack();
  const int before = transport_.loop_polls();
  transport_.Ring();
  EXPECT_TRUE(transport_.AwaitLoopPoll(before));
}

// A client, though the worker that has the turn does not look at clients.
TEST_F(ServerTest, WakesForClientsWhoeverPasses) {
  const std::unique_ptr<ControlPort> client =
      ControlPort::Listen("127.0.0.1:0").value();
  const ConnectionId connection = client->Connect(control_->address());
  client->Send(connection, static_cast<uint8_t>(ControlType::kStatus),
               StatusRequest().Encode());
  std::vector<ControlEvent> events;
  const auto is_answered = [&] {
    return std::any_of(events.begin(), events.end(), [](const auto& event) {
      return event.kind == ControlEvent::Kind::kFrame &&
             event.type == static_cast<uint8_t>(ControlType::kStatusReply);
    });
  };
  const absl::Time limit = clock_.Now() + absl::FromChrono(kLong);
  while (!is_answered() && clock_.Now() < limit) {
    client->Poll(events);
    (void)turn_.TryPass();
    std::this_thread::yield();
  }
  EXPECT_TRUE(is_answered());
}

// A client with too many requests to write is refused before the labels of
// another one are asked for: here of a job that nobody knows.
TEST_F(ServerTest, RefusesRequestsBeforeTheirLabels) {
  const std::unique_ptr<ControlPort> client =
      ControlPort::Listen("127.0.0.1:0").value();
  const ConnectionId connection = client->Connect(control_->address());
  const auto ask = [&](std::vector<FilePart> parts) {
    const WriteRequest request{
        .job = JobId(7), .path = "/none", .parts = std::move(parts)};
    client->Send(connection, static_cast<uint8_t>(ControlType::kWrite),
                 request.Encode());
  };
  const FilePart part{.label = {.array = 0, .index = {0}},
                      .extents = {1},
                      .first = {0},
                      .count = {1},
                      .stride = {8}};
  ask({part});
  for (int64_t i = 0; i < FileWrites::kPendingMax; ++i) ask({});
  ask({part});
  std::vector<absl::StatusCode> errors;
  const absl::Time limit = clock_.Now() + absl::FromChrono(kLong);
  while (errors.size() < 2 && clock_.Now() < limit) {
    std::vector<ControlEvent> events;
    client->Poll(events);
    for (const ControlEvent& event : events) {
      if (event.kind == ControlEvent::Kind::kFrame &&
          event.type == static_cast<uint8_t>(ControlType::kError)) {
        errors.push_back(DecodeError(event.body.view()).code());
      }
    }
    (void)turn_.TryPass();
    std::this_thread::yield();
  }
  EXPECT_EQ(errors, (std::vector<absl::StatusCode>{
                        absl::StatusCode::kNotFound,
                        absl::StatusCode::kResourceExhausted}));
}

}  // namespace
}  // namespace dogged
