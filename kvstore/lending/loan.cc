#include "kvstore/lending/loan.h"

#include <cstdint>
#include <optional>

namespace dogged {

std::optional<int64_t> Loan::Bytes() const {
  constexpr int64_t kBytesMax = INT64_MAX / 2;
  int64_t bytes = ElementBytes(type);
  for (int64_t extent : shape) {
    if (extent < 1 || bytes > kBytesMax / extent) return std::nullopt;
    bytes *= extent;
  }
  return bytes;
}

void Loan::EncodeTo(Encoder& encoder) const {
  encoder.PutVarint(number);
  encoder.PutVarint(static_cast<uint64_t>(offset));
  encoder.PutU64(digest.low);
  encoder.PutU64(digest.high);
  encoder.PutU8(static_cast<uint8_t>(type));
  shape.Encode(encoder);
}

Loan Loan::DecodeFrom(Decoder& decoder) {
  Loan out;
  out.number = decoder.GetVarint();
  out.offset = static_cast<int64_t>(decoder.GetVarint());
  out.digest.low = decoder.GetU64();
  out.digest.high = decoder.GetU64();
  const uint8_t type = decoder.GetU8();
  if (type > static_cast<uint8_t>(ElementType::kInt64)) decoder.Fail();
  out.type = static_cast<ElementType>(type);
  out.shape = Shape::Decode(decoder);
  return out;
}

}  // namespace dogged
