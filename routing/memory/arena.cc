#include "routing/memory/arena.h"

#include <utility>

namespace dogged {
namespace {

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
  if (options.huge_pages) file->UseHugePages();
  return std::unique_ptr<Arena>(new Arena(std::move(file), options));
}

Arena::Arena(std::unique_ptr<SharedFile> file, const ArenaOptions& options)
    : file_(std::move(file)),
      values_(*file_, {.start = SharedFile::kHeaderBytes,
                       .value_bytes_min = options.value_bytes_min,
                       .warm_bytes = options.warm_bytes}) {}

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
