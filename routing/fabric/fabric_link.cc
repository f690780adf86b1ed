#include "routing/fabric/fabric_link.h"

#include <rdma/fi_errno.h>

#include <algorithm>
#include <cstring>

#include "absl/strings/string_view.h"
#include "runtime/base/check.h"
#include "runtime/base/codec.h"

namespace dogged {
namespace {

constexpr uint32_t kLinkMagic = 0x47474f44;
// Agents at rest tell one another no more.
constexpr int64_t kSmallBytes = 16 << 10;

static_assert(sizeof(fi_context2) <= sizeof(FabricOperation::context));

}  // namespace

FabricLink::Outgoing::Outgoing(Bytes head_part, Bytes body_part)
    : head(std::move(head_part)), body(std::move(body_part)) {
  Encoder encoder;
  encoder.PutU32(kLinkMagic);
  encoder.PutU64(static_cast<uint64_t>(bytes()));
  DOGGED_CHECK(encoder.size() == kHeadBytes);
  std::memcpy(link_head.data(), encoder.view().data(), link_head.size());
  pieces[0] = {link_head.data(), link_head.size()};
  pieces[1] = {const_cast<char*>(head.data()),
               static_cast<size_t>(head.size())};
  pieces[2] = {const_cast<char*>(body.data()),
               static_cast<size_t>(body.size())};
}

FabricLink::Lost FabricLink::Close() {
  endpoint_.reset();
  Lost lost;
  for (const auto& message : sending_) {
    ++lost.messages;
    lost.bytes += message->bytes();
  }
  return lost;
}

void FabricLink::Add(Bytes head, Bytes body) {
  sending_.push_back(
      std::make_unique<Outgoing>(std::move(head), std::move(body)));
  sending_.back()->link = this;
}

FabricLink::Handed FabricLink::HandOver() {
  for (const auto& message : sending_) {
    if (message->is_handed) continue;
    const ssize_t code = fi_sendv(endpoint_.get(), message->pieces.data(),
                                  nullptr, message->body.empty() ? 2 : 3,
                                  FI_ADDR_UNSPEC, &message->context);
    if (code == -FI_EAGAIN) return Handed::kAgain;
    if (code != 0) return Handed::kBroken;
    ++operation_count_;
    message->is_handed = true;
  }
  return Handed::kAll;
}

ssize_t FabricLink::Receive(BufferPool& pool) {
  if (buffer_.bytes == nullptr) buffer_ = pool.Take();
  const std::array<iovec, 2> pieces = {
      {{head_.data(), head_.size()},
       {buffer_.bytes.get(), static_cast<size_t>(pool.buffer_bytes())}}};
  receiving_.link = this;
  const ssize_t code =
      fi_recvv(endpoint_.get(), pieces.data(), nullptr, pieces.size(),
               FI_ADDR_UNSPEC, &receiving_.context);
  if (code == 0) ++operation_count_;
  return code;
}

FabricLink::Completed FabricLink::Complete(
    absl::Time now, const FabricOperation* operation, int64_t bytes,
    const std::shared_ptr<BufferPool>& pool) {
  --operation_count_;
  Completed completed;
  if (IsClosed()) return completed;
  if (operation != &receiving_) {
    // In order, as they were handed over.
    DOGGED_CHECK(!sending_.empty() && operation == sending_.front().get());
    completed.sent_bytes = sending_.front()->bytes();
    sending_.pop_front();
    return completed;
  }
  Decoder decoder({head_.data(), head_.size()});
  const uint32_t magic = decoder.GetU32();
  const auto length = static_cast<int64_t>(decoder.GetU64());
  if (bytes < kHeadBytes || magic != kLinkMagic ||
      length != bytes - kHeadBytes) {
    completed.is_sound = false;
    return completed;
  }
  buffer_.filled = std::max(buffer_.filled, length);
  if (length > kSmallBytes) pool->NoteLong(now);
  // A short message is copied, so that it does not hold a long buffer.
  if (length < pool->buffer_bytes() / 4) {
    completed.message =
        Bytes::CopyOf({buffer_.bytes.get(), static_cast<size_t>(length)});
  } else {
    completed.message = BufferPool::Wrap(pool, std::move(buffer_), length);
  }
  if (pool->IsAtRest(now)) {
    pool->Trim();
    if (buffer_.filled > kSmallBytes) BufferPool::ReturnPages(buffer_);
  }
  completed.is_sound = Receive(*pool) == 0;
  return completed;
}

}  // namespace dogged
