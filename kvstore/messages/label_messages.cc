#include "kvstore/messages/label_messages.h"

#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "runtime/base/codec.h"
#include "runtime/base/status.h"
#include "runtime/base/wire_version.h"

namespace dogged {
namespace {

// Data of a value is shared from so many bytes on: copies of less are cheaper,
// and may share a message.
constexpr int64_t kSharedBytesMin = 4096;

void PutReader(const std::optional<Reader>& reader, Encoder& out) {
  out.PutBool(reader.has_value());
  if (reader.has_value()) reader->Encode(out);
}

std::optional<Reader> GetReader(Decoder& in) {
  if (!in.GetBool()) return std::nullopt;
  return Reader::Decode(in);
}

DemandKind GetDemandKind(Decoder& in) {
  const bool is_certain = in.GetBool();
  const bool is_insistent = in.GetBool();
  const bool is_fetch = in.GetBool();
  if (is_fetch ? is_certain || is_insistent : is_insistent && !is_certain) {
    in.Fail();
  }
  if (is_fetch) return DemandKind::kFetch;
  return is_insistent ? DemandKind::kInsistent : GuessOrCertain(is_certain);
}

void PutRows(const std::vector<std::pair<Label, int64_t>>& rows, Encoder& out) {
  out.PutVarint(rows.size());
  for (const auto& [row, version] : rows) {
    row.Encode(out);
    out.PutSigned(version);
  }
}

std::vector<std::pair<Label, int64_t>> GetRows(Decoder& in) {
  std::vector<std::pair<Label, int64_t>> out;
  const int64_t count = in.GetCount(3);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    const Label row = Label::Decode(in);
    out.emplace_back(row, in.GetSigned());
  }
  return out;
}

void PutDigests(const std::vector<RowDigests>& rows, Encoder& out) {
  out.PutVarint(rows.size());
  for (const RowDigests& row : rows) {
    row.row.Encode(out);
    out.PutVarint(row.versions.size());
    for (const auto& [version, digest] : row.versions) {
      out.PutSigned(version);
      out.PutU64(digest.low);
      out.PutU64(digest.high);
    }
  }
}

std::vector<RowDigests> GetDigests(Decoder& in) {
  std::vector<RowDigests> out;
  const int64_t rows = in.GetCount(3);
  for (int64_t i = 0; i < rows && in.ok(); ++i) {
    RowDigests row{.row = Label::Decode(in), .versions = {}};
    const int64_t versions = in.GetCount(17);
    for (int64_t j = 0; j < versions && in.ok(); ++j) {
      const int64_t version = in.GetSigned();
      const uint64_t low = in.GetU64();
      row.versions.emplace_back(version, Digest{low, in.GetU64()});
    }
    out.push_back(std::move(row));
  }
  return out;
}

// Decodes concatenated bodies.
template <typename Body>
absl::StatusOr<std::vector<Body>> DecodeAll(
    absl::string_view bodies, absl::string_view what,
    absl::FunctionRef<Body(Decoder&)> decode) {
  Decoder in(bodies);
  std::vector<Body> out;
  do {
    out.push_back(decode(in));
  } while (in.ok() && in.remaining() > 0);
  DOGGED_RETURN_IF_ERROR(in.status(what));
  return out;
}

}  // namespace

Bytes EncodePublish(const Label& label, const Value& value) {
  Encoder out;
  label.Encode(out);
  value.Encode(out);
  return Bytes(out.Take());
}

SplitBytes SharePublish(const Label& label, const Value& value) {
  if (value.bytes() < kSharedBytesMin) return EncodePublish(label, value);
  Encoder out;
  label.Encode(out);
  value.EncodeHead(out);
  auto owner = std::make_shared<const Value>(value);
  const absl::string_view data = owner->view();
  return {Bytes(out.Take()), Bytes(std::move(owner), data)};
}

absl::StatusOr<std::vector<PublishBody>> DecodePublish(const Bytes& body) {
  absl::Status bad_value;
  auto out = DecodeAll<PublishBody>(body.view(), "publish", [&](Decoder& in) {
    PublishBody one{.label = Label::Decode(in)};
    absl::StatusOr<Value> value = Value::Decode(in, body);
    if (value.ok()) {
      one.value = *std::move(value);
    } else {
      bad_value = value.status();
      in.Fail();
    }
    return one;
  });
  if (!bad_value.ok()) return bad_value;
  return out;
}

Bytes EncodeLend(const LendBody& body) {
  Encoder out;
  body.label.Encode(out);
  body.loan.EncodeTo(out);
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<LendBody> DecodeLend(absl::string_view body) {
  Decoder in(body);
  LendBody out;
  out.label = Label::Decode(in);
  out.loan = Loan::DecodeFrom(in);
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "lend"));
  return out;
}

Bytes EncodeAnnounce(const AnnounceBody& body) {
  Encoder out;
  body.label.Encode(out);
  out.PutU64(body.digest.low);
  out.PutU64(body.digest.high);
  return Bytes(out.Take());
}

absl::StatusOr<std::vector<AnnounceBody>> DecodeAnnounce(
    absl::string_view body) {
  return DecodeAll<AnnounceBody>(body, "announce", [](Decoder& in) {
    AnnounceBody out;
    out.label = Label::Decode(in);
    out.digest.low = in.GetU64();
    out.digest.high = in.GetU64();
    return out;
  });
}

Bytes EncodeDemand(const DemandBody& body) {
  Encoder out;
  body.label.Encode(out);
  PutReader(body.reader, out);
  out.PutSigned(body.depth);
  out.PutBool(body.IsCertain());
  out.PutBool(body.kind == DemandKind::kInsistent);
  out.PutBool(body.kind == DemandKind::kFetch);
  return Bytes(out.Take());
}

absl::StatusOr<std::vector<DemandBody>> DecodeDemand(absl::string_view body) {
  return DecodeAll<DemandBody>(body, "demand", [](Decoder& in) {
    DemandBody out;
    out.label = Label::Decode(in);
    out.reader = GetReader(in);
    out.depth = static_cast<int32_t>(in.GetSigned());
    out.kind = GetDemandKind(in);
    return out;
  });
}

Bytes EncodeDone(const DoneBody& body) {
  Encoder out;
  body.label.Encode(out);
  PutReader(body.reader, out);
  if (!body.reader.has_value()) {
    out.PutVarint(body.all.count);
    out.PutU64(body.all.hash_sum);
  }
  return Bytes(out.Take());
}

absl::StatusOr<std::vector<DoneBody>> DecodeDone(absl::string_view body) {
  return DecodeAll<DoneBody>(body, "done", [](Decoder& in) {
    DoneBody out;
    out.label = Label::Decode(in);
    out.reader = GetReader(in);
    if (!out.reader.has_value()) {
      out.all.count = in.GetVarint();
      out.all.hash_sum = in.GetU64();
    }
    return out;
  });
}

Bytes EncodeRetired(const RetiredBody& body) {
  Encoder out;
  body.label.Encode(out);
  PutReader(body.reader, out);
  return Bytes(out.Take());
}

Bytes EncodeWatermarks(const WatermarksBody& body) {
  Encoder out;
  PutRows(body.done, out);
  PutRows(body.retired, out);
  PutDigests(body.digests, out);
  out.PutBool(body.handover_complete);
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<WatermarksBody> DecodeWatermarks(absl::string_view body) {
  Decoder in(body);
  WatermarksBody out;
  out.done = GetRows(in);
  out.retired = GetRows(in);
  out.digests = GetDigests(in);
  out.handover_complete = in.GetBool();
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "watermarks"));
  return out;
}

absl::StatusOr<std::vector<RetiredBody>> DecodeRetired(absl::string_view body) {
  return DecodeAll<RetiredBody>(body, "retired", [](Decoder& in) {
    RetiredBody out;
    out.label = Label::Decode(in);
    out.reader = GetReader(in);
    return out;
  });
}

}  // namespace dogged
