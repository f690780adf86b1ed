#include "apps/client/client_wire.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "apps/client/handle_table.h"

namespace dogged {
namespace {

constexpr std::chrono::seconds kHelloTimeout{20};
constexpr size_t kReadBytes = size_t{64} << 10;
// As the client process takes them: descriptors of a message, bytes of a line.
constexpr size_t kPerMessage = 64;
constexpr size_t kLineBytesMax = size_t{64} << 20;
constexpr size_t kReadLineBytesMax = size_t{1} << 30;

union ControlRoom {
  cmsghdr align;
  char bytes[CMSG_SPACE(kPerMessage * sizeof(int))];
};

// All signals, for threads that are started meanwhile.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_;
};

size_t CountOf(const nlohmann::json& answer) {
  // In the hello this field is a truth value.
  return static_cast<size_t>(
      std::max<int64_t>(0, NumberIn(answer, "descriptors")));
}

}  // namespace

ClientError ClientWire::Gone() const {
  return ErrorOf(DOGGED_CLIENT_GONE,
                 is_closed_
                     ? "this session is closed, and its own agents with it"
                     : "the dogged client has ended, and agents of its own "
                       "with it; its words are on standard error");
}

ClientError ClientWire::Start(ClientDescriptor socket, Listener listener,
                              nlohmann::json& hello) {
  socket_ = std::move(socket);
  listener_ = std::move(listener);
  HandleTable::OfThisProcess().CloseInChild(socket_.number());
  {
    const BlockedSignals blocked;
    reader_ = std::thread([this] { Read(); });
  }
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_for(lock, kHelloTimeout,
                    [this] { return has_ended_ || !hello_.is_null(); });
  if (hello_.is_null()) {
    return ErrorOf(DOGGED_CLIENT_GONE,
                   has_ended_ ? "ended before it said a word" : "says nothing");
  }
  hello = hello_;
  return {};
}

ClientError ClientWire::Send(nlohmann::json fields,
                             const std::vector<int>& descriptors,
                             bool is_awaited, int64_t& number) {
  if (!descriptors.empty()) fields["descriptors"] = descriptors.size();
  // Answers have the order of requests, and so have numbers.
  const std::lock_guard<std::mutex> order(writing_);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (has_ended_ || is_closed_) return Gone();
    number = ++last_call_;
  }
  fields["id"] = number;
  const std::string line = JsonLine(fields) + "\n";
  if (line.size() > kLineBytesMax) {
    return ErrorOf(DOGGED_MISTYPED, "the program and its parameters are " +
                                        std::to_string(line.size()) +
                                        " bytes, at most " +
                                        std::to_string(kLineBytesMax) + " go");
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (has_ended_) return Gone();
    calls_[number].is_awaited = is_awaited;
  }
  Write(line, descriptors);
  return {};
}

ClientError ClientWire::Ask(nlohmann::json fields,
                            const std::vector<int>& descriptors, Reply& out) {
  int64_t number = 0;
  ClientError error =
      Send(std::move(fields), descriptors, /*is_awaited=*/true, number);
  if (!error.ok()) return error;
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return has_ended_ || calls_.at(number).has_come; });
  Call call = std::move(calls_.at(number));
  calls_.erase(number);
  if (!call.has_come) return Gone();
  lock.unlock();
  if (NumberIn(call.reply.fields, "status") != 0) {
    return ErrorOf(call.reply.fields);
  }
  out = std::move(call.reply);
  return {};
}

void ClientWire::Tell(nlohmann::json fields) {
  int64_t number = 0;
  (void)Send(std::move(fields), {}, /*is_awaited=*/false, number);
}

// A line that can't be written is not answered: the reader finds the end.
void ClientWire::Write(const std::string& line,
                       const std::vector<int>& descriptors) {
  size_t at = 0;
  size_t sent = 0;  // descriptors
  while (at < line.size()) {
    const size_t count = std::min(kPerMessage, descriptors.size() - sent);
    const bool is_last = sent + count == descriptors.size();
    // A byte for each message of descriptors before the last one.
    iovec part = {.iov_base = const_cast<char*>(line.data() + at),
                  .iov_len = is_last ? line.size() - at : 1};
    msghdr message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ControlRoom room = {};
    if (count > 0) {
      message.msg_control = room.bytes;
      message.msg_controllen = CMSG_SPACE(count * sizeof(int));
      cmsghdr* const head = CMSG_FIRSTHDR(&message);
      head->cmsg_level = SOL_SOCKET;
      head->cmsg_type = SCM_RIGHTS;
      head->cmsg_len = CMSG_LEN(count * sizeof(int));
      std::memcpy(CMSG_DATA(head), descriptors.data() + sent,
                  count * sizeof(int));
    }
    const ssize_t size = sendmsg(socket_.number(), &message, MSG_NOSIGNAL);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      shutdown(socket_.number(), SHUT_RDWR);
      return;
    }
    at += static_cast<size_t>(size);
    sent += count;
  }
}

void ClientWire::Read() {
  std::string rest;
  bool goes_on = true;
  while (goes_on && Receive(rest)) {
    size_t begin = 0;
    while (goes_on) {
      const size_t end = rest.find('\n', begin);
      if (end == std::string::npos) break;
      goes_on = Deliver(rest.substr(begin, end - begin));
      begin = end + 1;
    }
    rest.erase(0, begin);
    goes_on = goes_on && rest.size() <= kReadLineBytesMax;
  }
  came_.clear();
  // Nobody reads on this side, so nobody writes on that one.
  shutdown(socket_.number(), SHUT_RDWR);
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    has_ended_ = true;
  }
  changed_.notify_all();
  listener_.on_end();
}

// False at the end.
bool ClientWire::Receive(std::string& rest) {
  char bytes[kReadBytes];
  ControlRoom room;
  iovec part = {.iov_base = bytes, .iov_len = sizeof(bytes)};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes;
  message.msg_controllen = sizeof(room.bytes);
  ssize_t size = -1;
  do {
    size = recvmsg(socket_.number(), &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size <= 0) return false;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
      came_.emplace_back(number);
    }
  }
  rest.append(bytes, static_cast<size_t>(size));
  return true;
}

// False for a line that is no answer of a client.
bool ClientWire::Deliver(const std::string& line) {
  Reply reply;
  reply.fields = nlohmann::json::parse(line, /*cb=*/nullptr,
                                       /*allow_exceptions=*/false);
  if (reply.fields.is_discarded() || !reply.fields.is_object()) return false;
  for (size_t i = CountOf(reply.fields); i > 0 && !came_.empty(); --i) {
    reply.descriptors.push_back(std::move(came_.front()));
    came_.pop_front();
  }
  if (!reply.fields.contains("id")) {
    if (reply.fields.contains("run")) {
      listener_.on_event(reply.fields);
    } else {
      const std::lock_guard<std::mutex> lock(mutex_);
      hello_ = std::move(reply.fields);
    }
    changed_.notify_all();
    return true;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  // A request that the client can't read is answered without its number.
  auto it = reply.fields["id"].is_null()
                ? calls_.begin()
                : calls_.find(NumberIn(reply.fields, "id"));
  if (it == calls_.end()) return true;
  if (!it->second.is_awaited) {
    calls_.erase(it);
    return true;
  }
  it->second.reply = std::move(reply);
  it->second.has_come = true;
  changed_.notify_all();
  return true;
}

void ClientWire::Close() {
  if (!reader_.joinable()) return;
  is_closed_ = true;
  shutdown(socket_.number(), SHUT_RDWR);
  reader_.join();
  HandleTable::OfThisProcess().ForgetDescriptor(socket_.number());
  // Another thread may be writing into what is shut.
  const std::lock_guard<std::mutex> lock(writing_);
  socket_ = ClientDescriptor();
}

}  // namespace dogged
