// Aim: encoded bytes are decoded; malformed bytes are refused, not read.
// Method: round trips, every truncation of a message, lying counts.
#include "runtime/base/codec.h"

#include <limits>

#include "gmock/gmock.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {
namespace {

TEST(Codec, RoundTripsEveryKind) {
  Encoder out;
  out.PutU8(7);
  out.PutU32(0xdeadbeef);
  out.PutU64(std::numeric_limits<uint64_t>::max());
  out.PutDouble(-0.5);
  for (int64_t v : {int64_t{0}, int64_t{-1}, int64_t{300},
                    std::numeric_limits<int64_t>::min(),
                    std::numeric_limits<int64_t>::max()}) {
    out.PutSigned(v);
  }
  out.PutString("dogged");
  Label label{.array = 3, .index = {-1, 5000}};
  label.Encode(out);

  const std::string bytes = out.Take();
  Decoder in(bytes);
  EXPECT_EQ(in.GetU8(), 7);
  EXPECT_EQ(in.GetU32(), 0xdeadbeef);
  EXPECT_EQ(in.GetU64(), std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(in.GetDouble(), -0.5);
  EXPECT_EQ(in.GetSigned(), 0);
  EXPECT_EQ(in.GetSigned(), -1);
  EXPECT_EQ(in.GetSigned(), 300);
  EXPECT_EQ(in.GetSigned(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(in.GetSigned(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(in.GetString(), "dogged");
  EXPECT_EQ(Label::Decode(in), label);
  EXPECT_TRUE(in.Finish("message").ok());
}

TEST(Codec, EveryTruncationOfAValueIsRefused) {
  Value value = Value::Allocate(ElementType::kDouble, {3, 2});
  for (int i = 0; i < 6; ++i) value.mutable_span<double>()[i] = i;
  value.Seal();
  Encoder out;
  value.Encode(out);
  const std::string bytes = out.Take();
  for (size_t size = 0; size < bytes.size(); ++size) {
    Decoder in(absl::string_view(bytes).substr(0, size));
    EXPECT_FALSE(Value::Decode(in).ok()) << size;
  }
  Decoder in(bytes);
  const auto back = Value::Decode(in);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->view(), value.view());
  EXPECT_EQ(back->shape(), value.shape());
}

TEST(Codec, AChangedBitInAValueIsDataLoss) {
  Encoder out;
  Value::Scalar(1.5).Encode(out);
  std::string bytes = out.Take();
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  Decoder in(bytes);
  EXPECT_EQ(Value::Decode(in).status().code(), absl::StatusCode::kDataLoss);
}

TEST(Codec, ALyingCountAllocatesNothing) {
  Encoder out;
  out.PutVarint(uint64_t{1} << 60);
  const std::string bytes = out.Take();
  Decoder in(bytes);
  EXPECT_EQ(in.GetCount(), 0);
  EXPECT_FALSE(in.ok());
  // 20 bytes have room for two of eight.
  for (const uint64_t count : {2, 3}) {
    Encoder list;
    list.PutVarint(count);
    list.PutRaw(std::string(20, 'x'));
    Decoder decoder(list.view());
    EXPECT_EQ(decoder.GetCount(8), count == 2 ? 2 : 0);
    EXPECT_EQ(decoder.ok(), count == 2);
  }
}

TEST(Codec, AShapeThatOverflowsIsRefused) {
  Encoder out;
  out.PutU64(0);
  out.PutU64(0);
  out.PutU8(0);
  Shape({int64_t{1} << 32, int64_t{1} << 32, 1}).Encode(out);
  out.PutString("");
  const std::string bytes = out.Take();
  Decoder in(bytes);
  EXPECT_EQ(Value::Decode(in).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace dogged
