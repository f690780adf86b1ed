// Aim: watermarks bound the cost of a loss: retained generations stay until no
// neighbour can need labels above them, and recomputed labels live as long.
// Method: a row of a stencil, whose progress the test tells.
#include "kvstore/dictionary/watermarks.h"

#include "gmock/gmock.h"
#include "tests/kvstore/fake_labels.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr int64_t kInterval = 4;
constexpr int64_t kSteps = 20;

class MarksTest : public testing::Test {
 protected:
  static Label Phi(int64_t x, int64_t t) {
    return {.array = 0, .index = {x, t}};
  }
  // Row x is done with up to version t, as a home would say it.
  void DropUpTo(int64_t x, int64_t t) {
    for (int64_t v = 0; v <= t; ++v) {
      watermarks_.NoteBound(Phi(x, v));
      if (watermarks_.MustRetain(Phi(x, v))) {
        watermarks_.Retain(Phi(x, v));
      } else {
        watermarks_.NoteRetired(Phi(x, v));
      }
    }
  }

  const FakeLabels labels_{{.steps = kSteps, .has_edges = true}};
  Watermarks watermarks_{labels_, kInterval};
};

TEST_F(MarksTest, PinsAreEveryCthVersionThatRequiresSomething) {
  EXPECT_FALSE(watermarks_.IsRetainedGeneration(Phi(3, 0)));  // a leaf
  EXPECT_FALSE(watermarks_.IsRetainedGeneration(Phi(3, 3)));
  EXPECT_TRUE(watermarks_.IsRetainedGeneration(Phi(3, 4)));
  EXPECT_TRUE(watermarks_.IsRetainedGeneration(Phi(3, 8)));
  EXPECT_FALSE(
      watermarks_.IsRetainedGeneration(Phi(0, 4)));  // the edge: leaves
}

TEST_F(MarksTest, APinGoesTwoIntervalsLater) {
  DropUpTo(3, 11);
  EXPECT_THAT(watermarks_.TakeExpired(Phi(3, 11)), IsEmpty());
  EXPECT_TRUE(watermarks_.IsRetained(Phi(3, 4)));
  EXPECT_FALSE(watermarks_.IsRetired(Phi(3, 4)));
  EXPECT_TRUE(watermarks_.IsRetired(Phi(3, 5)));
  DropUpTo(3, 12);
  EXPECT_THAT(watermarks_.TakeExpired(Phi(3, 12)), ElementsAre(Phi(3, 4)));
  EXPECT_FALSE(watermarks_.IsRetained(Phi(3, 4)));
  EXPECT_TRUE(watermarks_.IsRetired(Phi(3, 4)));
  EXPECT_TRUE(watermarks_.IsRetained(Phi(3, 8)));
}

TEST_F(MarksTest, ARowThatEndedKeepsNothing) {
  DropUpTo(3, kSteps);
  watermarks_.TakeExpired(Phi(3, kSteps));
  EXPECT_THAT(watermarks_.TakeAllRetained(), IsEmpty());
}

TEST_F(MarksTest, RowsOfPinsOnlyGoOnToo) {
  Watermarks watermarks(labels_, 1);
  std::vector<Label> gone;
  for (int64_t v = 1; v <= 9; ++v) {
    ASSERT_TRUE(watermarks.MustRetain(Phi(3, v)));
    watermarks.Retain(Phi(3, v));
    for (const Label& label : watermarks.TakeExpired(Phi(3, v))) {
      watermarks.NoteRetired(label);
      gone.push_back(label);
    }
  }
  EXPECT_EQ(gone.size(), 7u);
}

TEST_F(MarksTest, AReopenedLabelIsNeitherBoundNorDropped) {
  DropUpTo(3, 10);
  EXPECT_TRUE(watermarks_.WasBound(Phi(3, 9)));
  EXPECT_TRUE(watermarks_.IsRetired(Phi(3, 9)));
  watermarks_.MarkRecomputing(Phi(3, 9));
  EXPECT_FALSE(watermarks_.WasBound(Phi(3, 9)));
  EXPECT_FALSE(watermarks_.IsRetired(Phi(3, 9)));
  EXPECT_TRUE(watermarks_.WasBound(Phi(3, 10)));
  watermarks_.NoteRetired(Phi(3, 9));
  EXPECT_TRUE(watermarks_.IsRetired(Phi(3, 9)));
}

TEST_F(MarksTest, AReopenedLabelLivesAsLongAsThePinBelowIt) {
  DropUpTo(3, 10);
  watermarks_.MarkRecomputing(Phi(3, 9));
  EXPECT_TRUE(watermarks_.MustRetain(Phi(3, 9)));  // retained with 8, up to 16
  watermarks_.Retain(Phi(3, 9));
  DropUpTo(3, 15);
  EXPECT_TRUE(watermarks_.MustRetain(Phi(3, 9)));
  DropUpTo(3, 17);
  EXPECT_FALSE(watermarks_.MustRetain(Phi(3, 9)));
  EXPECT_THAT(watermarks_.TakeExpired(Phi(3, 17)),
              testing::IsSupersetOf({Phi(3, 8), Phi(3, 9)}));
}

// Below the retained generations nothing tells when a label may go: each is
// made once.
TEST_F(MarksTest, WhatLiesBelowThePinsIsKeptToTheEnd) {
  DropUpTo(3, 15);
  watermarks_.TakeExpired(Phi(3, 15));
  watermarks_.MarkRecomputing(Phi(3, 2));
  watermarks_.Retain(Phi(3, 2));
  DropUpTo(3, 18);
  EXPECT_TRUE(watermarks_.MustRetain(Phi(3, 2)));
  EXPECT_THAT(watermarks_.TakeAllRetained(), testing::Contains(Phi(3, 2)));
}

TEST_F(MarksTest, ALaterVersionSaysThatALeafWasBound) {
  EXPECT_FALSE(watermarks_.WasOvertaken(Phi(3, 0)));
  watermarks_.NoteBound(Phi(3, 4));
  EXPECT_TRUE(watermarks_.WasOvertaken(Phi(3, 0)));
  watermarks_.NoteBound(Phi(0, 4));  // the edge is a row of leaves, in no order
  EXPECT_FALSE(watermarks_.WasOvertaken(Phi(0, 2)));
}

TEST_F(MarksTest, ForgetsRowsThatMoved) {
  DropUpTo(3, 9);
  DropUpTo(4, 9);
  watermarks_.MarkRecomputing(Phi(3, 7));
  watermarks_.Forget([](const Label& row) { return row.index[0] == 3; });
  EXPECT_FALSE(watermarks_.IsRecomputing(Phi(3, 7)));
  EXPECT_FALSE(watermarks_.IsRetained(Phi(3, 8)));
  EXPECT_TRUE(watermarks_.IsRetained(Phi(4, 8)));
}

// A watermark that a death made unverified is trusted again once as much was
// dropped here.
TEST_F(MarksTest, DoubtsEndWhereTheRowIsDropped) {
  DropUpTo(3, 6);
  EXPECT_FALSE(watermarks_.HasUnverified());
  watermarks_.MarkUnverified(Phi(3, 0), 6);
  EXPECT_TRUE(watermarks_.IsUnverified(Phi(3, 5)));
  EXPECT_TRUE(watermarks_.IsUnverified(Phi(3, 6)));
  EXPECT_FALSE(watermarks_.IsUnverified(Phi(3, 7)));
  EXPECT_FALSE(watermarks_.IsUnverified(Phi(4, 5)));
  watermarks_.NoteRetired(Phi(3, 5));
  EXPECT_TRUE(watermarks_.IsUnverified(Phi(3, 5)));
  watermarks_.NoteRetired(Phi(3, 6));
  EXPECT_FALSE(watermarks_.HasUnverified());
  watermarks_.MarkUnverified(Phi(2, 0), 1);
  watermarks_.Forget([](const Label& row) { return row.index[0] == 2; });
  EXPECT_FALSE(watermarks_.HasUnverified());
}

TEST_F(MarksTest, AVersionThatIsFoundCountsThoseThatLedToIt) {
  EXPECT_EQ(watermarks_.VersionsFoundBy(Phi(3, 0)), 1);
  EXPECT_EQ(watermarks_.VersionsFoundBy(Phi(3, 7)), 8);
  watermarks_.NoteBound(Phi(3, 7));
  EXPECT_EQ(watermarks_.VersionsFoundBy(Phi(3, 12)), 5);
  EXPECT_EQ(watermarks_.VersionsFoundBy(Phi(3, 8)), 1);
  EXPECT_EQ(watermarks_.VersionsFoundBy(FakeLabels::Wide()), 1);
}

}  // namespace
}  // namespace dogged
