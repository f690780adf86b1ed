#include "runtime/sim/shared_memory.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dogged {

class SimArena::Mapped : public PeerArena {
 public:
  explicit Mapped(std::shared_ptr<const Slab> slab) : slab_(std::move(slab)) {}
  const void* At(int64_t offset, int64_t bytes) const override {
    const bool within =
        offset >= 0 && bytes >= 0 && offset <= slab_->bytes - bytes;
    return within ? slab_->memory + offset : nullptr;
  }
  std::optional<int64_t> OffsetOf(const void* data) const override {
    return slab_->OffsetOf(data);
  }
  bool HasEnded() const override { return slab_->has_ended; }

 private:
  const std::shared_ptr<const Slab> slab_;
};

SimArena::SimArena(Processes& processes, std::string host, int64_t bytes,
                   int64_t value_bytes_min)
    : processes_(processes),
      host_(std::move(host)),
      address_(absl::StrCat(host_, "/", processes.size())),
      value_bytes_min_(value_bytes_min),
      blocks_(0, bytes) {
  slab_->storage.resize(bytes + 64);
  const auto start = reinterpret_cast<uintptr_t>(slab_->storage.data());
  slab_->memory = slab_->storage.data() + (64 - start % 64) % 64;
  slab_->bytes = bytes;
  processes_[address_] = this;
}

SimArena::~SimArena() {
  ForgetAll();
  processes_[address_] = nullptr;
}

void SimArena::End() { slab_->has_ended = true; }

void* SimArena::Take(int64_t bytes) {
  if (bytes < value_bytes_min_) return nullptr;
  // Tables are emptied in an order that differs from process to process, and
  // where a value lies is said in messages: the first in front is taken.
  std::sort(given_back_.rbegin(), given_back_.rend());
  for (const auto& [offset, size] : given_back_) blocks_.Give(offset, size);
  given_back_.clear();
  const auto block = blocks_.Take(bytes);
  return block.has_value() ? slab_->memory + block->offset : nullptr;
}

void SimArena::Give(void* data, int64_t bytes) {
  if (!slab_->has_ended) std::memset(data, 0xdb, bytes);
  given_back_.emplace_back(static_cast<char*>(data) - slab_->memory, bytes);
}

std::optional<int64_t> SimArena::Slab::OffsetOf(const void* data) const {
  const auto* byte = static_cast<const char*>(data);
  if (byte < memory || byte >= memory + bytes) return std::nullopt;
  return byte - memory;
}

std::optional<int64_t> SimArena::OffsetOf(const void* data) const {
  return slab_->OffsetOf(data);
}

absl::StatusOr<std::shared_ptr<PeerArena>> SimArena::Map(
    absl::string_view address) {
  const auto found = processes_.find(std::string(address));
  if (found == processes_.end() || found->second == nullptr ||
      found->second->host_ != host_ || found->second->slab_->has_ended) {
    return absl::FailedPreconditionError("not of this host");
  }
  std::weak_ptr<PeerArena>& known = mapped_[std::string(address)];
  if (!known.expired()) return absl::UnavailableError("still in use");
  auto out = std::make_shared<Mapped>(found->second->slab_);
  known = out;
  return std::shared_ptr<PeerArena>(std::move(out));
}

}  // namespace dogged
