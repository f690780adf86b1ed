#include "apps/output/plot_scale.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "apps/output/run_text.h"

namespace dogged {
namespace {

// Differences beyond this overflow.
constexpr double kLargest = 4e307;

// The smallest of 1, 2, 5 times a power of ten that is at least `step`.
double RoundStep(double step) {
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

// "2.5e9" for 2.5e+09.
std::string Scientific(double x, int digits) {
  std::string text = absl::StrFormat("%.*e", std::clamp(digits, 0, 15), x);
  const size_t e = text.find('e');
  std::string exponent = text.substr(e + 1);
  const bool is_negative = exponent.front() == '-';
  exponent.erase(0, 1);
  exponent.erase(
      0, std::min(exponent.find_first_not_of('0'), exponent.size() - 1));
  return absl::StrCat(text.substr(0, e), "e", is_negative ? "-" : "", exponent);
}

// `x`, a multiple of `step`, among numbers as large as `largest`.
std::string TickText(double x, double step, double largest) {
  const int step_exponent = static_cast<int>(std::floor(std::log10(step)));
  if (x == 0) return "0";
  if (largest >= 1e6 || largest < 1e-3) {
    const int exponent = static_cast<int>(std::floor(std::log10(std::abs(x))));
    return Scientific(x, exponent - step_exponent);
  }
  return absl::StrFormat("%.*f", std::clamp(-step_exponent, 0, 15), x);
}

// The colour at `share` of the way along the points.
Colour Between(absl::Span<const Colour> points, double share) {
  const auto steps = static_cast<int>(points.size()) - 1;
  const double at = std::clamp(share, 0.0, 1.0) * steps;
  const int low = std::min(static_cast<int>(at), steps - 1);
  const double rest = at - low;
  const auto mix = [&](uint8_t a, uint8_t b) {
    return static_cast<uint8_t>(std::lround(a + (b - a) * rest));
  };
  const Colour& a = points[low];
  const Colour& b = points[static_cast<size_t>(low) + 1];
  return {mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue)};
}

}  // namespace

double PlotScale::Place(double x) const {
  if (!(upper > lower)) return 0.5;
  return (x - lower) / (upper - lower);
}

PlotScale ScaleFor(double lower, double upper, int count, bool is_padded) {
  lower = std::clamp(lower, -kLargest, kLargest);
  upper = std::clamp(upper, -kLargest, kLargest);
  // Differences in the last few bits are drawn as a level line, in the middle.
  const double size = std::max(std::abs(lower), std::abs(upper));
  if (upper - lower <= size * 1e-12 || upper - lower < 1e-300) {
    const double room = size < 1e-300 ? 1 : size * 0.1;
    lower -= room;
    upper += room;
  } else if (is_padded) {
    const double room = (upper - lower) * 0.04;
    lower -= room;
    upper += room;
  }
  PlotScale scale{.lower = lower, .upper = upper};
  const double step = RoundStep((upper - lower) / std::max(count, 1));
  const double slack = step * 1e-9;
  const double largest = std::max(std::abs(lower), std::abs(upper));
  for (double k = std::ceil((lower - slack) / step); k * step <= upper + slack;
       ++k) {
    scale.ticks.push_back(k * step);
    scale.texts.push_back(TickText(k == 0 ? 0 : k * step, step, largest));
  }
  return scale;
}

PlotScale IndexScale(int64_t first, int64_t count, int tick_count) {
  PlotScale scale{.lower = static_cast<double>(first),
                  .upper = static_cast<double>(first + count - 1)};
  const int64_t step = std::max<int64_t>(
      1, std::llround(RoundStep(static_cast<double>(count) / tick_count)));
  // The smallest multiple that is not below `first`, which may be negative.
  int64_t at = first / step * step;
  if (at < first) at += step;
  for (; at < first + count; at += step) {
    scale.ticks.push_back(static_cast<double>(at));
    scale.texts.push_back(GroupedCount(at));
  }
  return scale;
}

Colour SignedColour(double share) {
  static constexpr Colour kPoints[] = {
      {16, 70, 130},   {76, 134, 182}, {166, 200, 222}, {246, 246, 246},
      {228, 196, 150}, {190, 132, 62}, {112, 66, 12}};
  return Between(kPoints, share);
}

Colour MapColour(double share) {
  // Control points at equal distances in lightness, from dark violet through
  // blue-green to yellow.
  static constexpr Colour kPoints[] = {
      {68, 1, 84},    {71, 44, 122},  {59, 81, 139},
      {44, 113, 142}, {33, 144, 141}, {39, 173, 129},
      {92, 200, 99},  {170, 220, 50}, {253, 231, 37}};
  return Between(kPoints, share);
}

}  // namespace dogged
