#include "routing/arena.h"

#include <algorithm>
#include <utility>

namespace dogged {
namespace {

// Pages of so many free bytes stay for the next values, and half as many as
// are in use; beyond that those of blocks of this size go back to the system.
constexpr int64_t kFreeBytesKept = 64 << 20;
constexpr int64_t kPunchBytesMin = 16 << 10;

std::optional<int64_t> OffsetWithin(const void* data, const char* memory,
                                    int64_t bytes) {
  const auto* byte = static_cast<const char*>(data);
  const bool within =
      byte >= memory + SharedFile::kHeaderBytes && byte < memory + bytes;
  if (!within) return std::nullopt;
  return byte - memory;
}

class MappedArena : public PeerArena {
 public:
  explicit MappedArena(std::unique_ptr<PeerFile> file)
      : file_(std::move(file)) {}
  const void* At(int64_t offset, int64_t bytes) const override {
    const bool within = offset >= SharedFile::kHeaderBytes && bytes >= 0 &&
                        offset % 64 == 0 && offset <= file_->bytes() - bytes;
    return within ? file_->memory() + offset : nullptr;
  }
  std::optional<int64_t> OffsetOf(const void* data) const override {
    return OffsetWithin(data, file_->memory(), file_->bytes());
  }
  bool HasEnded() const override { return file_->HasEnded(); }

 private:
  const std::unique_ptr<PeerFile> file_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<PeerArena>> MapArena(absl::string_view address) {
  auto file = PeerFile::Map(address);
  if (!file.ok()) return file.status();
  return std::make_shared<MappedArena>(*std::move(file));
}

std::unique_ptr<Arena> Arena::Create(const ArenaOptions& options) {
  std::unique_ptr<SharedFile> file =
      SharedFile::Create(options.bytes, options.token);
  if (file == nullptr ||
      file->bytes() < SharedFile::kHeaderBytes + options.warm_bytes) {
    return nullptr;
  }
  return std::unique_ptr<Arena>(new Arena(std::move(file), options));
}

Arena::Arena(std::unique_ptr<SharedFile> file, const ArenaOptions& options)
    : file_(std::move(file)),
      value_bytes_min_(std::max<int64_t>(1, options.value_bytes_min)),
      blocks_(SharedFile::kHeaderBytes,
              file_->bytes() - SharedFile::kHeaderBytes, options.warm_bytes) {
  if (options.warm_bytes > 0) {
    file_->Populate(SharedFile::kHeaderBytes, options.warm_bytes);
  }
}

void* Arena::Take(int64_t bytes) {
  if (bytes < value_bytes_min_) return nullptr;
  std::optional<ArenaBlocks::Taken> block;
  {
    const std::lock_guard lock(mutex_);
    block = blocks_.Take(bytes);
  }
  if (!block.has_value()) return nullptr;
  if (!block->is_backed) file_->Populate(block->offset, bytes);
  return file_->memory() + block->offset;
}

void Arena::Give(void* data, int64_t bytes) {
  const int64_t offset = static_cast<char*>(data) - file_->memory();
  int64_t kept = 0;
  {
    const std::lock_guard lock(mutex_);
    blocks_.Give(offset, bytes);
    kept = kFreeBytesKept + blocks_.used_bytes() / 2;
    if (blocks_.backed_bytes() <= kept) return;
  }
  ReturnPages(kept);
}

void Arena::ReturnPages(int64_t kept) {
  std::vector<ArenaBlocks::Block> blocks;
  {
    const std::lock_guard lock(mutex_);
    blocks = blocks_.TakeBacked(kept, kPunchBytesMin);
  }
  // Slow, so beside the lock; nobody else has them meanwhile.
  for (const auto& [offset, bytes] : blocks) file_->Punch(offset, bytes);
  const std::lock_guard lock(mutex_);
  for (const ArenaBlocks::Block& block : blocks) blocks_.GiveHollow(block);
}

int64_t Arena::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return blocks_.used_bytes();
}

std::optional<int64_t> Arena::OffsetOf(const void* data) const {
  return OffsetWithin(data, file_->memory(), file_->bytes());
}

absl::StatusOr<std::shared_ptr<PeerArena>> Arena::Map(
    absl::string_view address) {
  std::erase_if(mapped_,
                [](const auto& entry) { return entry.second.expired(); });
  if (mapped_.contains(std::string(address))) {
    return absl::UnavailableError("arena: still in use");
  }
  auto out = MapArena(address);
  if (out.ok()) mapped_[std::string(address)] = *out;
  return out;
}

}  // namespace dogged
