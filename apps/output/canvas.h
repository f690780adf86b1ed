// Canvas: a picture in memory and the few strokes of plots. Pixel (0, 0) is at
// the top left; positions are those of pixel centres. Strokes outside are not
// drawn. Thread-compatible.
#ifndef DOGGED_APPS_OUTPUT_CANVAS_H_
#define DOGGED_APPS_OUTPUT_CANVAS_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"

namespace dogged {

struct Colour {
  uint8_t red = 0;
  uint8_t green = 0;
  uint8_t blue = 0;
  friend bool operator==(const Colour&, const Colour&) = default;
};

struct Point {
  double x = 0;
  double y = 0;
};

// Upper left corner, in it, and size, in pixels.
struct Rectangle {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
};

enum class Align : uint8_t { kLeft, kCentre, kRight };

class Canvas {
 public:
  // White. Sizes in pixels, at least 1.
  Canvas(int width, int height);

  int width() const { return width_; }
  int height() const { return height_; }
  // Three bytes a pixel, rows from the top.
  const std::vector<uint8_t>& rgb() const { return rgb_; }
  Colour At(int x, int y) const;

  void Set(int x, int y, Colour colour) { Blend(x, y, colour, 1); }
  // `coverage` of 1 gives the colour; 0 leaves the pixel as it is.
  void Blend(int x, int y, Colour colour, double coverage);
  void Fill(const Rectangle& area, Colour colour, double coverage = 1);
  // The outline, one pixel wide, just outside of `area`.
  void Frame(const Rectangle& area, Colour colour);
  // A straight stroke with round ends, smoothed.
  void Stroke(Point from, Point to, double width, Colour colour);
  // Text in Latin letters; anything else shows as '?'. `at` is the middle of
  // the capitals' height, at the left end, the middle or the right end.
  void Text(Point at, absl::string_view text, Align align, Colour colour);
  // Pixels from the first stroke to the last.
  static int TextWidth(absl::string_view text);

 private:
  int width_;
  int height_;
  std::vector<uint8_t> rgb_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_CANVAS_H_
