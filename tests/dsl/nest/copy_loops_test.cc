// Aim: loops of copies visit the elements of a set and no others: conditions
// over several indices and the tile's, strides, and divisions that are none.
// Method: random sets, whose loops are walked in several tiles, against the
// conditions of each element.
#include "dsl/nest/copy_loops.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/isl/isl_sets.h"
#include "dsl/isl/set_queries.h"
#include "dsl/kernels/nest_walk.h"
#include "gtest/gtest.h"
#include "runtime/base/division.h"
#include "runtime/base/random.h"
#include "tests/sim/serial.h"

namespace dogged::dsl {
namespace {

constexpr int64_t kExtent = 9;  // of elements by index
constexpr int kRank = 3;
using Element = std::vector<int64_t>;

// A condition as isl reads it, and what it says of an element in tile T0.
struct Said {
  std::string text;
  std::function<bool(const Element&, int64_t)> holds;
};

// A small form of the indices and the tile's index.
struct RandomForm {
  explicit RandomForm(Rng& rng) {
    for (int d = 0; d < kRank; ++d) factors.push_back(rng.Below(5) - 2);
    of_tile = rng.Below(7) - 3;
    constant = rng.Below(13) - 4;
  }
  std::string Text() const {
    std::string out = absl::StrCat(constant, " + ", of_tile, "*T0");
    for (int d = 0; d < kRank; ++d) {
      absl::StrAppend(&out, " + ", factors[static_cast<size_t>(d)], "*x", d);
    }
    return out;
  }
  int64_t At(const Element& element, int64_t tile) const {
    int64_t out = constant + of_tile * tile;
    for (size_t d = 0; d < kRank; ++d) out += factors[d] * element[d];
    return out;
  }

  std::vector<int64_t> factors;
  int64_t of_tile = 0;
  int64_t constant = 0;
};

Said RandomCondition(Rng& rng) {
  const RandomForm form(rng);
  const int64_t divisor = 2 + rng.Below(3);
  switch (rng.Below(6)) {
    case 0: {  // strides, and what is near to one
      const int64_t rest = rng.Below(divisor);
      return {absl::StrCat("(", form.Text(), ") mod ", divisor, " = ", rest),
              [=](const Element& x, int64_t t) {
                return FloorMod(form.At(x, t), divisor) == rest;
              }};
    }
    case 1: {
      const RandomForm other(rng);
      return {absl::StrCat("floor((", form.Text(), ")/", divisor,
                           ") <= ", other.Text()),
              [=](const Element& x, int64_t t) {
                return FloorDiv(form.At(x, t), divisor) <= other.At(x, t);
              }};
    }
    case 2:
      return {absl::StrCat(form.Text(), " = 0"),
              [=](const Element& x, int64_t t) { return form.At(x, t) == 0; }};
    default:
      return {absl::StrCat(form.Text(), " >= 0"),
              [=](const Element& x, int64_t t) { return form.At(x, t) >= 0; }};
  }
}

// A body of one block, with an element for each of the box, and a statement
// that stores 1 there.
NestBody MarkingBody() {
  NestBody out;
  out.tile_rank = 1;
  out.nodes.emplace_back();
  out.blocks.push_back({.kind = NestBlock::Kind::kCreate,
                        .element = ElementType::kDouble,
                        .extents = {kExtent, kExtent, kExtent},
                        .first = {},
                        .limits = {},
                        .stored_lower = {},
                        .stored_upper = {}});
  CodeBlock code;
  code.index_count = kRank;
  CodeBuilder builder(code);
  code.stores = {{.element = ElementType::kDouble, .node = builder.Real(1)}};
  NestElement element;
  for (int d = 0; d < kRank; ++d) {
    element.by_point = element.by_point * kExtent + AffineExpr::Index(d);
  }
  out.statements.push_back(
      {.code = std::move(code), .stores = {element}, .loads = {}});
  return out;
}

void ExpectElements(Rng& rng, int& marked) {
  const IslContext context(100'000'000);
  std::string text = "[T0] -> { ";
  std::vector<std::vector<Said>> pieces(rng.Chance(0.3) ? 2 : 1);
  for (std::vector<Said>& piece : pieces) {
    absl::StrAppend(&text, "A[x0, x1, x2] : 0 <= x0, x1, x2 < ", kExtent);
    for (int64_t k = 1 + rng.Below(4); k > 0; --k) {
      piece.push_back(RandomCondition(rng));
      absl::StrAppend(&text, " and ", piece.back().text);
    }
    absl::StrAppend(&text, "; ");
  }
  absl::StrAppend(&text, "}");
  SCOPED_TRACE(text);
  const isl::set elements = Coalesced(isl::set(context.get(), text));
  const std::vector<LoopRange> box(
      kRank, {.first = {}, .last = AffineExpr::Constant(kExtent - 1)});
  NestBody body = MarkingBody();
  ASSERT_TRUE(AddCopyLoops(elements, box, /*statement=*/0, /*parent=*/0, body));
  const NestWalker walker(body);
  for (int64_t tile = -1; tile <= 2; ++tile) {
    std::vector<double> marks(kExtent * kExtent * kExtent);
    void* const block = marks.data();
    ASSERT_TRUE(walker.Run({tile}, {&block, 1}).ok());
    for (size_t k = 0; k < marks.size(); ++k) {
      const auto at = static_cast<int64_t>(k);
      const Element element = {at / (kExtent * kExtent), at / kExtent % kExtent,
                               at % kExtent};
      const bool is_one = std::any_of(
          pieces.begin(), pieces.end(), [&](const std::vector<Said>& piece) {
            return std::all_of(piece.begin(), piece.end(), [&](const Said& s) {
              return s.holds(element, tile);
            });
          });
      marked += is_one ? 1 : 0;
      ASSERT_EQ(marks[k] != 0, is_one) << element[0] << " " << element[1] << " "
                                       << element[2] << " of tile " << tile;
    }
  }
}

TEST(CopyLoopsTest, VisitTheElementsOfASet) {
  int marked = 0;
  const auto [first, last] = SeedRange(400);
  for (int64_t seed = first; seed <= last; ++seed) {
    SCOPED_TRACE(absl::StrCat("DOGGED_TEST_SEEDS=", seed, ":", seed));
    Rng rng(static_cast<uint64_t>(seed));
    ExpectElements(rng, marked);
    if (HasFailure()) return;
  }
  EXPECT_GT(marked, 0);
}

}  // namespace
}  // namespace dogged::dsl
