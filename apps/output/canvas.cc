#include "apps/output/canvas.h"

#include <algorithm>
#include <cmath>

#include "apps/output/font.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

// Pixels between two dots of the font, and the width of the pen.
constexpr double kDotPixels = 2;
constexpr double kPenPixels = 1.5;

// From one letter to the next, in dots; blanks are narrower.
int AdvanceDots(char letter) {
  return letter == ' ' ? kGlyphWidth - 2 : kGlyphWidth + 1;
}

uint8_t Mix(uint8_t under, uint8_t over, double coverage) {
  return static_cast<uint8_t>(
      std::lround(under + (over - under) * std::clamp(coverage, 0.0, 1.0)));
}

double DistanceToSegment(Point p, Point from, Point to) {
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double square = dx * dx + dy * dy;
  double share = 0;
  if (square > 0) {
    share = std::clamp(((p.x - from.x) * dx + (p.y - from.y) * dy) / square,
                       0.0, 1.0);
  }
  return std::hypot(p.x - from.x - share * dx, p.y - from.y - share * dy);
}

}  // namespace

Canvas::Canvas(int width, int height)
    : width_(width),
      height_(height),
      rgb_(static_cast<size_t>(width) * static_cast<size_t>(height) * 3, 255) {
  DOGGED_CHECK(width > 0);
  DOGGED_CHECK(height > 0);
}

Colour Canvas::At(int x, int y) const {
  const auto at = (static_cast<size_t>(y) * static_cast<size_t>(width_) +
                   static_cast<size_t>(x)) *
                  3;
  return {rgb_[at], rgb_[at + 1], rgb_[at + 2]};
}

void Canvas::Blend(int x, int y, Colour colour, double coverage) {
  if (x < 0 || y < 0 || x >= width_ || y >= height_) return;
  const auto at = (static_cast<size_t>(y) * static_cast<size_t>(width_) +
                   static_cast<size_t>(x)) *
                  3;
  rgb_[at] = Mix(rgb_[at], colour.red, coverage);
  rgb_[at + 1] = Mix(rgb_[at + 1], colour.green, coverage);
  rgb_[at + 2] = Mix(rgb_[at + 2], colour.blue, coverage);
}

void Canvas::Fill(const Rectangle& area, Colour colour, double coverage) {
  for (int y = area.y; y < area.y + area.height; ++y) {
    for (int x = area.x; x < area.x + area.width; ++x) {
      Blend(x, y, colour, coverage);
    }
  }
}

void Canvas::Frame(const Rectangle& area, Colour colour) {
  const int width = area.width + 2;
  Fill({area.x - 1, area.y - 1, width, 1}, colour);
  Fill({area.x - 1, area.y + area.height, width, 1}, colour);
  Fill({area.x - 1, area.y, 1, area.height}, colour);
  Fill({area.x + area.width, area.y, 1, area.height}, colour);
}

void Canvas::Stroke(Point from, Point to, double width, Colour colour) {
  const double reach = width / 2 + 1;
  const int left = static_cast<int>(std::floor(std::min(from.x, to.x) - reach));
  const int right = static_cast<int>(std::ceil(std::max(from.x, to.x) + reach));
  const int top = static_cast<int>(std::floor(std::min(from.y, to.y) - reach));
  const int bottom =
      static_cast<int>(std::ceil(std::max(from.y, to.y) + reach));
  for (int y = std::max(top, 0); y <= std::min(bottom, height_ - 1); ++y) {
    for (int x = std::max(left, 0); x <= std::min(right, width_ - 1); ++x) {
      const double distance = DistanceToSegment(
          {static_cast<double>(x), static_cast<double>(y)}, from, to);
      const double coverage = width / 2 + 0.5 - distance;
      if (coverage > 0) Blend(x, y, colour, coverage);
    }
  }
}

void Canvas::Text(Point at, absl::string_view text, Align align,
                  Colour colour) {
  double left = at.x;
  if (align == Align::kCentre) left -= std::floor(TextWidth(text) / 2.0);
  if (align == Align::kRight) left -= TextWidth(text);
  const double top = at.y - (kCapitalHeight - 1) / 2.0 * kDotPixels;
  for (const char letter : text) {
    const auto dot = [&](GlyphDot d) {
      return Point{left + d.column * kDotPixels, top + d.row * kDotPixels};
    };
    for (const GlyphStroke& stroke : StrokesOf(letter)) {
      Stroke(dot(stroke.from), dot(stroke.to), kPenPixels, colour);
    }
    left += AdvanceDots(letter) * kDotPixels;
  }
}

int Canvas::TextWidth(absl::string_view text) {
  if (text.empty()) return 0;
  int dots = -2;  // the gap behind the last letter, and its first dot
  for (const char letter : text) dots += AdvanceDots(letter);
  return static_cast<int>(dots * kDotPixels);
}

}  // namespace dogged
