// ExactSum: a sum of doubles that is never rounded until the end, so that no
// order of adding, no tiling and no number of agents shows in its bits. A
// fixed-point number wide enough for every double there is. Plain value.
//
// Source: Neal, "Fast exact summation using small and large superaccumulators"
// (2015), section 3, the small one. Differs: 68 digits of 32 bits, of which
// the last is signed, so that equal sums have equal words.
#ifndef DOGGED_DSL_KERNELS_EXACT_SUM_H_
#define DOGGED_DSL_KERNELS_EXACT_SUM_H_

#include <array>
#include <cstdint>
#include <cstring>

#include "absl/types/span.h"

namespace dogged::dsl {

class ExactSum {
 public:
  // Entries of Words(): the digits, and flags of NaN and infinities.
  static constexpr int kWords = 69;

  void Add(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const auto exponent = static_cast<int>((bits >> 52) & 2047);
    uint64_t mantissa = bits & ((uint64_t{1} << 52) - 1);
    if (exponent == 2047) {
      AddSpecial(value);
      return;
    }
    if (exponent > 0) mantissa |= uint64_t{1} << 52;
    // value = mantissa * 2^(shift - 1074).
    const int shift = exponent > 0 ? exponent - 1 : 0;
    int64_t* digit = &words_[shift >> 5];
    const int s = shift & 31;
    const uint64_t low = mantissa << s;
    const auto a = static_cast<int64_t>(low & 0xffffffff);
    const auto b = static_cast<int64_t>(low >> 32);
    const auto c = static_cast<int64_t>(s == 0 ? 0 : mantissa >> (64 - s));
    // All ones if negative: (x ^ sign) - sign is -x then.
    const int64_t sign = -static_cast<int64_t>(bits >> 63);
    digit[0] += (a ^ sign) - sign;
    digit[1] += (b ^ sign) - sign;
    digit[2] += (c ^ sign) - sign;
    if (++pending_ == kPendingMax) Carry();
  }
  // Adds the Words() of another sum.
  void Add(absl::Span<const int64_t> words);

  // Equal sums have equal words.
  const std::array<int64_t, kWords>& Words();
  // To the nearest, ties to even; infinite beyond the largest double. Zero is
  // positive, and there is one NaN.
  double Round();

 private:
  static constexpr int kDigits = 68;
  // Each addition adds less than 2^32 to a digit.
  static constexpr int32_t kPendingMax = 1 << 29;
  static constexpr int64_t kNan = 1;
  static constexpr int64_t kPlusInfinity = 2;
  static constexpr int64_t kMinusInfinity = 4;

  void AddSpecial(double value);
  // Every digit but the last to 0 ... 2^32 - 1.
  void Carry();
  int64_t& special() { return words_[kDigits]; }

  std::array<int64_t, kWords> words_{};  // digit i counts 2^(32*i - 1074)
  int32_t pending_ = 0;
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_EXACT_SUM_H_
