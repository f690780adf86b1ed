#include "apps/dogged/agent/join_sources.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_split.h"
#include "apps/dogged/agent/leave_signals.h"
#include "runtime/base/status.h"

namespace dogged {

absl::StatusOr<std::vector<MeetingPoint>> JoinPoints(
    const std::vector<std::string>& words) {
  std::vector<std::string> points = words;
  std::erase(points, kJoinsInput);
  return ParseMeetingPoints(points, "--join");
}

absl::Status JoinSources::Begin(const std::vector<std::string>& words,
                                const Trust& trust, std::function<void()> wake,
                                uint64_t seed) {
  keys_ = trust.keys;
  for (const std::string& word : words) reads_input_ |= word == kJoinsInput;
  DOGGED_ASSIGN_OR_RETURN(std::vector<MeetingPoint> points, JoinPoints(words));
  for (const MeetingPoint& point : points) {
    if (!point.HasToBeAsked()) contacts_.AddGiven(point.text);
  }
  std::erase_if(
      points, [](const MeetingPoint& point) { return !point.HasToBeAsked(); });
  if (points.empty()) return absl::OkStatus();
  contacts_.AwaitListing();
  rendezvous_ = std::make_unique<Rendezvous>(
      std::move(points), trust.has_certificate, std::move(wake), seed);
  return rendezvous_->status();
}

void JoinSources::Enter(AgentId agent, const std::string& address) {
  agent_ = agent;
  address_ = address;
  std::vector<std::string> ids;
  if (keys_ != nullptr) {
    ring_ = keys_->ring();
    for (const Key& key : ring_->keys()) ids.push_back(key.id());
  }
  if (rendezvous_ != nullptr) rendezvous_->Enter(agent, address, ids);
}

void JoinSources::Refresh() {
  if (rendezvous_ == nullptr) return;
  if (keys_ != nullptr && keys_->ring() != ring_) Enter(agent_, address_);
  if (contacts_.has_silent()) rendezvous_->NoteSilent(contacts_.TakeSilent());
  if (const auto addresses = rendezvous_->TakeNews()) {
    contacts_.SetListed(*addresses);
  }
}

bool JoinSources::ReadInput() {
  const std::vector<std::string> addresses = NextLines();
  for (const std::string& address : addresses) contacts_.AddGiven(address);
  return !addresses.empty();
}

std::vector<std::string> JoinSources::NextLines() {
  while (!IsToldToLeave()) {
    std::vector<std::string> lines = TakeLines();
    if (!lines.empty() || input_has_ended_) return lines;
    pollfd waiting = {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    // Not for ever: the signal may come just before this.
    if (poll(&waiting, 1, /*timeout=*/100) <= 0) continue;
    char buffer[4096];
    const ssize_t size = read(STDIN_FILENO, buffer, sizeof(buffer));
    input_has_ended_ = size == 0 || (size < 0 && errno != EINTR);
    if (size > 0) input_.append(buffer, static_cast<size_t>(size));
  }
  return {};
}

std::vector<std::string> JoinSources::TakeLines() {
  const size_t end = input_has_ended_ ? input_.size() : input_.rfind('\n') + 1;
  const std::string whole = input_.substr(0, end);
  input_.erase(0, end);
  return absl::StrSplit(whole, '\n', absl::SkipWhitespace());
}

}  // namespace dogged
