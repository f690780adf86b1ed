// Aim: a shard holds one value per label and tells when another one comes;
// watermarks never claim more than they were told. Method: hand-made labels,
// and random sequences against a plain model.
#include "kvstore/dictionary/shard.h"

#include <set>

#include "gmock/gmock.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

Label At(int64_t x, int64_t t) { return {.array = 0, .index = {x, t}}; }

TEST(Shard, FindsWhatWasBound) {
  Shard shard;
  EXPECT_EQ(shard.Find(At(1, 2)), nullptr);
  ASSERT_TRUE(*shard.Bind(At(1, 2), Value::Scalar(3)));
  ASSERT_NE(shard.Find(At(1, 2)), nullptr);
  EXPECT_EQ(shard.Find(At(1, 2))->value.span<double>()[0], 3);
  EXPECT_EQ(shard.Find(At(2, 1)), nullptr);
  EXPECT_EQ(shard.size(), 1);
}

TEST(Shard, AnEqualSecondBindChangesNothing) {
  Shard shard;
  ASSERT_TRUE(*shard.Bind(At(1, 2), Value::Scalar(3)));
  shard.Find(At(1, 2))->copies.push_back(AgentId(7));
  const void* block = shard.Find(At(1, 2))->value.data();
  EXPECT_FALSE(*shard.Bind(At(1, 2), Value::Scalar(3)));
  EXPECT_EQ(shard.Find(At(1, 2))->value.data(), block);
  EXPECT_THAT(shard.Find(At(1, 2))->copies, ElementsAre(AgentId(7)));
}

TEST(Shard, ADifferentSecondBindIsRefusedWithBothDigests) {
  Shard shard;
  const Value first = Value::Scalar(3);
  const Value second = Value::Scalar(4);
  ASSERT_TRUE(*shard.Bind(At(1, 2), first));
  const absl::StatusOr<bool> bound = shard.Bind(At(1, 2), second);
  EXPECT_EQ(bound.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(bound.status().message()),
              HasSubstr(first.digest().ToString()));
  EXPECT_THAT(std::string(bound.status().message()),
              HasSubstr(second.digest().ToString()));
  EXPECT_EQ(shard.Find(At(1, 2))->value.digest(), first.digest());
}

TEST(Shard, WaitersSurviveTheBind) {
  Shard shard;
  shard.Get(At(1, 2)).waiters.push_back(AgentId(5));
  EXPECT_TRUE(shard.Find(At(1, 2))->value.IsNone());
  ASSERT_TRUE(*shard.Bind(At(1, 2), Value::Scalar(3)));
  EXPECT_THAT(shard.Find(At(1, 2))->waiters, ElementsAre(AgentId(5)));
}

TEST(Shard, WhatWasErasedMayBeBoundToAnotherValue) {
  Shard shard;
  ASSERT_TRUE(*shard.Bind(At(1, 2), Value::Scalar(3)));
  shard.Erase(At(1, 2));
  shard.Erase(At(1, 2));
  EXPECT_EQ(shard.size(), 0);
  EXPECT_TRUE(*shard.Bind(At(1, 2), Value::Scalar(4)));
}

TEST(Shard, SelectsInLabelOrder) {
  Shard shard;
  Rng rng(1);
  std::set<Label> expected;
  for (int i = 0; i < 500; ++i) {
    const Label label = At(rng.Below(50), rng.Below(50));
    shard.Get(label);
    if (label.index[1] % 3 == 0) expected.insert(label);
  }
  EXPECT_THAT(shard.Select([](const Label& label, const LabelEntry&) {
    return label.index[1] % 3 == 0;
  }),
              testing::ElementsAreArray(expected));
}

// For who writes values to disk: each bind once, each erased label whose bytes
// may be there.
TEST(Shard, TracksWhatIsBoundAndErased) {
  Shard shard;
  ASSERT_TRUE(*shard.Bind(At(0, 0), Value::Scalar(1)));
  EXPECT_THAT(shard.TakeBound(), testing::IsEmpty());
  shard.StartTracking();
  ASSERT_TRUE(*shard.Bind(At(3, 0), Value::Scalar(1)));
  ASSERT_TRUE(*shard.Bind(At(1, 0), Value::Scalar(1)));
  ASSERT_TRUE(*shard.Bind(At(2, 0), Value::Scalar(1)));
  EXPECT_FALSE(*shard.Bind(At(1, 0), Value::Scalar(1)));
  EXPECT_THAT(shard.TakeBound(), ElementsAre(At(3, 0), At(1, 0), At(2, 0)));
  shard.Find(At(1, 0))->on_disk = OnDisk::kYes;
  shard.Find(At(2, 0))->on_disk = OnDisk::kOnItsWay;
  for (int64_t x = 0; x < 4; ++x) shard.Erase(At(x, 0));
  EXPECT_THAT(shard.TakeErased(), ElementsAre(At(1, 0), At(2, 0)));
  EXPECT_THAT(shard.TakeErased(), testing::IsEmpty());
}

TEST(Shard, ASpilledValueIsBoundAndTakesNoMemory) {
  Shard shard;
  const Value value = Value::Scalar(3);
  ASSERT_TRUE(*shard.Bind(At(1, 0), value));
  EXPECT_EQ(shard.BytesInMemory(), 8);
  shard.Find(At(1, 0))->value = value.Spilled();
  EXPECT_EQ(shard.BytesInMemory(), 0);
  EXPECT_EQ(shard.Find(At(1, 0))->value.bytes(), 8);
  EXPECT_FALSE(*shard.Bind(At(1, 0), value));
  EXPECT_FALSE(shard.Bind(At(1, 0), Value::Scalar(4)).ok());
}

TEST(RowWatermarks, KnowTheNewestVersionOfEachRow) {
  RowWatermarks watermarks;
  EXPECT_FALSE(watermarks.Has(At(1, 0), 0));
  EXPECT_EQ(watermarks.Newest(At(1, 0)), std::nullopt);
  watermarks.Raise(At(1, 0), 7);
  watermarks.Raise(At(1, 0), 3);
  EXPECT_EQ(watermarks.Newest(At(1, 0)), 7);
  EXPECT_TRUE(watermarks.Has(At(1, 0), 7));
  EXPECT_TRUE(watermarks.Has(At(1, 0), 0));
  EXPECT_FALSE(watermarks.Has(At(1, 0), 8));
  EXPECT_FALSE(watermarks.Has(At(2, 0), 0));
}

TEST(RowWatermarks, SelectRowsInOrder) {
  RowWatermarks watermarks;
  for (int64_t x : {5, 3, 9, 4}) watermarks.Raise(At(x, 0), 10 * x);
  EXPECT_THAT(
      watermarks.Select([](const Label& row) { return row.index[0] != 4; }),
      ElementsAre(Pair(At(3, 0), 30), Pair(At(5, 0), 50), Pair(At(9, 0), 90)));
}

}  // namespace
}  // namespace dogged
