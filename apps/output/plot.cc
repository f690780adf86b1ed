#include "apps/output/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/output/plot_scale.h"
#include "apps/output/run_text.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr Colour kInk = {40, 44, 52};
constexpr Colour kGrid = {228, 230, 234};
constexpr Colour kCurve = {31, 98, 164};
constexpr Colour kBand = {168, 200, 232};
constexpr Colour kNotFinite = {214, 39, 40};
constexpr Colour kNoData = {240, 240, 240};

// Margins and sizes, in pixels.
constexpr int kTop = 48;
constexpr int kBottom = 48;
constexpr int kRight = 32;
constexpr int kTick = 6;
constexpr int kTextGap = 10;
constexpr int kCurveWidth = 860;
constexpr int kCurveHeight = 420;
constexpr int kMapLongest = 720;
constexpr int kMapShortest = 160;
constexpr int kBarWidth = 24;
constexpr int kBarGap = 28;

double ElementAt(const Value& value, int64_t i) {
  const auto at = static_cast<size_t>(i);
  switch (value.type()) {
    case ElementType::kDouble:
      return value.span<double>()[at];
    case ElementType::kFloat:
      return static_cast<double>(value.span<float>()[at]);
    case ElementType::kInt64:
      return static_cast<double>(value.span<int64_t>()[at]);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// The dimensions that are not of one element.
struct Axis {
  int64_t first = 0;  // its index
  int64_t step = 1;
  int64_t count = 0;
  // Coordinates, if they are not the indices.
  std::optional<AxisScale> scale;
};

std::vector<Axis> AxesOf(const Value& value, const IndexGrid& indices) {
  std::vector<Axis> axes;
  for (int d = 0; d < value.shape().size(); ++d) {
    if (value.shape()[d] == 1) continue;
    axes.push_back({.first = indices.FirstOf(d),
                    .step = indices.StepOf(d),
                    .count = value.shape()[d],
                    .scale = std::nullopt});
    const AxisScale scale = indices.AxisOf(d);
    if (scale != AxisScale{}) axes.back().scale = scale;
  }
  return axes;
}

// The range that is drawn of the blocks: of their means, or of all elements.
PlotRange RangeOfBlocks(absl::Span<const Block> blocks, bool is_of_means) {
  PlotRange range;
  for (const Block& block : blocks) {
    const bool is_empty = block.finite == 0;
    Widen(range, {.lower = is_of_means ? block.mean : block.lower,
                  .upper = is_of_means ? block.mean : block.upper,
                  .is_empty = is_empty,
                  .not_finite = block.not_finite});
  }
  return range;
}

int WidestText(const PlotScale& scale) {
  int widest = 0;
  for (const std::string& text : scale.texts) {
    widest = std::max(widest, Canvas::TextWidth(text));
  }
  return widest;
}

PlotScale ScaleOf(const Axis& axis, int ticks) {
  if (!axis.scale.has_value()) {
    return IndexScale(axis.first, (axis.count - 1) * axis.step + 1, ticks);
  }
  const double spacing = axis.scale->spacing;
  const int64_t last = axis.first + (axis.count - 1) * axis.step;
  PlotScale out = ScaleFor(static_cast<double>(axis.first) * spacing,
                           static_cast<double>(last) * spacing, ticks,
                           /*is_padded=*/false);
  if (!axis.scale->unit.empty() && !out.texts.empty()) {
    absl::StrAppend(&out.texts.back(), " ", axis.scale->unit);
  }
  return out;
}

// Index numbers for an axis of so many pixels: as many as don't touch.
PlotScale AcrossScale(const Axis& axis, int pixels, int ticks_max) {
  for (int ticks = ticks_max; ticks > 1; --ticks) {
    PlotScale scale = ScaleOf(axis, ticks);
    const double distance =
        scale.ticks.size() < 2
            ? pixels
            : (scale.Place(scale.ticks[1]) - scale.Place(scale.ticks[0])) *
                  pixels;
    if (WidestText(scale) + kTextGap <= distance) return scale;
  }
  return ScaleOf(axis, 1);
}

// How far numbers centred below an axis of `pixels` stand out of it at most:
// at its left end, at its right end.
std::pair<int, int> Overhang(const PlotScale& scale, int pixels) {
  std::pair<int, int> out = {0, 0};
  for (size_t i = 0; i < scale.ticks.size(); ++i) {
    const double x = scale.Place(scale.ticks[i]) * pixels;
    const double half = Canvas::TextWidth(scale.texts[i]) / 2.0;
    out.first = std::max(out.first, static_cast<int>(std::ceil(half - x)));
    out.second =
        std::max(out.second, static_cast<int>(std::ceil(x + half - pixels)));
  }
  return out;
}

void DrawHeading(Canvas& canvas, const Rectangle& area, absl::string_view title,
                 int64_t not_finite) {
  const double y = kTop / 2.0;
  const double right = area.x + area.width;
  double room = area.width;
  if (not_finite > 0) {
    const std::string note =
        absl::StrCat("red: ", HumanCount(not_finite), " not finite");
    canvas.Text({right, y}, note, Align::kRight, kNotFinite);
    room -= Canvas::TextWidth(note) + 2 * kTextGap;
  }
  std::string text(title);
  if (Canvas::TextWidth(text) > room) {
    while (!text.empty() && Canvas::TextWidth(text + "...") > room) {
      text.pop_back();
    }
    text += "...";
  }
  canvas.Text({static_cast<double>(area.x), y}, text, Align::kLeft, kInk);
}

// Ticks and numbers below `area`, for positions; `inset` keeps the ends in the
// middle of their pixels.
void DrawBelow(Canvas& canvas, const Rectangle& area, const PlotScale& scale,
               double inset) {
  const int foot = area.y + area.height;
  for (size_t i = 0; i < scale.ticks.size(); ++i) {
    const double x = area.x + inset +
                     scale.Place(scale.ticks[i]) * (area.width - 1 - 2 * inset);
    canvas.Fill({static_cast<int>(std::lround(x)), foot, 1, kTick}, kInk);
    canvas.Text({x, static_cast<double>(foot + kTick + 2 * kTextGap - 4)},
                scale.texts[i], Align::kCentre, kInk);
  }
}

// The row of pixels where a value stands; the larger the higher.
double RowOf(const Rectangle& area, const PlotScale& scale, double x) {
  return area.y + (1 - scale.Place(x)) * (area.height - 1);
}

void DrawCurve(Canvas& canvas, const Rectangle& area, const PlotScale& scale,
               absl::Span<const Block> blocks) {
  const auto count = static_cast<double>(blocks.size());
  const auto x_of = [&](size_t i) {
    if (blocks.size() == 1) return area.x + area.width / 2.0;
    return area.x + static_cast<double>(i) * (area.width - 1) / (count - 1.0);
  };
  std::optional<Point> last;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    const double x = x_of(i);
    if (block.not_finite > 0) {
      const int half =
          std::max(1, static_cast<int>(std::ceil(area.width / (2 * count))));
      canvas.Fill({static_cast<int>(std::lround(x)) - half / 2, area.y, half,
                   area.height},
                  kNotFinite, 0.6);
    }
    if (block.finite == 0) {
      last.reset();
      continue;
    }
    const Point lower = {x, RowOf(area, scale, block.lower)};
    const Point upper = {x, RowOf(area, scale, block.upper)};
    if (lower.y - upper.y > 1) canvas.Stroke(lower, upper, 1, kBand);
    last = {x, 0};
  }
  // The curve over all bands.
  last.reset();
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].finite == 0) {
      last.reset();
      continue;
    }
    const Point here = {x_of(i), RowOf(area, scale, blocks[i].mean)};
    // A point without neighbours is a dot.
    canvas.Stroke(last.value_or(here), here, 2.2, kCurve);
    last = here;
  }
}

std::vector<Block> CurveBlocks(const Value& value, const Axis& axis) {
  return Reduce(value, 1, std::min<int64_t>(axis.count, kCurveWidth));
}

Canvas PlotCurve(const Value& value, const Axis& axis, absl::string_view title,
                 const PlotRange* scale) {
  const std::vector<Block> blocks = CurveBlocks(value, axis);
  const PlotRange range = RangeOfBlocks(blocks, /*is_of_means=*/false);
  const PlotRange& drawn = scale != nullptr ? *scale : range;
  const PlotScale y = ScaleFor(drawn.lower, drawn.upper, 6, /*is_padded=*/true);
  const PlotScale x = AcrossScale(axis, kCurveWidth, 8);
  const auto [before, beyond] = Overhang(x, kCurveWidth);
  const int left =
      kTextGap + std::max(WidestText(y) + kTextGap + kTick, before);
  const Rectangle area = {left, kTop, kCurveWidth, kCurveHeight};
  Canvas canvas(left + kCurveWidth + std::max(kRight, beyond) + kTextGap,
                kTop + kCurveHeight + kBottom);
  for (size_t i = 0; i < y.ticks.size(); ++i) {
    const double row = RowOf(area, y, y.ticks[i]);
    const int pixel = static_cast<int>(std::lround(row));
    canvas.Fill({area.x, pixel, area.width, 1}, kGrid);
    canvas.Fill({area.x - kTick, pixel, kTick, 1}, kInk);
    canvas.Text({static_cast<double>(area.x - kTick - kTextGap), row},
                y.texts[i], Align::kRight, kInk);
  }
  DrawCurve(canvas, area, y, blocks);
  DrawBelow(canvas, area, x, 0);
  canvas.Frame(area, kInk);
  DrawHeading(canvas, area, title, range.not_finite);
  return canvas;
}

// Pixels for rows and columns of a map: as many as fit, cells square unless
// the map would be a thread.
Rectangle MapArea(int64_t rows, int64_t columns) {
  const auto longest = static_cast<double>(std::max(rows, columns));
  double scale = kMapLongest / longest;
  // Whole pixels to a cell look even.
  if (scale > 1) scale = std::floor(scale);
  const auto size = [&](int64_t cells) {
    const double pixels = static_cast<double>(cells) * scale;
    return std::max(static_cast<int>(std::lround(pixels)), kMapShortest);
  };
  return {.width = size(columns), .height = size(rows)};
}

// A side of less than a hundredth of the other one is taken for rounding.
bool HasBothSigns(const PlotRange& range) {
  return range.lower < 0 && range.upper > 0 &&
         std::min(-range.lower, range.upper) >=
             std::max(-range.lower, range.upper) / 100;
}

// The colours of a map, and the numbers that they stand for.
struct ColourScale {
  PlotScale numbers;
  Colour (*colour)(double share) = MapColour;

  static ColourScale Of(PlotRange range) {
    const bool is_signed = HasBothSigns(range);
    if (is_signed) {
      range.upper = std::max(-range.lower, range.upper);
      range.lower = -range.upper;
    }
    return {.numbers = ScaleFor(range.lower, range.upper, 6,
                                /*is_padded=*/false),
            .colour = is_signed ? SignedColour : MapColour};
  }
  Colour At(double x) const { return colour(numbers.Place(x)); }
};

void DrawColourBar(Canvas& canvas, const Rectangle& bar,
                   const ColourScale& colours) {
  const PlotScale& scale = colours.numbers;
  for (int row = 0; row < bar.height; ++row) {
    canvas.Fill(
        {bar.x, bar.y + row, bar.width, 1},
        colours.colour(1 - static_cast<double>(row) / (bar.height - 1)));
  }
  canvas.Frame(bar, kInk);
  const int right = bar.x + bar.width;
  for (size_t i = 0; i < scale.ticks.size(); ++i) {
    const double row = RowOf(bar, scale, scale.ticks[i]);
    canvas.Fill({right, static_cast<int>(std::lround(row)), kTick, 1}, kInk);
    canvas.Text({static_cast<double>(right + kTick + kTextGap), row},
                scale.texts[i], Align::kLeft, kInk);
  }
}

void DrawCells(Canvas& canvas, const Rectangle& area,
               const ColourScale& colours, absl::Span<const Block> blocks,
               int64_t columns) {
  const int64_t rows = std::ssize(blocks) / columns;
  for (int y = 0; y < area.height; ++y) {
    const int64_t row = y * rows / area.height;
    for (int x = 0; x < area.width; ++x) {
      const int64_t column = x * columns / area.width;
      const Block& block = blocks[row * columns + column];
      Colour colour = kNoData;
      if (block.finite > 0) colour = colours.At(block.mean);
      if (block.not_finite > 0) colour = kNotFinite;
      canvas.Set(area.x + x, area.y + y, colour);
    }
  }
}

std::vector<Block> MapBlocks(const Value& value, const Axis& first,
                             const Axis& second) {
  const Rectangle area = MapArea(first.count, second.count);
  return Reduce(value, std::min<int64_t>(first.count, area.height),
                std::min<int64_t>(second.count, area.width));
}

Canvas PlotMap(const Value& value, const Axis& first, const Axis& second,
               absl::string_view title, const PlotRange* scale) {
  Rectangle area = MapArea(first.count, second.count);
  const int64_t columns = std::min<int64_t>(second.count, area.width);
  const std::vector<Block> blocks = MapBlocks(value, first, second);
  const PlotRange range = RangeOfBlocks(blocks, /*is_of_means=*/true);
  const PlotRange& drawn = scale != nullptr ? *scale : range;
  const ColourScale colours = ColourScale::Of(drawn);
  const PlotScale down = ScaleOf(first, std::max(2, area.height / 80));
  const PlotScale across =
      AcrossScale(second, area.width, std::max(2, area.width / 110));
  area.x = kTextGap + std::max(WidestText(down) + kTextGap + kTick,
                               Overhang(across, area.width).first);
  area.y = kTop;
  const Rectangle bar = {area.x + area.width + kBarGap, area.y, kBarWidth,
                         area.height};
  const int right = kTick + kTextGap + WidestText(colours.numbers) + kRight;
  Canvas canvas(bar.x + bar.width + right, kTop + area.height + kBottom);
  DrawCells(canvas, area, colours, blocks, columns);
  canvas.Frame(area, kInk);
  const auto inset = [](int pixels, int64_t cells) {
    return static_cast<double>(pixels) / (2.0 * static_cast<double>(cells)) -
           0.5;
  };
  DrawBelow(canvas, area, across,
            std::max(0.0, inset(area.width, second.count)));
  const double from_top = std::max(0.0, inset(area.height, first.count));
  for (size_t i = 0; i < down.ticks.size(); ++i) {
    const double row =
        area.y + from_top +
        down.Place(down.ticks[i]) * (area.height - 1 - 2 * from_top);
    canvas.Fill({area.x - kTick, static_cast<int>(std::lround(row)), kTick, 1},
                kInk);
    canvas.Text({static_cast<double>(area.x - kTick - kTextGap), row},
                down.texts[i], Align::kRight, kInk);
  }
  DrawColourBar(canvas, bar, colours);
  DrawHeading(canvas, area, title, range.not_finite);
  return canvas;
}

absl::Status CheckShape(const Value& value, absl::Span<const Axis> axes,
                        absl::string_view title) {
  if (value.element_count() == 0) {
    return absl::InvalidArgumentError("there is nothing to draw");
  }
  if (axes.size() == 1 || axes.size() == 2) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a picture has one or two dimensions, ", title, " has ", axes.size(),
      axes.empty() ? "; write it to an .npy file"
                   : "; fix an index, or write it to an .npy file"));
}

}  // namespace

std::vector<Block> Reduce(const Value& value, int64_t rows, int64_t columns) {
  const std::vector<Axis> axes = AxesOf(value, {});
  const int64_t width = axes.empty() ? 1 : axes.back().count;
  const int64_t height = value.element_count() / width;
  std::vector<Block> blocks(static_cast<size_t>(rows * columns));
  // Means by addition: a sum of huge numbers may overflow, so each is divided
  // first.
  const double elements_max =
      std::ceil(static_cast<double>(height) / static_cast<double>(rows)) *
      std::ceil(static_cast<double>(width) / static_cast<double>(columns));
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      const int64_t at = y * rows / height * columns + x * columns / width;
      Block& block = blocks[at];
      const double element = ElementAt(value, y * width + x);
      if (!std::isfinite(element)) {
        ++block.not_finite;
        continue;
      }
      const bool is_first = block.finite == 0;
      block.lower = is_first ? element : std::min(block.lower, element);
      block.upper = is_first ? element : std::max(block.upper, element);
      block.mean += element / elements_max;
      ++block.finite;
    }
  }
  for (Block& block : blocks) {
    if (block.finite == 0) continue;
    block.mean = std::clamp(
        block.mean * (elements_max / static_cast<double>(block.finite)),
        block.lower, block.upper);
  }
  return blocks;
}

void Widen(PlotRange& range, const PlotRange& other) {
  range.not_finite += other.not_finite;
  if (other.is_empty) return;
  range.lower =
      range.is_empty ? other.lower : std::min(range.lower, other.lower);
  range.upper =
      range.is_empty ? other.upper : std::max(range.upper, other.upper);
  range.is_empty = false;
}

absl::StatusOr<PlotRange> RangeOf(const Value& value, absl::string_view title) {
  const std::vector<Axis> axes = AxesOf(value, {});
  DOGGED_RETURN_IF_ERROR(CheckShape(value, axes, title));
  return axes.size() == 1
             ? RangeOfBlocks(CurveBlocks(value, axes[0]), false)
             : RangeOfBlocks(MapBlocks(value, axes[0], axes[1]), true);
}

absl::StatusOr<Canvas> Plot(const Value& value, absl::string_view title,
                            const IndexGrid& indices, const PlotRange* scale) {
  const std::vector<Axis> axes = AxesOf(value, indices);
  DOGGED_RETURN_IF_ERROR(CheckShape(value, axes, title));
  if (axes.size() == 1) return PlotCurve(value, axes[0], title, scale);
  return PlotMap(value, axes[0], axes[1], title, scale);
}

}  // namespace dogged
