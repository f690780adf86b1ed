// A small font: letters on a grid of dots, drawn as strokes between
// neighbouring dots, so that they are smooth at any size. Thread-safe.
#ifndef DOGGED_APPS_OUTPUT_FONT_H_
#define DOGGED_APPS_OUTPUT_FONT_H_

#include <vector>

namespace dogged {

inline constexpr int kGlyphWidth = 5;  // dots
// Dots from the top of a capital to the line; two more hang below.
inline constexpr int kCapitalHeight = 7;
inline constexpr int kGlyphHeight = kCapitalHeight + 2;

struct GlyphDot {
  int column = 0;
  int row = 0;
};

struct GlyphStroke {
  GlyphDot from;
  GlyphDot to;
};

// The strokes of an ASCII character; any other is drawn as '?'.
std::vector<GlyphStroke> StrokesOf(char letter);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_FONT_H_
