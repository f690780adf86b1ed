// The scales of a picture: the numbers at its axes, and the colours of a map.
#ifndef DOGGED_APPS_OUTPUT_PLOT_SCALE_H_
#define DOGGED_APPS_OUTPUT_PLOT_SCALE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "apps/output/canvas.h"

namespace dogged {

// The ends of an axis and its ticks: multiples of 1, 2 or 5 times a power of
// ten, about `count`, all with as many digits as tell them apart.
struct PlotScale {
  double lower = 0;
  double upper = 1;
  std::vector<double> ticks;
  std::vector<std::string> texts;
  // Where `x` stands between the ends: 0 to 1.
  double Place(double x) const;
};
// A scale for data from `lower` to `upper`, both finite. `is_padded`: some
// room is left at either end.
PlotScale ScaleFor(double lower, double upper, int count, bool is_padded);
// A scale for positions `first` to `first` + `count` - 1; ticks are integers.
PlotScale IndexScale(int64_t first, int64_t count, int tick_count);

// Dark blue at 0, green, yellow at 1; evenly spaced to the eye, and in
// lightness too, so that it also reads in grey.
Colour MapColour(double share);

// Colours for numbers of either sign, with 0 at 0.5: blue below it, nearly
// white, brown above. As dark at both ends.
Colour SignedColour(double share);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_PLOT_SCALE_H_
