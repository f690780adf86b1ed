// Aim: pictures show what the data are, whatever they are.
// Method: reduction against hand-made means, ticks as goldens, colours of
// single pixels, odd data, and the bytes of the file.
#include "apps/output/plot.h"

#include <cmath>
#include <limits>

#include "apps/output/apng.h"
#include "apps/output/font.h"
#include "apps/output/plot_scale.h"
#include "apps/output/png.h"
#include "gmock/gmock.h"
#include "tests/output/temporary_folder.h"

namespace dogged {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

Value Of(const std::vector<double>& elements, const Shape& shape) {
  Value value = Value::Allocate(ElementType::kDouble, shape);
  std::copy(elements.begin(), elements.end(),
            value.mutable_span<double>().begin());
  value.Seal();
  return value;
}

int CountOf(const Canvas& canvas, Colour colour) {
  int count = 0;
  for (int y = 0; y < canvas.height(); ++y) {
    for (int x = 0; x < canvas.width(); ++x) {
      count += canvas.At(x, y) == colour;
    }
  }
  return count;
}

TEST(Plot, ReducesByMeansOfBlocks) {
  const Value value = Of({1, 3, 5, kNan, 9, 11}, {6});
  const std::vector<Block> blocks = Reduce(value, 1, 3);
  EXPECT_EQ(blocks[0].mean, 2);
  EXPECT_EQ(blocks[1].mean, 5);
  EXPECT_EQ(blocks[1].not_finite, 1);
  EXPECT_EQ(blocks[2].mean, 10);
  EXPECT_EQ(blocks[2].lower, 9);
  EXPECT_EQ(blocks[2].upper, 11);
  const Value square = Of({0, 2, 4, 6, 10, 12, 14, 16}, {2, 4});
  const std::vector<Block> pair = Reduce(square, 1, 2);
  EXPECT_EQ(pair[0].mean, 6);
  EXPECT_EQ(pair[1].mean, 10);
}

TEST(Plot, MeansOfHugeNumbersStayFinite) {
  const double huge = std::numeric_limits<double>::max();
  const std::vector<Block> blocks = Reduce(Of({huge, huge, huge}, {3}), 1, 1);
  EXPECT_EQ(blocks[0].mean, huge);
}

TEST(Plot, TicksAreRoundAndToldApart) {
  EXPECT_THAT(ScaleFor(0, 1, 5, false).texts,
              ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(ScaleFor(-100, 90, 4, false).texts,
              ElementsAre("-100", "-50", "0", "50"));
  EXPECT_THAT(ScaleFor(0, 1e10, 4, false).texts,
              ElementsAre("0", "5e9", "1.0e10"));
  EXPECT_THAT(ScaleFor(1, 1 + 1e-6, 2, false).texts,
              ElementsAre("1.0000000", "1.0000005", "1.0000010"));
  EXPECT_THAT(ScaleFor(0, 3e-5, 3, false).texts,
              ElementsAre("0", "1e-5", "2e-5", "3e-5"));
  EXPECT_THAT(IndexScale(0, 5001, 5).texts, ElementsAre("0", "2 000", "4 000"));
  EXPECT_THAT(IndexScale(0, 3, 8).texts, ElementsAre("0", "1", "2"));
  EXPECT_THAT(IndexScale(1, 10, 2).texts, ElementsAre("5", "10"));
  EXPECT_THAT(IndexScale(-7, 10, 2).texts, ElementsAre("-5", "0"));
}

// No number is cut: nothing is drawn on the last pixels of any side.
TEST(Plot, NumbersOfTheAxesAreWhole) {
  for (const int64_t first : {int64_t{0}, int64_t{1999990}, int64_t{-2000000},
                              int64_t{-10}, int64_t{3999999990}}) {
    for (const Shape& shape : {Shape{11}, Shape{3, 11}, Shape{11, 3}}) {
      const std::vector<double> zeros(shape.size() == 1 ? 11 : 33, 0.0);
      const auto canvas =
          Plot(Of(zeros, shape), "t",
               {.first = shape.size() == 1 ? IndexVector{first}
                                           : IndexVector{first, first}});
      ASSERT_TRUE(canvas.ok());
      for (int y = 0; y < canvas->height(); ++y) {
        for (const int x : {0, 1, canvas->width() - 2, canvas->width() - 1}) {
          ASSERT_EQ(canvas->At(x, y), (Colour{255, 255, 255}))
              << "first " << first << ", pixel " << x << ", " << y;
        }
      }
    }
  }
}

TEST(Plot, ScalesOfOddData) {
  const double huge = std::numeric_limits<double>::max();
  for (const auto& [lower, upper] :
       std::vector<std::pair<double, double>>{{0, 0},
                                              {5, 5},
                                              {-huge, huge},
                                              {0, 5e-324},
                                              {1, 1 + 1e-16},
                                              {-1e-310, 1e-310},
                                              {huge, huge}}) {
    const PlotScale scale = ScaleFor(lower, upper, 6, true);
    EXPECT_LT(scale.lower, scale.upper);
    EXPECT_LE(scale.ticks.size(), 20u);
    EXPECT_GE(scale.ticks.size(), 1u);
    EXPECT_TRUE(std::isfinite(scale.Place(lower)));
  }
}

TEST(Plot, TheColourMapGetsLighterEvenly) {
  const auto lightness = [](double share) {
    const auto linear = [](uint8_t channel) {
      return std::pow(channel / 255.0, 2.2);
    };
    const Colour c = MapColour(share);
    const double luminance = 0.2126 * linear(c.red) + 0.7152 * linear(c.green) +
                             0.0722 * linear(c.blue);
    return 116 * std::cbrt(luminance) - 16;
  };
  const double whole = lightness(1) - lightness(0);
  for (int i = 0; i < 20; ++i) {
    const double step = lightness((i + 1) / 20.0) - lightness(i / 20.0);
    EXPECT_GT(step, 0.5 * whole / 20) << i;
    EXPECT_LT(step, 1.5 * whole / 20) << i;
  }
}

TEST(Plot, AMapOfBothSignsHasZeroInTheMiddle) {
  const absl::StatusOr<Canvas> canvas =
      Plot(Of({-1, 0, 2, 0, 0, 0}, {2, 3}), "u");
  ASSERT_TRUE(canvas.ok()) << canvas.status();
  EXPECT_EQ(canvas->At(200, 100), SignedColour(0.25));
  EXPECT_EQ(canvas->At(440, 100), SignedColour(0.5));
  EXPECT_EQ(canvas->At(680, 100), SignedColour(1));
  // Rounding is no sign.
  const auto one = Plot(Of({-1e-9, 0, 2, 0, 0, 0}, {2, 3}), "u");
  ASSERT_TRUE(one.ok());
  EXPECT_EQ(one->At(200, 100), MapColour(0));
  EXPECT_EQ(one->At(680, 100), MapColour(1));
  // As dark at both ends, and nearly white between.
  const auto grey = [](Colour c) { return c.red + c.green + c.blue; };
  EXPECT_NEAR(grey(SignedColour(0)), grey(SignedColour(1)), 30);
  EXPECT_GT(grey(SignedColour(0.5)), 700);
}

TEST(Plot, AxesHaveTheirOwnNumbers) {
  const auto drawn = [](const std::vector<AxisScale>& axes) {
    const auto canvas = Plot(Of(std::vector<double>(22), {11, 2}), "u",
                             {.first = {5, 0}, .step = {2, 1}, .axes = axes});
    EXPECT_TRUE(canvas.ok()) << canvas.status();
    return *canvas;
  };
  const auto differ = [](const Canvas& one, const Canvas& other) {
    if (one.width() != other.width()) return true;
    for (int y = 0; y < one.height(); ++y) {
      for (int x = 0; x < one.width(); ++x) {
        if (!(one.At(x, y) == other.At(x, y))) return true;
      }
    }
    return false;
  };
  const Canvas plain = drawn({});
  EXPECT_FALSE(differ(plain, drawn({{}, {}})));
  const Canvas tenths = drawn({{.spacing = 0.1, .unit = ""}, {}});
  EXPECT_TRUE(differ(plain, tenths));
  EXPECT_TRUE(differ(tenths, drawn({{.spacing = 0.1, .unit = "mm"}, {}})));
}

TEST(Spacing, IsParsed) {
  const auto axes = ParseSpacing("x=0.1, y = 2e-3 mm,t=5s");
  ASSERT_TRUE(axes.ok()) << axes.status();
  EXPECT_THAT(*axes, ElementsAre(std::pair{"t", AxisScale{5, "s"}},
                                 std::pair{"x", AxisScale{0.1, ""}},
                                 std::pair{"y", AxisScale{0.002, "mm"}}));
  for (const char* wrong : {"", "x", "x=", "=1", "x=0", "x=-1", "x=mm", "x=inf",
                            "x=nan", "x=1,x=2", "x=1,"}) {
    const absl::Status status = ParseSpacing(wrong).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << wrong;
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("as in  --spacing 'x=0.1,y=0.1'"));
  }
}

TEST(Plot, AMapHasItsRowsFromTheTop) {
  const absl::StatusOr<Canvas> canvas =
      Plot(Of({0, 0, 0, 1, 1, 1}, {2, 3}), "u");
  ASSERT_TRUE(canvas.ok()) << canvas.status();
  // 240 pixels to a cell; the frame begins below 48 pixels of heading.
  EXPECT_EQ(canvas->At(200, 100), MapColour(0));
  EXPECT_EQ(canvas->At(200, 400), MapColour(1));
}

TEST(Plot, WhatIsNotFiniteIsRed) {
  const Colour red = {214, 39, 40};
  for (const double odd : {kNan, kInfinity, -kInfinity}) {
    const auto map = Plot(Of({0, 1, odd, 3}, {2, 2}), "u");
    ASSERT_TRUE(map.ok());
    EXPECT_GE(CountOf(*map, red), 360 * 360);
    const auto curve = Plot(Of({0, 1, odd, 3}, {4}), "u");
    ASSERT_TRUE(curve.ok());
    // Laid over the background with 0.6.
    EXPECT_GT(CountOf(*curve, {230, 125, 126}), 1000);
  }
  EXPECT_EQ(CountOf(*Plot(Of({0, 1, 2, 3}, {2, 2}), "u"), red), 0);
}

TEST(Plot, ShapesThatHaveAPicture) {
  const std::vector<double> eight = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_TRUE(Plot(Of(eight, {8}), "u").ok());
  EXPECT_TRUE(Plot(Of(eight, {1, 8, 1}), "u").ok());
  EXPECT_TRUE(Plot(Of(eight, {2, 1, 4}), "u").ok());
  EXPECT_TRUE(Plot(Of(std::vector<double>(5000), {1000, 5}), "u").ok());
  EXPECT_TRUE(Plot(Of({kNan, kNan}, {2}), "u").ok());
  const absl::Status cube = Plot(Of(eight, {2, 2, 2}), "u(:)(:)(:)").status();
  EXPECT_EQ(cube.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(cube.message(),
            "a picture has one or two dimensions, u(:)(:)(:) has 3; fix an "
            "index, or write it to an .npy file");
  EXPECT_FALSE(Plot(Of({1}, {}), "u").ok());
  EXPECT_FALSE(Plot(Of({}, {0}), "u").ok());
}

TEST(Plot, StaysSmallForMuchData) {
  const auto map = Plot(Of(std::vector<double>(4000 * 900, 1), {4000, 900}),
                        std::string(500, 'x'));
  ASSERT_TRUE(map.ok());
  EXPECT_LE(map->width(), 1000);
  EXPECT_LE(map->height(), 1000);
  const auto curve = Plot(Of(std::vector<double>(200001, 1e300), {200001}), "");
  ASSERT_TRUE(curve.ok());
  EXPECT_LE(curve->width(), 1100);
}

TEST(Plot, AScaleOfItsOwnOrAGivenOne) {
  const Value small = Of({1, 2, kNan, 1}, {2, 2});
  PlotRange range = *RangeOf(small, "u");
  EXPECT_EQ(range.lower, 1);
  EXPECT_EQ(range.upper, 2);
  EXPECT_EQ(range.not_finite, 1);
  Widen(range, *RangeOf(Of({kNan, kNan}, {2}), "u"));
  EXPECT_EQ(range.lower, 1);
  Widen(range, *RangeOf(Of({0, 4, 0, 0}, {2, 2}), "u"));
  EXPECT_EQ(range.lower, 0);
  EXPECT_EQ(range.upper, 4);
  const auto canvas = Plot(small, "u", {}, &range);
  ASSERT_TRUE(canvas.ok()) << canvas.status();
  EXPECT_EQ(canvas->At(200, 100), MapColour(0.25));
  EXPECT_EQ(canvas->At(600, 100), MapColour(0.5));
  EXPECT_FALSE(RangeOf(Of({1}, {1}), "u").ok());
}

TEST(Apng, ShowsRoundStepsAndTheLast) {
  EXPECT_THAT(FrameSteps(5, 5), ElementsAre(5));
  EXPECT_THAT(FrameSteps(-1, 2), ElementsAre(-1, 0, 1, 2));
  EXPECT_EQ(FrameSteps(0, 100).size(), 101u);
  const std::vector<int64_t> halved = FrameSteps(0, 101);
  EXPECT_EQ(halved.size(), 52u);
  EXPECT_EQ(halved[1], 2);
  EXPECT_EQ(halved.back(), 101);
  for (const int64_t last : {201, 501, 999, 1000, 1001, 4001, 123456789}) {
    const std::vector<int64_t> steps = FrameSteps(0, last);
    EXPECT_LE(steps.size(), 101u) << last;
    EXPECT_GT(steps.size(), 40u) << last;
    EXPECT_EQ(steps.back(), last);
  }
}

TEST(Font, HasEveryLetter) {
  for (char letter = '!'; letter <= '~'; ++letter) {
    EXPECT_FALSE(StrokesOf(letter).empty()) << letter;
  }
  EXPECT_TRUE(StrokesOf(' ').empty());
  EXPECT_EQ(StrokesOf('\xe4').size(), StrokesOf('?').size());
}

TEST(Png, IsAFileThatViewersKnow) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.png";
  ASSERT_TRUE(WritePng(path, Of({1, 2, 3}, {3}), "phi(:)(1000)").ok());
  const std::string bytes = ContentOf(path);
  EXPECT_THAT(bytes, StartsWith("\x89PNG\r\n\x1a\n"));
  EXPECT_THAT(bytes.substr(bytes.size() - 8), StartsWith("IEND"));
  EXPECT_EQ(folder.FileCount(), 1);
  const absl::Status none = WritePng(path, Of({1}, {}), "phi(1)(1000)");
  EXPECT_THAT(std::string(none.message()), StartsWith(path));
  EXPECT_EQ(ContentOf(path), bytes);
}

}  // namespace
}  // namespace dogged
