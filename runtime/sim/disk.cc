#include "runtime/sim/disk.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

// A request takes up to this long, a sync starts this long after the first put
// that it makes durable.
constexpr int64_t kRequestMicrosMax = 500;
constexpr absl::Duration kSyncInterval = absl::Milliseconds(20);

}  // namespace

void SimDisk::Put(const std::string& key, std::string value) {
  Erase(key);
  bytes += static_cast<int64_t>(key.size() + value.size());
  content[key] = std::move(value);
}

void SimDisk::Erase(const std::string& key) {
  const auto it = content.find(key);
  if (it == content.end()) return;
  bytes -= static_cast<int64_t>(key.size() + it->second.size());
  content.erase(it);
}

SimEngine::SimEngine(EventQueue& queue, SimDisk& disk, const DiskFaults& faults,
                     Rng rng, std::function<void()> wake)
    : queue_(queue),
      disk_(disk),
      faults_(faults),
      rng_(rng),
      wake_(std::move(wake)),
      cached_(disk) {}

SimEngine::~SimEngine() {
  *alive_ = false;
  std::map<std::string, bool> keys;
  for (const auto& [key, value] : disk_.content) keys[key] = true;
  for (const auto& [key, value] : cached_.content) keys[key] = true;
  for (const auto& [key, unused] : keys) {
    const auto now = cached_.content.find(key);
    const auto old = disk_.content.find(key);
    const bool is_same = now != cached_.content.end() &&
                         old != disk_.content.end() &&
                         now->second == old->second;
    if (is_same || rng_.Chance(0.5)) continue;
    if (now == cached_.content.end()) {
      disk_.Erase(key);
    } else {
      disk_.Put(key, now->second);
    }
  }
}

void SimEngine::Submit(EngineRequest request) {
  // Memory made and freed in an agent's own events is the agent's.
  request.value =
      Bytes(absl::StrCat(request.value.view(), request.rest.view()));
  request.rest = Bytes();
  const absl::Duration time =
      absl::Microseconds(1 + rng_.Below(kRequestMicrosMax));
  busy_ += time;
  busy_until_ = std::max(busy_until_, queue_.now()) + time;
  queue_.At(busy_until_,
            [this, alive = alive_, request = std::move(request)]() {
              if (*alive) Serve(request);
            });
}

void SimEngine::Poll(std::vector<EngineReply>& replies) {
  for (EngineReply& reply : replies_) replies.push_back(std::move(reply));
  replies_.clear();
}

bool SimEngine::IsFull() const {
  return faults_.bytes_max > 0 && cached_.bytes > faults_.bytes_max;
}

void SimEngine::Serve(const EngineRequest& request) {
  EngineReply reply{.kind = request.kind, .ticket = request.ticket};
  switch (request.kind) {
    case EngineRequest::Kind::kGet:
      Get(request, reply);
      break;
    case EngineRequest::Kind::kPut:
      cached_.Put(request.key, std::string(request.value.view()));
      if (IsFull()) {
        cached_.Erase(request.key);
        reply.status = absl::ResourceExhaustedError("the disk is full");
        break;
      }
      unsynced_.push_back(std::move(reply));
      if (!sync_is_due_) {
        sync_is_due_ = true;
        queue_.After(kSyncInterval, [this, alive = alive_] {
          if (*alive) Sync();
        });
      }
      return;
    case EngineRequest::Kind::kErase:
      cached_.Erase(request.key);
      break;
    case EngineRequest::Kind::kErasePrefix:
      while (true) {
        const auto it = cached_.content.lower_bound(request.key);
        if (it == cached_.content.end() ||
            !absl::StartsWith(it->first, request.key)) {
          break;
        }
        cached_.Erase(std::string(it->first));
      }
      break;
    case EngineRequest::Kind::kScan:
      Scan(request, reply);
      break;
  }
  Reply(std::move(reply));
}

Bytes SimEngine::Read(const std::string& value) {
  std::string out = value;
  if (!out.empty() && rng_.Chance(faults_.corrupt)) {
    const auto at = static_cast<size_t>(rng_.Below(std::ssize(out)));
    out[at] = static_cast<char>(out[at] ^ (1 << rng_.Below(8)));
  }
  return Bytes(std::move(out));
}

void SimEngine::Get(const EngineRequest& request, EngineReply& reply) {
  const auto it = cached_.content.find(request.key);
  if (it == cached_.content.end()) {
    reply.status = absl::NotFoundError("no such key");
  } else {
    reply.value = Read(it->second);
  }
}

void SimEngine::Scan(const EngineRequest& request, EngineReply& reply) {
  int64_t bytes = 0;
  for (auto it =
           cached_.content.lower_bound(std::max(request.key, request.after));
       it != cached_.content.end() && absl::StartsWith(it->first, request.key);
       ++it) {
    if (it->first == request.after) continue;
    if (bytes >= request.bytes_max) {
      reply.more = true;
      break;
    }
    reply.found.emplace_back(it->first, Read(it->second));
    bytes += std::ssize(it->second);
  }
}

void SimEngine::Sync() {
  sync_is_due_ = false;
  if (!cached_.has_lost && rng_.Chance(faults_.lose)) {
    cached_.has_lost = true;
    for (const auto& [key, value] : disk_.content) cached_.Erase(key);
  }
  disk_ = cached_;
  for (EngineReply& reply : std::exchange(unsynced_, {})) {
    Reply(std::move(reply));
  }
}

void SimEngine::Reply(EngineReply reply) {
  replies_.push_back(std::move(reply));
  wake_();
}

}  // namespace dogged
