#include "runtime/base/codec.h"

#include <bit>

#include "absl/strings/str_cat.h"

namespace dogged {

void Encoder::PutDouble(double value) {
  PutU64(std::bit_cast<uint64_t>(value));
}

void Encoder::PutVarint(uint64_t value) {
  while (value >= 0x80) {
    out_.push_back(static_cast<char>(value | 0x80));
    value >>= 7;
  }
  out_.push_back(static_cast<char>(value));
}

void Encoder::PutString(absl::string_view value) {
  PutVarint(value.size());
  PutRaw(value);
}

uint8_t Decoder::GetU8() { return GetFixed<uint8_t>(); }

double Decoder::GetDouble() { return std::bit_cast<double>(GetU64()); }

uint64_t Decoder::GetVarint() {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (input_.empty()) break;
    const auto byte = static_cast<uint8_t>(input_[0]);
    input_.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  Fail();
  return 0;
}

absl::string_view Decoder::GetString() {
  const uint64_t size = GetVarint();
  if (size > input_.size()) {
    Fail();
    return {};
  }
  return GetRaw(static_cast<int64_t>(size));
}

absl::string_view Decoder::GetRaw(int64_t size) {
  if (size < 0 || static_cast<uint64_t>(size) > input_.size()) {
    Fail();
    return {};
  }
  const absl::string_view out = input_.substr(0, size);
  input_.remove_prefix(size);
  return out;
}

int64_t Decoder::GetCount(int64_t bytes_each) {
  const uint64_t count = GetVarint();
  if (count > input_.size() / static_cast<uint64_t>(bytes_each)) {
    Fail();
    return 0;
  }
  return static_cast<int64_t>(count);
}

absl::Status Decoder::status(absl::string_view what) const {
  if (ok_) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, ": malformed bytes"));
}

absl::Status Decoder::Finish(absl::string_view what) const {
  if (ok_ && !input_.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, ": ", input_.size(), " bytes too many"));
  }
  return status(what);
}

}  // namespace dogged
