#include "routing/transport/envelope.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/codec.h"
#include "runtime/base/hash.h"

namespace dogged {
namespace {

constexpr uint32_t kEnvelopeMagic = 0x44474f44;  // "DOGD"
// The layout of the envelope alone, see docs/WIRE.md.
constexpr uint8_t kVersion = 1;
constexpr int64_t kChecksumOffset = Envelope::kBytes - 8;

absl::StatusOr<Message> Refuse(Bytes& bytes, absl::string_view why) {
  const int64_t size = bytes.size();
  bytes = Bytes();
  return absl::InvalidArgumentError(
      absl::StrCat("message of ", size, " bytes: ", why));
}

}  // namespace

void AppendHead(Envelope head, absl::string_view first_piece,
                absl::string_view rest, std::string& out) {
  head.length = static_cast<int64_t>(first_piece.size() + rest.size());
  Encoder encoder;
  encoder.PutU32(kEnvelopeMagic);
  encoder.PutU8(kVersion);
  encoder.PutU8(head.kind);
  encoder.PutU8(static_cast<uint8_t>(head.flags));
  encoder.PutU8(static_cast<uint8_t>(head.flags >> 8));
  encoder.PutId(head.source);
  encoder.PutId(head.target);
  encoder.PutId(head.view);
  encoder.PutId(head.job);
  encoder.PutU64(static_cast<uint64_t>(head.length));
  encoder.PutU64(Hash64(first_piece, rest, Hash64(encoder.view())));
  out.append(encoder.view().data(), encoder.view().size());
  out.append(first_piece.data(), first_piece.size());
}

void AppendMessage(const Envelope& head, absl::string_view first_piece,
                   absl::string_view rest, std::string& out) {
  AppendHead(head, first_piece, rest, out);
  out.append(rest.data(), rest.size());
}

absl::StatusOr<Message> TakeMessage(Bytes& bytes) {
  if (bytes.size() < Envelope::kBytes) return Refuse(bytes, "too short");
  Decoder decoder(bytes.view());
  if (decoder.GetU32() != kEnvelopeMagic) return Refuse(bytes, "not ours");
  if (decoder.GetU8() != kVersion) return Refuse(bytes, "another version");
  Message message;
  Envelope& head = message.head;
  head.kind = decoder.GetU8();
  head.flags = decoder.GetU8();
  head.flags = static_cast<uint16_t>(head.flags | decoder.GetU8() << 8);
  head.source = decoder.GetId<AgentId>();
  head.target = decoder.GetId<AgentId>();
  head.view = decoder.GetId<ViewDigest>();
  head.job = decoder.GetId<JobId>();
  const uint64_t length = decoder.GetU64();
  const uint64_t checksum = decoder.GetU64();
  if (length > static_cast<uint64_t>(decoder.remaining())) {
    return Refuse(bytes, "claims a longer body");
  }
  head.length = static_cast<int64_t>(length);
  message.body = bytes.Slice(Envelope::kBytes, head.length);
  // It covers the header without its last field, and the body.
  if (Hash64(message.body.view(),
             Hash64(bytes.view().substr(0, kChecksumOffset))) != checksum) {
    return Refuse(bytes, "wrong checksum");
  }
  const int64_t taken = Envelope::kBytes + head.length;
  bytes = bytes.Slice(taken, bytes.size() - taken);
  return message;
}

}  // namespace dogged
