// Aim: selections mean what they say and cut just that.
// Method: parsed forms and errors; cuts of arrays whose elements name their
// own indices.
#include "apps/output/selection.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/output/selection_cut.h"
#include "gmock/gmock.h"

namespace dogged {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Kind = SelectedIndex::Kind;

Selection Parse(absl::string_view text) {
  const absl::StatusOr<Selection> selection = ParseSelection(text);
  EXPECT_TRUE(selection.ok()) << selection.status();
  return selection.value_or(Selection{});
}

std::string ErrorOf(absl::string_view text) {
  const absl::Status status = ParseSelection(text).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(Selection, Parses) {
  const Selection slice = Parse(" phi( : )(1000) = out=1/heat.npy ");
  EXPECT_EQ(slice.text, "phi(:)(1000)");
  EXPECT_EQ(slice.array, "phi");
  EXPECT_EQ(slice.path, "out=1/heat.npy");
  EXPECT_EQ(slice.format, OutputFormat::kNpy);
  EXPECT_THAT(
      slice.indices,
      ElementsAre(SelectedIndex{}, SelectedIndex{Kind::kOne, 1000, 1000}));
  const Selection range = Parse("u(-2:7)=u.PNG");
  EXPECT_EQ(range.format, OutputFormat::kPng);
  EXPECT_THAT(range.indices, ElementsAre(SelectedIndex{Kind::kRange, -2, 7}));
  const Selection open = Parse("u(T - 1)(1:N/2)=u.npy");
  EXPECT_EQ(open.text, "u(T-1)(1:N/2)");
  EXPECT_EQ(open.indices[0].expression, "T-1");
  EXPECT_EQ(open.indices[1].kind, Kind::kRange);
  const Selection steps = Parse("u(0 : 9 : 3)(0:T:10)=u.npy");
  EXPECT_EQ(steps.text, "u(0:9:3)(0:T:10)");
  EXPECT_THAT(steps.indices[0], (SelectedIndex{Kind::kRange, 0, 9, 3}));
  EXPECT_EQ(steps.indices[1].step, 10);
  EXPECT_EQ(Parse("u=a.zarr").format, OutputFormat::kZarr);
  EXPECT_EQ(Parse("u=b/a.zarr/").path, "b/a.zarr");
  EXPECT_EQ(Parse("u=a.vti").format, OutputFormat::kVti);
  EXPECT_EQ(Parse("u=a.pvd").format, OutputFormat::kPvd);
  EXPECT_EQ(Parse("u=a.apng").format, OutputFormat::kApng);
  const Selection whole = Parse("A_1=file.npy");
  EXPECT_EQ(whole.text, "A_1");
  EXPECT_TRUE(whole.indices.empty());
}

TEST(Selection, WrongTextIsMarked) {
  EXPECT_EQ(ErrorOf(" phi( : )(.5) = a.npy"),
            "'.5' is no number; an index is ':', a number as 5 or N-1, "
            "FIRST:LAST or FIRST:LAST:STEP\n"
            "   | phi(:)(.5)=a.npy\n"
            "   |        ^^\n"
            "   = help: as in  'phi(:)(1000)=heat.npy'  or  "
            "'phi(5:20)(1000)=heat.png'");
  EXPECT_THAT(ErrorOf("phi(:)(5)"), HasSubstr("no file is named\n"
                                              "   | phi(:)(5)\n"
                                              "   |          ^\n"));
  EXPECT_THAT(ErrorOf("phi(3)(:,5)=a.npy"), HasSubstr("write '(:)(5)'\n"
                                                      "   | phi(3)(:,5)=a.npy\n"
                                                      "   |        ^^^\n"));
  EXPECT_THAT(ErrorOf("phi(1:)=a.npy"), HasSubstr("'1:' is no range"));
  EXPECT_THAT(ErrorOf("phi(7:3)=a.npy"), HasSubstr("'7:3' is empty"));
  for (const char* step : {"0", "-10", "K", "", "1.5"}) {
    EXPECT_THAT(ErrorOf(absl::StrCat("phi(:)(0:600:", step, ")=a.npy")),
                HasSubstr(absl::StrCat("'", step,
                                       "' is no step; it is a number, "
                                       "1 or more, as in 0:N-1:10")));
  }
  EXPECT_THAT(ErrorOf("phi(::5)=a.npy"),
              HasSubstr("'::5' has a step and no ends; write them, as in "
                        "0:N-1:5\n"));
  EXPECT_THAT(ErrorOf("phi(0:9:2:1)=a.npy"), HasSubstr("is no range"));
  EXPECT_THAT(ErrorOf("phi:10=a.npy"), HasSubstr("'phi:10' is no name"));
  EXPECT_THAT(ErrorOf("phi()=a.npy"), HasSubstr("'' is no number"));
  EXPECT_THAT(ErrorOf("phi(1=a.npy"), HasSubstr("'(1' is no index"));
  EXPECT_THAT(ErrorOf("phi(1)x=a.npy"), HasSubstr("'x' is no index"));
  EXPECT_THAT(ErrorOf("=a.npy"), HasSubstr("'' is no name"));
  EXPECT_THAT(ErrorOf("phi=a.txt"), HasSubstr("in none of .npy, .zarr, .png, "
                                              ".apng, .vti, .pvd\n"
                                              "   | phi=a.txt\n"
                                              "   |     ^^^^^\n"));
  EXPECT_THAT(ErrorOf("phi="), HasSubstr("in none of"));
  EXPECT_THAT(ErrorOf("a(1)(1)(1)(1)(1)(1)(1)=a.npy"),
              HasSubstr("more than 6 indices"));
  EXPECT_THAT(ErrorOf("a(99999999999999999999)=a.npy"), HasSubstr("no number"));
}

// phi(1:4)(2:4)(9), one double each: 10 x + t.
struct Field {
  ResultView view = {.array = "phi",
                     .lower = {1, 2, 9},
                     .upper = {4, 4, 9},
                     .step = {1, 1, 1},
                     .tile_index = {0, 1, -1}};
  Value dense = Value::Allocate(ElementType::kDouble, {4, 3});
  Field() {
    for (size_t i = 0; i < 12; ++i) {
      dense.mutable_span<double>()[i] = 10 * (static_cast<double>(i / 3) + 1) +
                                        static_cast<double>(i % 3) + 2;
    }
    dense.Seal();
  }
  absl::StatusOr<Value> Cut(const std::string& indices) const {
    return ExtractSelection(Parse("phi" + indices + "=a.npy"), view, dense);
  }
};

TEST(ExtractSelection, FixedIndicesDropOut) {
  const Field field;
  const auto column = field.Cut("(:)(3)(9)");
  ASSERT_TRUE(column.ok()) << column.status();
  EXPECT_EQ(column->shape(), Shape{4});
  EXPECT_THAT(column->span<double>(), ElementsAre(13, 23, 33, 43));
  const auto row = field.Cut("(2)(3:4)(9)");
  ASSERT_TRUE(row.ok()) << row.status();
  EXPECT_EQ(row->shape(), Shape{2});
  EXPECT_THAT(row->span<double>(), ElementsAre(23, 24));
  const auto one = field.Cut("(4)(2)(9)");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->shape(), Shape{});
  EXPECT_THAT(one->span<double>(), ElementsAre(42));
  EXPECT_FALSE(one->digest().IsZero());
}

TEST(ExtractSelection, RangesKeepTheirDimension) {
  const Field field;
  const auto block = field.Cut("(2:3)(4:4)(:)");
  ASSERT_TRUE(block.ok()) << block.status();
  EXPECT_EQ(block->shape(), (Shape{2, 1, 1}));
  EXPECT_THAT(block->span<double>(), ElementsAre(24, 34));
  const auto whole = field.Cut("");
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->digest(), field.dense.digest());
}

TEST(ExtractSelection, OutsideIsSaid) {
  const Field field;
  const auto outside = field.Cut("(:)(5)(9)");
  EXPECT_EQ(outside.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(outside.status().message(),
            "'phi(:)(5)(9)' is not there: the results are phi(1:4)(2:4)(9)");
  EXPECT_EQ(field.Cut("(0:2)(3)(9)").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(field.Cut("(:)(3)(8)").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(field.Cut("(:)(3)").status().message(),
            "'phi(:)(3)' has 2 indices, but phi has 3: there is "
            "phi(1:4)(2:4)(9)");
}

TEST(Selection, OneStepOfASeries) {
  const Selection step = AtTime(Parse("phi(:)(2:N)(0:T)=a.pvd"), 3, -7);
  EXPECT_EQ(step.text, "phi(:)(2:N)(-7)");
  EXPECT_EQ(step.indices[1].expression, "2:N");
  EXPECT_EQ(step.indices[2], (SelectedIndex{Kind::kOne, -7, -7}));
  const Selection bare = AtTime(Parse("phi=a.apng"), 3, 9);
  EXPECT_EQ(bare.text, "phi(:)(:)(9)");
  EXPECT_THAT(bare.indices, ElementsAre(SelectedIndex{}, SelectedIndex{},
                                        SelectedIndex{Kind::kOne, 9, 9}));
}

// phi(1:7:2)(2:4)(9).
TEST(ExtractSelection, IndicesMayBeAStepApart) {
  Field field;
  field.view.upper[0] = 7;
  field.view.step[0] = 2;
  const auto rows = field.Cut("(3:7)(2)(9)");
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_THAT(rows->span<double>(), ElementsAre(22, 32, 42));
  const auto one = field.Cut("(5)(:)(9)");
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_THAT(one->span<double>(), ElementsAre(32, 33, 34));
  for (const char* between : {"(2)(2)(9)", "(3:6)(2)(9)", "(2:5)(2)(9)"}) {
    EXPECT_EQ(field.Cut(between).status().code(), absl::StatusCode::kNotFound)
        << between;
  }
  EXPECT_THAT(std::string(field.Cut("(2)(2)(9)").status().message()),
              HasSubstr("phi(1:7:2)(2:4)(9)"));
  const IndexGrid grid = GridOf(Parse("phi(3:7)(:)(9)=a.npy"), field.view);
  EXPECT_EQ(grid.first, (IndexVector{3, 2}));
  EXPECT_EQ(grid.step, (IndexVector{2, 1}));
}

// Steps over labels that there are, and over all of these.
TEST(ExtractSelection, StepsMayBeWider) {
  Field field;  // phi(1:7:2)(2:4)(9)
  field.view.upper[0] = 7;
  field.view.step[0] = 2;
  const auto some = field.Cut("(1:7:4)(2:4:2)(9)");
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_EQ(some->shape(), (Shape{2, 2}));
  EXPECT_THAT(some->span<double>(), ElementsAre(12, 14, 32, 34));
  // Ends that are no label of the range: 3 and 7, 3 alone.
  EXPECT_THAT(field.Cut("(3:8:4)(2)(9)")->span<double>(), ElementsAre(22, 42));
  EXPECT_THAT(field.Cut("(3:6:4)(2)(9)")->span<double>(), ElementsAre(22));
  EXPECT_THAT(field.Cut("(1:7:2)(2)(9)")->span<double>(),
              ElementsAre(12, 22, 32, 42));
  for (const char* between :
       {"(1:7:3)(2)(9)", "(2:6:4)(2)(9)", "(1:9:4)(2)(9)"}) {
    EXPECT_EQ(field.Cut(between).status().code(), absl::StatusCode::kNotFound)
        << between;
  }
  const IndexGrid grid = GridOf(Parse("phi(3:7:4)(:)(9)=a.npy"), field.view);
  EXPECT_EQ(grid.first, (IndexVector{3, 2}));
  EXPECT_EQ(grid.step, (IndexVector{4, 1}));
}

// A cut is the same, whatever the pieces are.
TEST(SelectionCut, TakesItsPartOfAnyPiece) {
  constexpr int64_t kRows = 11;
  Value dense = Value::Allocate(ElementType::kInt64, {kRows, 3});
  for (int64_t i = 0; i < dense.element_count(); ++i) {
    dense.mutable_span<int64_t>()[i] = i;
  }
  dense.Seal();
  const ResultView view = {.array = "k",
                           .lower = {0, 0},
                           .upper = {kRows - 1, 2},
                           .step = {1, 1},
                           .tile_index = {0, 1}};
  const Selection selection = Parse("k(1:9:3)(0:2:2)=k.npy");
  const auto cut = SelectionCut::Of(selection, view, dense.shape());
  ASSERT_TRUE(cut.ok()) << cut.status();
  for (int64_t rows = 1; rows <= kRows; ++rows) {
    std::vector<int64_t> found;
    for (int64_t first = 0; first < kRows; first += rows) {
      const int64_t here = std::min(rows, kRows - first);
      Value piece = Value::Allocate(ElementType::kInt64, {here, 3});
      for (int64_t i = 0; i < here * 3; ++i) {
        piece.mutable_span<int64_t>()[i] = first * 3 + i;
      }
      const size_t before = found.size();
      found.resize(before + cut->CountIn({first, 0}, piece.shape()));
      cut->Copy({first, 0}, piece,
                reinterpret_cast<char*>(found.data() + before));
    }
    EXPECT_THAT(found, ElementsAre(3, 5, 12, 14, 21, 23)) << rows;
  }
}

TEST(ExtractSelection, KnowsItsFirstIndices) {
  const Field field;
  const auto first = [&](const std::string& indices) {
    return GridOf(Parse("phi" + indices + "=a.npy"), field.view).first;
  };
  EXPECT_EQ(first(""), (IndexVector{1, 2}));
  EXPECT_EQ(first("(:)(3)(9)"), (IndexVector{1}));
  EXPECT_EQ(first("(3)(3:4)(9)"), (IndexVector{3}));
  EXPECT_EQ(first("(2:3)(:)(:)"), (IndexVector{2, 2, 9}));
}

}  // namespace
}  // namespace dogged
