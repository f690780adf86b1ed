#include "runtime/job/context/job_messages.h"

#include <algorithm>

#include "runtime/base/codec.h"
#include "runtime/base/status.h"
#include "runtime/base/wire_version.h"

namespace dogged {

Bytes EncodeLookup(const LookupBody& body) {
  Encoder out;
  body.label.Encode(out);
  out.PutBool(body.insist);
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<LookupBody> DecodeLookup(absl::string_view body) {
  Decoder in(body);
  LookupBody out;
  out.label = Label::Decode(in);
  out.insist = in.GetBool();
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "lookup"));
  return out;
}

Bytes EncodeAnswer(const AnswerBody& body) {
  Encoder out;
  body.label.Encode(out);
  out.PutU8(static_cast<uint8_t>(body.state));
  out.PutBool(body.newest.has_value());
  out.PutSigned(body.newest.value_or(0));
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<AnswerBody> DecodeAnswer(absl::string_view body) {
  Decoder in(body);
  AnswerBody out;
  out.label = Label::Decode(in);
  const uint8_t state = in.GetU8();
  if (state > static_cast<uint8_t>(LabelState::kRetired)) in.Fail();
  const bool has_newest = in.GetBool();
  const int64_t newest = in.GetSigned();
  if (has_newest) out.newest = newest;
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "answer"));
  out.state = static_cast<LabelState>(state);
  return out;
}

Bytes EncodeClaim(const ClaimBody& body) {
  Encoder out;
  body.task.Encode(out);
  body.wanted.Encode(out);
  out.PutBool(body.granted);
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<ClaimBody> DecodeClaim(absl::string_view body) {
  Decoder in(body);
  ClaimBody out;
  out.task = Task::Decode(in);
  out.wanted = Label::Decode(in);
  out.granted = in.GetBool();
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "claim"));
  return out;
}

Bytes EncodeSteal(const StealBody& body) {
  Encoder out;
  out.PutVarint(static_cast<uint64_t>(body.count));
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<StealBody> DecodeSteal(absl::string_view body) {
  constexpr uint64_t kCountMax = 1 << 16;
  Decoder in(body);
  StealBody out;
  out.count = static_cast<int64_t>(std::min(in.GetVarint(), kCountMax));
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "steal"));
  return out;
}

}  // namespace dogged
