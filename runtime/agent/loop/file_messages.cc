#include "runtime/agent/loop/file_messages.h"

#include "runtime/base/status.h"
#include "runtime/base/wire_version.h"

namespace dogged {
namespace {

void PutDigests(const std::vector<Digest>& digests, Encoder& out) {
  out.PutVarint(digests.size());
  for (const Digest& digest : digests) {
    out.PutU64(digest.high);
    out.PutU64(digest.low);
  }
}

std::vector<Digest> GetDigests(Decoder& in) {
  std::vector<Digest> out;
  const int64_t count = in.GetCount(16);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    Digest digest;
    digest.high = in.GetU64();
    digest.low = in.GetU64();
    out.push_back(digest);
  }
  return out;
}

}  // namespace

int64_t FilePart::bytes() const {
  int64_t out = element_bytes;
  for (const int64_t n : count) out *= n;
  return out;
}

void FilePart::EncodeTo(Encoder& out) const {
  label.Encode(out);
  extents.Encode(out);
  first.Encode(out);
  count.Encode(out);
  stride.Encode(out);
  out.PutSigned(offset);
  out.PutSigned(element_bytes);
}

FilePart FilePart::DecodeFrom(Decoder& in) {
  FilePart out;
  out.label = Label::Decode(in);
  out.extents = IndexVector::Decode(in);
  out.first = IndexVector::Decode(in);
  out.count = IndexVector::Decode(in);
  out.stride = IndexVector::Decode(in);
  out.offset = in.GetSigned();
  out.element_bytes = in.GetSigned();
  return out;
}

Bytes WriteRequest::Encode() const {
  Encoder out;
  out.PutId(job);
  out.PutU64(number);
  out.PutString(path);
  out.PutU64(mark.high);
  out.PutU64(mark.low);
  out.PutVarint(parts.size());
  for (const FilePart& part : parts) part.EncodeTo(out);
  PutDigests(digests, out);
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<WriteRequest> WriteRequest::Decode(absl::string_view body) {
  Decoder in(body);
  WriteRequest out;
  out.job = in.GetId<JobId>();
  out.number = in.GetU64();
  out.path = std::string(in.GetString());
  out.mark.high = in.GetU64();
  out.mark.low = in.GetU64();
  const int64_t count = in.GetCount(8);
  if (count > WriteRequest::kPartsMax) in.Fail();
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    out.parts.push_back(FilePart::DecodeFrom(in));
  }
  out.digests = GetDigests(in);
  if (!out.digests.empty() && out.digests.size() != out.parts.size()) in.Fail();
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "write request"));
  return out;
}

Bytes WrittenReply::Encode() const {
  Encoder out;
  out.PutU64(number);
  out.PutSigned(static_cast<int>(status.code()));
  out.PutString({status.message().data(), status.message().size()});
  PutDigests(digests, out);
  out.PutSigned(not_finite);
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<WrittenReply> WrittenReply::Decode(absl::string_view body) {
  Decoder in(body);
  WrittenReply out;
  out.number = in.GetU64();
  const auto code = static_cast<absl::StatusCode>(in.GetSigned());
  const absl::string_view message = in.GetString();
  out.status = absl::Status(code, message);
  out.digests = GetDigests(in);
  out.not_finite = in.GetSigned();
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "written"));
  return out;
}

}  // namespace dogged
