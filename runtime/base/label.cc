#include "runtime/base/label.h"

#include "absl/strings/str_cat.h"

namespace dogged {

void IndexVector::Encode(Encoder& out) const {
  out.PutU8(static_cast<uint8_t>(size_));
  for (int64_t value : *this) out.PutSigned(value);
}

IndexVector IndexVector::Decode(Decoder& in) {
  IndexVector out;
  const int size = in.GetU8();
  if (size > kMaxIndices) {
    in.Fail();
    return out;
  }
  for (int i = 0; i < size; ++i) out.push_back(in.GetSigned());
  return out;
}

std::string IndexVector::ToString() const {
  std::string out;
  for (int64_t value : *this) absl::StrAppend(&out, "(", value, ")");
  return out;
}

void Label::Encode(Encoder& out) const {
  out.PutVarint(static_cast<uint64_t>(array));
  index.Encode(out);
}

Label Label::Decode(Decoder& in) {
  Label out;
  const uint64_t array = in.GetVarint();
  if (array > 0x7fffffff) {
    in.Fail();
    return out;
  }
  out.array = static_cast<int32_t>(array);
  out.index = IndexVector::Decode(in);
  return out;
}

std::string Label::ToString(absl::string_view array_name) const {
  return absl::StrCat(array_name, index.ToString());
}

}  // namespace dogged
