#include "runtime/agent/loop/file_writes.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dogged {

absl::Status FileWrites::CheckRoom(ConnectionId client) const {
  const auto it = pending_.find(client);
  if (it == pending_.end() || it->second < kPendingMax) {
    return absl::OkStatus();
  }
  return absl::ResourceExhaustedError(
      absl::StrCat("more than ", kPendingMax, " requests to write"));
}

absl::Status FileWrites::Add(ConnectionId client, WriteRequest request) {
  if (absl::Status room = CheckRoom(client); !room.ok()) return room;
  ++pending_[client];
  if (request.parts.empty() || !request.digests.empty()) {
    writer_.Submit(client, std::move(request), {});
    return absl::OkStatus();
  }
  const uint64_t number = next_++;
  Waiting& entry = waiting_[number];
  for (size_t i = 0; i < request.parts.size(); ++i) {
    wanted_[{request.job, request.parts[i].label}].emplace_back(number, i);
  }
  entry.client = client;
  entry.values.resize(request.parts.size());
  entry.missing = std::ssize(request.parts);
  entry.request = std::move(request);
  return absl::OkStatus();
}

void FileWrites::AddValue(JobId job, const Label& label, const Value& value) {
  const auto it = wanted_.find({job, label});
  if (it == wanted_.end()) return;
  const auto places = std::exchange(it->second, {});
  wanted_.erase(it);
  for (const auto& [number, part] : places) {
    const auto found = waiting_.find(number);
    if (found == waiting_.end()) continue;  // its client is gone
    Waiting& entry = found->second;
    entry.values[part] = value;
    if (--entry.missing > 0) continue;
    writer_.Submit(entry.client, std::move(entry.request),
                   std::move(entry.values));
    waiting_.erase(found);
  }
}

void FileWrites::Forget(ConnectionId client) {
  holds_.erase(client);
  if (pending_.erase(client) == 0) return;
  writer_.Forget(client);
  std::erase_if(waiting_, [client](const auto& entry) {
    return entry.second.client == client;
  });
  for (auto it = wanted_.begin(); it != wanted_.end();) {
    std::erase_if(it->second, [this](const auto& place) {
      return !waiting_.contains(place.first);
    });
    it = it->second.empty() ? wanted_.erase(it) : std::next(it);
  }
}

void FileWrites::SendDone(
    absl::FunctionRef<void(ConnectionId, const WrittenReply&)> send) {
  for (const auto& [client, reply] : writer_.TakeDone()) {
    const auto it = pending_.find(client);
    if (it == pending_.end()) continue;  // it has gone
    --it->second;
    send(client, reply);
  }
}

}  // namespace dogged
