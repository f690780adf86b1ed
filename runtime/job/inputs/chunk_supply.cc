#include "runtime/job/inputs/chunk_supply.h"

#include "absl/strings/str_cat.h"

namespace dogged {

void ChunkSupply::SetClient(bool is_there) {
  asked_.clear();
  first_.clear();
  asked_bytes_ = 0;
  next_ = 0;
  has_client_ = is_there;
}

int64_t ChunkSupply::Next() {
  while (!first_.empty()) {
    const int64_t at = first_.front();
    first_.pop_front();
    if (IsMissing(at)) return at;
  }
  while (next_ < layout_.size()) {
    const int64_t at = next_++;
    if (IsMissing(at)) return at;
    if (held_.IsHere(at)) Count(at);
  }
  return -1;
}

std::vector<ChunkId> ChunkSupply::TakeWishes() {
  std::vector<ChunkId> out;
  while (has_client_ && asked_bytes_ < bytes_max_ && !held_.IsDiskBehind()) {
    const int64_t at = Next();
    if (at < 0) break;
    asked_.insert(at);
    asked_bytes_ += layout_.BytesOf(at);
    out.push_back(layout_.IdOf(at));
  }
  return out;
}

absl::StatusOr<Value> ChunkSupply::Take(int64_t at, absl::string_view bytes) {
  Value value = layout_.ValueOf(at, bytes);
  if (value.IsNone() || value.digest() != layout_.DigestOf(at)) {
    return absl::FailedPreconditionError(
        absl::StrCat("input ", layout_.NameOf(layout_.IdOf(at).input),
                     ": its file is not what it was when the job was "
                     "submitted; run again once it is written"));
  }
  if (asked_.erase(at) > 0) asked_bytes_ -= value.bytes();
  Count(at);
  return value;
}

void ChunkSupply::Count(int64_t at) {
  if (counted_.insert(at).second) supplied_bytes_ += layout_.BytesOf(at);
}

}  // namespace dogged
