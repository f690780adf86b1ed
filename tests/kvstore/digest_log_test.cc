// Aim: the log finds a second digest of any label that it still has, forgets
// old versions first, and keeps within its bound. Method: hand-made rows, and
// random ones against a map of all digests.
#include "kvstore/dictionary/digest_log.h"

#include <map>

#include "gmock/gmock.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::Pair;

Label Row(int64_t x) { return {.array = 0, .index = {x, 0}}; }
Digest D(uint64_t number) { return {.low = number, .high = 7}; }

TEST(DigestLog, AnEqualSecondDigestIsFineAndAnotherOneIsNot) {
  DigestLog log(8, 1024);
  EXPECT_TRUE(log.Note(Row(1), 3, D(5)));
  EXPECT_TRUE(log.Note(Row(1), 3, D(5)));
  EXPECT_FALSE(log.Note(Row(1), 3, D(6)));
  EXPECT_EQ(log.Find(Row(1), 3), D(5));  // the first one stays
  EXPECT_TRUE(log.Note(Row(2), 3, D(6)));
  EXPECT_TRUE(log.Note(Row(1), 2, D(6)));
}

TEST(DigestLog, KeepsTheNewestVersionsOfARow) {
  DigestLog log(4, 1024);
  for (int64_t version = 0; version < 10; ++version) {
    EXPECT_TRUE(log.Note(Row(1), version, D(static_cast<uint64_t>(version))));
  }
  EXPECT_EQ(log.Find(Row(1), 5), std::nullopt);
  for (int64_t version = 6; version < 10; ++version) {
    EXPECT_FALSE(log.Note(Row(1), version, D(99))) << version;
  }
  EXPECT_TRUE(log.Note(Row(1), 5, D(99)));  // too old to be compared
  EXPECT_EQ(log.Find(Row(1), 5), std::nullopt);
}

// Another agent may tell of them later, and of some only.
TEST(DigestLog, OlderVersionsMayComeLater) {
  DigestLog log(4, 1024);
  EXPECT_TRUE(log.Note(Row(1), 7, D(7)));
  EXPECT_TRUE(log.Note(Row(1), 4, D(4)));
  EXPECT_FALSE(log.Note(Row(1), 4, D(5)));
  EXPECT_FALSE(log.Note(Row(1), 7, D(8)));
  EXPECT_TRUE(log.Note(Row(1), 3, D(3)));
  EXPECT_EQ(log.Find(Row(1), 3), std::nullopt);
  EXPECT_EQ(log.Find(Row(1), 5), std::nullopt);
}

TEST(DigestLog, AGapLeavesNoDigestOfAnotherVersion) {
  DigestLog log(4, 1024);
  for (int64_t version = 0; version < 4; ++version) {
    EXPECT_TRUE(log.Note(Row(1), version, D(1)));
  }
  EXPECT_TRUE(log.Note(Row(1), 5, D(2)));
  EXPECT_EQ(log.Find(Row(1), 4), std::nullopt);
  EXPECT_EQ(log.Find(Row(1), 3), D(1));
  EXPECT_TRUE(log.Note(Row(1), 4, D(3)));
  EXPECT_TRUE(log.Note(Row(1), 1000, D(4)));
  EXPECT_EQ(log.Find(Row(1), 999), std::nullopt);
  EXPECT_THAT(log.Select([](const Label&) { return true; })[0].versions,
              ElementsAre(Pair(1000, D(4))));
}

TEST(DigestLog, SelectsRowsInOrderWithTheirVersions) {
  DigestLog log(4, 1024);
  for (const int64_t x : {3, 1, 2}) {
    EXPECT_TRUE(log.Note(Row(x), 0, D(10)));
    EXPECT_TRUE(log.Note(Row(x), 2, D(12)));
  }
  const std::vector<RowDigests> rows =
      log.Select([](const Label& row) { return row.index[0] != 2; });
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].row, Row(1));
  EXPECT_EQ(rows[1].row, Row(3));
  EXPECT_THAT(rows[1].versions, ElementsAre(Pair(0, D(10)), Pair(2, D(12))));
}

// The newest version of every row is never forgotten, and of others more are
// kept the fewer rows there are.
TEST(DigestLog, KeepsWithinItsBound) {
  DigestLog log(64, 256);
  Rng rng(1);
  std::map<std::pair<int64_t, int64_t>, uint64_t> noted;
  std::map<int64_t, int64_t> newest;
  for (int i = 0; i < 20000; ++i) {
    const int64_t x = rng.Below(200);
    const int64_t version = std::max<int64_t>(0, newest[x] + 2 - rng.Below(8));
    const auto it =
        noted.try_emplace({x, version}, static_cast<uint64_t>(rng.Next() | 1))
            .first;
    newest[x] = std::max(newest[x], version);
    EXPECT_TRUE(log.Note(Row(x), version, D(it->second)));
    EXPECT_LE(log.digest_count(), 256);
    if (const auto found = log.Find(Row(x), version); found.has_value()) {
      EXPECT_EQ(*found, D(it->second));
      EXPECT_FALSE(log.Note(Row(x), version, D(0)));
    }
  }
  for (const auto& [x, version] : newest) {
    EXPECT_EQ(log.Find(Row(x), version), D(noted[std::pair(x, version)]));
  }
}

}  // namespace
}  // namespace dogged
