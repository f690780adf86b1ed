// Encoder and Decoder: the one way in which structures become bytes.
// Little-endian fixed integers, varints, length-prefixed strings.
//
// A Decoder checks every read; after the first failure all reads give zero
// values and `status()` says where. So callers read a whole message and check
// once at the end.
#ifndef DOGGED_RUNTIME_BASE_CODEC_H_
#define DOGGED_RUNTIME_BASE_CODEC_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/base/ids.h"

namespace dogged {

class Encoder {
 public:
  void PutU8(uint8_t value) { out_.push_back(static_cast<char>(value)); }
  void PutBool(bool value) { PutU8(value ? 1 : 0); }
  void PutU32(uint32_t value) { PutFixed(value); }
  void PutU64(uint64_t value) { PutFixed(value); }
  void PutDouble(double value);
  // 1 to 10 bytes, 7 bits each.
  void PutVarint(uint64_t value);
  // Zigzag, so that small negative numbers are short too.
  void PutSigned(int64_t value) {
    PutVarint((static_cast<uint64_t>(value) << 1) ^
              static_cast<uint64_t>(value >> 63));
  }
  // Varint length, then the bytes.
  void PutString(absl::string_view value);
  // The bytes alone.
  void PutRaw(absl::string_view value) {
    out_.append(value.data(), value.size());
  }
  template <typename Tag>
  void PutId(Id<Tag> id) {
    PutU64(id.value());
  }

  int64_t size() const { return std::ssize(out_); }
  absl::string_view view() const { return out_; }
  std::string Take() { return std::move(out_); }

 private:
  template <typename T>
  void PutFixed(T value) {
    char bytes[sizeof(T)];
    for (unsigned i = 0; i < sizeof(T); ++i) {
      bytes[i] = static_cast<char>(value >> (8 * i));
    }
    out_.append(bytes, sizeof(T));
  }
  std::string out_;
};

class Decoder {
 public:
  // Reads `input`, which must outlive the decoder and the views it gives out.
  explicit Decoder(absl::string_view input) : input_(input) {}

  uint8_t GetU8();
  bool GetBool() { return GetU8() != 0; }
  uint32_t GetU32() { return GetFixed<uint32_t>(); }
  uint64_t GetU64() { return GetFixed<uint64_t>(); }
  double GetDouble();
  uint64_t GetVarint();
  int64_t GetSigned() {
    const uint64_t value = GetVarint();
    return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  // A view into the input.
  absl::string_view GetString();
  absl::string_view GetRaw(int64_t size);
  // A count of things that take at least `bytes_each` bytes: fails when the
  // input is too short for so many, so a lying count allocates nothing.
  int64_t GetCount(int64_t bytes_each = 1);
  template <typename IdType>
  IdType GetId() {
    return IdType(GetU64());
  }

  bool ok() const { return ok_; }
  int64_t remaining() const { return std::ssize(input_); }
  // Marks the input as malformed.
  void Fail() {
    ok_ = false;
    input_ = {};
  }
  // kInvalidArgument, naming `what`, if any read failed.
  absl::Status status(absl::string_view what) const;
  // As status(), and also an error if bytes are left over.
  absl::Status Finish(absl::string_view what) const;

 private:
  template <typename T>
  T GetFixed() {
    if (input_.size() < sizeof(T)) {
      Fail();
      return 0;
    }
    T value = 0;
    for (unsigned i = 0; i < sizeof(T); ++i) {
      value = static_cast<T>(
          value | static_cast<T>(static_cast<uint8_t>(input_[i])) << (8 * i));
    }
    input_.remove_prefix(sizeof(T));
    return value;
  }
  absl::string_view input_;
  bool ok_ = true;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_CODEC_H_
