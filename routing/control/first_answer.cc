#include "routing/control/first_answer.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "routing/control/socket_address.h"
#include "runtime/base/clock.h"

namespace dogged {
namespace {

// Words about failed addresses that an error has at most.
constexpr size_t kWordsMax = 4;

// Connections under way.
class Tries {
 public:
  explicit Tries(absl::Span<const std::string> addresses)
      : addresses_(addresses) {}
  ~Tries() {
    for (const pollfd& one : waits_) close(one.fd);
  }
  Tries(const Tries&) = delete;
  Tries& operator=(const Tries&) = delete;

  bool HasMore() const { return next_ < addresses_.size(); }
  bool AreUnderWay() const { return !waits_.empty(); }
  // Begins with the next address. True if it is under way.
  bool Begin() {
    const size_t index = next_++;
    const auto to = ResolveAddress(addresses_[index]);
    if (!to.ok()) return Fail(index, std::string(to.status().message()));
    const int fd =
        socket(to->family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) return Fail(index, ErrorText(addresses_[index], errno));
    if (connect(fd, to->get(), to->size) != 0 && errno != EINPROGRESS) {
      const std::string words = ErrorText(addresses_[index], errno);
      close(fd);
      return Fail(index, words);
    }
    waits_.push_back({.fd = fd, .events = POLLOUT, .revents = 0});
    waiting_.push_back(index);
    return true;
  }
  // Waits for news of those under way. False if none came.
  bool Await(absl::Duration time) {
    const int64_t left = std::max<int64_t>(0, absl::ToInt64Milliseconds(time));
    return poll(waits_.data(), waits_.size(), static_cast<int>(left) + 1) > 0;
  }
  // Takes the news: true once an address has answered, else some have failed.
  bool TakeNews() {
    for (size_t i = waits_.size(); i-- > 0;) {
      if (waits_[i].revents == 0) continue;
      int error = 0;
      socklen_t size = sizeof(error);
      getsockopt(waits_[i].fd, SOL_SOCKET, SO_ERROR, &error, &size);
      const size_t index = waiting_[i];
      close(waits_[i].fd);
      waits_.erase(waits_.begin() + static_cast<std::ptrdiff_t>(i));
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(i));
      if (error == 0) {
        answered_ = index;
        return true;
      }
      Fail(index, ErrorText(addresses_[index], error));
    }
    return false;
  }
  // Once one has answered: that, the untried, the failed and the silent ones.
  std::vector<std::string> Order() const {
    std::vector<std::string> out = {addresses_[answered_]};
    for (size_t i = next_; i < addresses_.size(); ++i) {
      out.push_back(addresses_[i]);
    }
    for (const std::vector<size_t>* part : {&failed_, &waiting_}) {
      for (const size_t index : *part) out.push_back(addresses_[index]);
    }
    return out;
  }
  absl::Status NoneAnswers(absl::Duration time) const {
    std::vector<std::string> words = words_;
    for (const size_t index : waiting_) {
      if (words.size() == kWordsMax) break;
      words.push_back(absl::StrCat(addresses_[index], ": silent for ",
                                   absl::FormatDuration(time)));
    }
    return absl::UnavailableError(
        absl::StrCat("none of ", addresses_.size(),
                     " addresses answers: ", absl::StrJoin(words, "; ")));
  }

 private:
  bool Fail(size_t index, std::string words) {
    failed_.push_back(index);
    if (words_.size() < kWordsMax) words_.push_back(std::move(words));
    return false;
  }

  const absl::Span<const std::string> addresses_;
  size_t next_ = 0;
  size_t answered_ = 0;
  std::vector<pollfd> waits_;
  std::vector<size_t> waiting_;  // positions of their addresses
  std::vector<size_t> failed_;
  std::vector<std::string> words_;
};

}  // namespace

absl::StatusOr<std::vector<std::string>> FirstAnswer(
    absl::Span<const std::string> addresses, const FirstAnswerTimes& times) {
  SystemClock clock;
  const absl::Time deadline = clock.Now() + times.timeout;
  absl::Time next = clock.Now();
  Tries tries(addresses);
  while (clock.Now() < deadline) {
    while (tries.HasMore() && clock.Now() >= next) {
      if (tries.Begin()) next = clock.Now() + times.stagger;
    }
    if (!tries.AreUnderWay() && !tries.HasMore()) break;
    const absl::Time limit =
        tries.HasMore() ? std::min(next, deadline) : deadline;
    if (!tries.Await(limit - clock.Now())) continue;
    if (tries.TakeNews()) return tries.Order();
    next = clock.Now();  // instead of those that have failed
  }
  return tries.NoneAnswers(times.timeout);
}

}  // namespace dogged
