#include "dsl/kernels/exact_sum.h"

#include <bit>
#include <cmath>
#include <limits>

#include "runtime/base/check.h"

namespace dogged::dsl {

void ExactSum::AddSpecial(double value) {
  special() |= std::isnan(value) ? kNan
               : value > 0       ? kPlusInfinity
                                 : kMinusInfinity;
}

void ExactSum::Carry() {
  for (size_t i = 0; i + 1 < kDigits; ++i) {
    const int64_t carry = words_[i] >> 32;  // rounds down
    words_[i] -= carry * (int64_t{1} << 32);
    words_[i + 1] += carry;
  }
  pending_ = 0;
}

void ExactSum::Add(absl::Span<const int64_t> words) {
  DOGGED_CHECK(static_cast<int>(words.size()) == kWords) << "no exact sum";
  for (size_t i = 0; i < kDigits; ++i) words_[i] += words[i];
  special() |= words[kDigits];
  if (++pending_ == kPendingMax) Carry();
}

const std::array<int64_t, ExactSum::kWords>& ExactSum::Words() {
  Carry();
  return words_;
}

double ExactSum::Round() {
  Carry();
  const bool is_both =
      (special() & kPlusInfinity) != 0 && (special() & kMinusInfinity) != 0;
  if ((special() & kNan) != 0 || is_both) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (special() != 0) {
    const double infinity = std::numeric_limits<double>::infinity();
    return special() == kPlusInfinity ? infinity : -infinity;
  }
  ExactSum size = *this;
  const bool is_negative = words_[kDigits - 1] < 0;
  if (is_negative) {
    for (size_t i = 0; i < kDigits; ++i) size.words_[i] = -size.words_[i];
    size.Carry();
  }
  // The last digit is more than a digit only after 2^60 additions.
  int h = kDigits - 1;
  while (h >= 0 && size.words_[h] == 0) --h;
  if (h < 0) return 0;
  const auto digit = [&size](int i) {
    return i < 0 ? uint64_t{0} : static_cast<uint64_t>(size.words_[i]);
  };
  // The leading 64 bits, the first of them one, and whether any follow.
  const int zeros = std::countl_zero(digit(h)) - 32;
  DOGGED_CHECK(zeros >= 0) << "a sum of too many values";
  uint64_t lead = ((digit(h) << 32) | digit(h - 1)) << zeros;
  lead |= digit(h - 2) >> (32 - zeros);
  bool has_more = (digit(h - 2) & ((uint64_t{1} << (32 - zeros)) - 1)) != 0;
  for (int i = h - 3; i >= 0 && !has_more; --i) has_more = digit(i) != 0;
  uint64_t mantissa = lead >> 11;
  const uint64_t rest = lead & 2047;
  if (rest > 1024 || (rest == 1024 && (has_more || (mantissa & 1) != 0))) {
    ++mantissa;
  }
  const double out = std::ldexp(static_cast<double>(mantissa),
                                32 * (h - 1) - zeros + 11 - 1074);
  return is_negative ? -out : out;
}

}  // namespace dogged::dsl
