// Aim: the chunks of an array hold each element once; reads of chunks equal
// reads of the whole; numbers that make no grid are refused. Method: random
// shapes, cuts and boxes against plain loops.
#include "runtime/graph/input_array.h"

#include <map>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "runtime/graph/job.h"
#include "runtime/graph/program.h"

namespace dogged {
namespace {

class Held : public ChunkSource {
 public:
  Value Find(const ChunkId& chunk) const override {
    const auto it = chunks.find(chunk);
    return it == chunks.end() ? Value() : it->second;
  }
  std::map<ChunkId, Value> chunks;
};

Value Numbers(const Shape& shape) {
  Value out = Value::Allocate(ElementType::kInt64, shape);
  int64_t next = 1;
  for (int64_t& x : out.mutable_span<int64_t>()) x = next++;
  out.Seal();
  return out;
}

// As a receiver has them.
std::shared_ptr<Held> ChunksOf(const JobInput& input) {
  auto out = std::make_shared<Held>();
  for (int64_t i = 0; i < input.grid.count(); ++i) {
    Value chunk =
        Value::Allocate(input.grid.element, input.grid.BoxOf(i).extents);
    input.CopyChunk(i, static_cast<char*>(chunk.mutable_data()));
    chunk.Seal();
    EXPECT_EQ(chunk.digest(), input.chunks[i]);
    EXPECT_EQ(chunk.bytes(), input.grid.BytesOf(i));
    out->chunks[{0, i}] = chunk;
  }
  return out;
}

TEST(InputArray, ChunksAreTheWhole) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Rng rng(seed);
    Shape shape;
    Shape cut;
    const int64_t rank = rng.Below(4);
    for (int64_t d = 0; d < rank; ++d) {
      shape.push_back(1 + rng.Below(12));
      cut.push_back(1 + rng.Below(shape[static_cast<int>(d)]));
    }
    JobInput input{.array = "A", .content = Numbers(shape)};
    input.Cut(cut);
    int64_t bytes = 0;
    for (int64_t i = 0; i < input.grid.count(); ++i) {
      bytes += input.grid.BytesOf(i);
    }
    EXPECT_EQ(bytes, input.content.bytes()) << "seed " << seed;
    const InputArray whole(input.content);
    const InputArray cut_up(0, input.grid, ChunksOf(input));
    for (int i = 0; i < 10; ++i) {
      DenseBox box;
      for (int d = 0; d < shape.size(); ++d) {
        box.first.push_back(rng.Below(shape[d]));
        box.extents.push_back(1 + rng.Below(shape[d] - box.first[d]));
      }
      const auto count = static_cast<size_t>(ElementCount(box.extents));
      std::vector<int64_t> a(count);
      std::vector<int64_t> b(count);
      ASSERT_TRUE(whole.Read(box, a.data()).ok());
      ASSERT_TRUE(cut_up.Read(box, b.data()).ok()) << "seed " << seed;
      EXPECT_EQ(a, b) << "seed " << seed;
      int64_t first = 1;
      int64_t stride = 1;
      for (int d = shape.size() - 1; d >= 0; --d) {
        first += box.first[d] * stride;
        stride *= shape[d];
      }
      EXPECT_EQ(a.front(), first) << "seed " << seed;
    }
  }
}

TEST(InputArray, WhatIsNotAtHandIsAnError) {
  JobInput input{.array = "A", .content = Numbers({8, 8})};
  input.Cut({4, 4});
  const auto held = ChunksOf(input);
  held->chunks.erase({0, 2});
  const InputArray array(0, input.grid, held);
  std::vector<int64_t> out(64);
  EXPECT_TRUE(array.Read({{0, 0}, {4, 8}}, out.data()).ok());
  EXPECT_EQ(array.Read({{0, 0}, {5, 8}}, out.data()).code(),
            absl::StatusCode::kUnavailable);
}

// The job has digests instead of bytes; they name all of the input.
TEST(InputArray, TravelsAsDigests) {
  Job job;
  job.program.name = "reads";
  job.inputs.push_back({.array = "A", .content = Numbers({100, 100})});
  job.cuts = {{10, 100}};
  const std::string encoded = job.Encode();
  EXPECT_LT(encoded.size(), 1000);
  Job cut = job;
  cut.CutInputs();
  EXPECT_EQ(cut.Encode(), encoded);
  Value other = Numbers({100, 100}).Copy();
  other.mutable_span<int64_t>()[9999] = 7;
  other.Seal();
  job.inputs[0].content = other;
  EXPECT_NE(job.Encode(), encoded);
  // A small one is in the job.
  job.inputs[0].content = Numbers({10, 100});
  EXPECT_GT(job.Encode().size(), 8000);
}

TEST(InputArray, RefusesWhatIsNoGrid) {
  const auto is_good = [](const Shape& shape, const Shape& chunk) {
    Encoder out;
    ChunkGrid{.shape = shape, .chunk = chunk}.Encode(out);
    Decoder in(out.view());
    (void)ChunkGrid::Decode(in);
    return in.ok();
  };
  EXPECT_TRUE(is_good({8, 8}, {4, 8}));
  EXPECT_FALSE(is_good({8, 8}, {0, 8}));
  EXPECT_FALSE(is_good({8, 8}, {4, 9}));
  EXPECT_FALSE(is_good({8, 8}, {4}));
  EXPECT_FALSE(is_good({8, -8}, {4, 1}));
  EXPECT_FALSE(is_good({int64_t{1} << 40, int64_t{1} << 40}, {1, 1}));
  EXPECT_FALSE(is_good({int64_t{1} << 30}, {1}));  // too many chunks
}

}  // namespace
}  // namespace dogged
