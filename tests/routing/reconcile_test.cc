// Aim: two agents find the records in which they differ, whatever these are,
// with messages that are bounded each, and few where little differs. Method:
// two sets that talk to each other here; sums against those of all records; and
// bytes that no agent would send.
#include "routing/membership/reconcile.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "routing/membership/record_set.h"
#include "runtime/base/codec.h"
#include "runtime/base/hash.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

using testing::ElementsAre;

constexpr int kMany = 100000;

// As large as a job's record.
GossipRecord RecordOf(int number, uint64_t version) {
  return {version, Bytes(absl::StrCat("heat1d ", number, " state ", version,
                                      std::string(90, 'x')))};
}

void Put(RecordSet& set, int number, uint64_t version = 1) {
  set.Put(absl::StrCat("job/", number), RecordOf(number, version));
}

bool operator==(const RecordSet& a, const RecordSet& b) {
  const auto mine = a.StartingWith("");
  const auto theirs = b.StartingWith("");
  return a.sum() == b.sum() &&
         std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end(),
                    [](const KeptRecord* x, const KeptRecord* y) {
                      return x->key() == y->key() &&
                             x->version() == y->version() &&
                             x->bytes() == y->bytes();
                    });
}

struct Talk {
  int messages = 0;
  int64_t bytes = 0;
  int64_t largest = 0;
  int beginnings = 0;
};

// Messages until an answer is empty; begins again until the sets are equal, by
// turns.
Talk Reconcile(RecordSet& one, RecordSet& other) {
  Talk out;
  RecordSet* sets[] = {&one, &other};
  while (one.sum() != other.sum() && out.beginnings < 10000) {
    int to = ++out.beginnings % 2;
    ReconcileMessage message = StartReconcile(*sets[1 - to]);
    while (!message.empty()) {
      const Bytes body = message.Encode();
      ++out.messages;
      out.bytes += body.size();
      out.largest = std::max(out.largest, body.size());
      auto heard = ReconcileMessage::Decode(body.view());
      EXPECT_TRUE(heard.ok()) << heard.status();
      for (auto& [key, record] : heard->records) sets[to]->Put(key, record);
      message = AnswerReconcile(*sets[to], *heard);
      to = 1 - to;
    }
  }
  EXPECT_TRUE(one == other);
  return out;
}

TEST(RecordSet, SumsAreThoseOfItsRecordsHoweverItIsCut) {
  Rng rng(5);
  RecordSet set;
  std::vector<RecordPrint> all;  // the expected ones
  for (int i = 0; i < 5000; ++i) {
    Put(set, i);
    if (i % 3 == 0) Put(set, i, 2);
    const std::string key = absl::StrCat("job/", i);
    all.push_back({Hash64(key), RecordOf(i, i % 3 == 0 ? 2 : 1).HashAt(key)});
    if (i % 250 != 0) continue;
    for (int trial = 0; trial < 20; ++trial) {
      const int bits = static_cast<int>(rng.Below(12));
      const RecordRange range{
          .bits = bits, .prefix = bits == 0 ? 0 : rng.Next() >> (64 - bits)};
      uint64_t sum = 0;
      std::vector<RecordPrint> there;
      for (const RecordPrint& print : all) {
        if (print.place < range.first() || print.place > range.last()) continue;
        sum += print.hash;
        there.push_back(print);
      }
      std::sort(there.begin(), there.end());
      EXPECT_EQ(set.SumOf(range), sum) << bits << " of " << i;
      EXPECT_EQ(set.PrintsOf(range, all.size()), there);
    }
  }
  EXPECT_EQ(set.SumOf({}), set.sum());
  // Parts of some tens.
  EXPECT_GE(5000 >> set.part_bits(), 16);
  EXPECT_LE(5000 >> set.part_bits(), 64);
  EXPECT_EQ(set.hashed_count(), 5000 + 5000 / 3 + 1);
}

TEST(RecordSet, TheLargerVersionWins) {
  RecordSet set;
  EXPECT_TRUE(set.Put("a", {2, Bytes(std::string("b"))}));
  EXPECT_FALSE(set.Put("a", {1, Bytes(std::string("z"))}));
  EXPECT_FALSE(set.Put("a", {2, Bytes(std::string("b"))}));
  EXPECT_FALSE(set.Put("a", {2, Bytes(std::string("a"))}));
  EXPECT_EQ(set.Find("a")->bytes(), "b");
  EXPECT_TRUE(set.Put("a", {2, Bytes(std::string("c"))}));
  RecordSet other;
  other.Put("a", {2, Bytes(std::string("c"))});
  EXPECT_TRUE(set == other);
  EXPECT_EQ(set.At(Hash64("a")).size(), 1u);
}

TEST(Reconcile, OneRecordAmongManyCostsLittle) {
  RecordSet one;
  RecordSet other;
  for (int i = 0; i < kMany; ++i) {
    Put(one, i);
    Put(other, i);
  }
  // New there; newer there; newer here.
  for (int step = 0; step < 3; ++step) {
    if (step == 0) Put(other, kMany);
    if (step == 1) Put(other, 77, 2);
    if (step == 2) Put(one, 78, 2);
    const Talk talk = Reconcile(one, other);
    EXPECT_LT(talk.bytes, 16 << 10);
    EXPECT_LE(talk.messages, 6);
    EXPECT_EQ(talk.beginnings, 1);
    testing::Test::RecordProperty(absl::StrCat("bytes", step),
                                  absl::StrCat(talk.bytes));
  }
  EXPECT_EQ(Reconcile(one, other).messages, 0);
}

TEST(Reconcile, WhateverDiffersIsFoundByBoundedMessages) {
  struct Case {
    int only_one, both, only_other, newer_one, newer_other;
  };
  const Case cases[] = {{0, 0, 1, 0, 0},          {20000, 0, 0, 0, 0},
                        {0, 0, 20000, 0, 0},      {10, 0, 20000, 0, 0},
                        {3000, 0, 3000, 0, 0},    {0, 5000, 0, 500, 500},
                        {100, 20000, 3, 300, 40}, {5, 60, 5, 3, 3}};
  for (const Case& c : cases) {
    RecordSet one;
    RecordSet other;
    int next = 0;
    for (int i = 0; i < c.only_one; ++i) Put(one, next++);
    for (int i = 0; i < c.only_other; ++i) Put(other, next++);
    for (int i = 0; i < c.both; ++i, ++next) {
      Put(one, next, i < c.newer_one ? 2 : 1);
      Put(other, next, i >= c.both - c.newer_other ? 2 : 1);
    }
    const Talk talk = Reconcile(one, other);
    EXPECT_LE(talk.largest, 48 << 10);
    // Each beginning brings a message of records, unless it is the last.
    const int64_t differing =
        c.only_one + c.only_other + c.newer_one + c.newer_other;
    EXPECT_LE(talk.beginnings, 2 + differing / 20);
    EXPECT_LE(talk.bytes, 16384 + 600 * differing) << differing;
  }
}

TEST(Reconcile, ALargeRecordGoesWhole) {
  RecordSet one;
  RecordSet other;
  one.Put("a", {1, Bytes(std::string(1 << 20, 'a'))});
  one.Put("b", {1, Bytes(std::string(1 << 20, 'b'))});
  Reconcile(one, other);
}

// --- what no agent says

Bytes SumsOf(int bits, uint64_t prefix, int ways, int count) {
  Encoder out;
  out.PutBool(false);
  out.PutVarint(1);
  out.PutU8(static_cast<uint8_t>(bits));
  out.PutU64(prefix);
  out.PutU8(static_cast<uint8_t>(ways));
  for (int i = 0; i < count; ++i) out.PutU64(7);
  out.PutRaw(std::string(4, '\0'));  // no hashes, places, facts, records
  return Bytes(out.Take());
}

Bytes PrintsOf(int bits, uint64_t prefix, const std::vector<uint64_t>& places) {
  Encoder out;
  out.PutBool(false);
  out.PutVarint(0);
  out.PutVarint(1);
  out.PutU8(static_cast<uint8_t>(bits));
  out.PutU64(prefix);
  out.PutVarint(places.size());
  for (const uint64_t place : places) {
    out.PutU64(place);
    out.PutU64(1);
  }
  out.PutRaw(std::string(3, '\0'));
  return Bytes(out.Take());
}

bool IsTaken(const Bytes& body) {
  return ReconcileMessage::Decode(body.view()).ok();
}

TEST(Reconcile, RefusesRangesAndPartsThatCantBe) {
  EXPECT_TRUE(IsTaken(SumsOf(0, 0, 6, 64)));
  EXPECT_TRUE(IsTaken(SumsOf(58, 5, 6, 64)));
  EXPECT_FALSE(IsTaken(SumsOf(65, 0, 1, 2)));
  EXPECT_FALSE(IsTaken(SumsOf(0, 1, 6, 64)));   // beyond the only range
  EXPECT_FALSE(IsTaken(SumsOf(4, 16, 6, 64)));  // beyond the last
  EXPECT_FALSE(IsTaken(SumsOf(0, 0, 0, 1)));
  EXPECT_FALSE(IsTaken(SumsOf(0, 0, 7, 128)));
  EXPECT_FALSE(IsTaken(SumsOf(59, 0, 6, 64)));  // of less than a place
  EXPECT_FALSE(IsTaken(SumsOf(0, 0, 6, 63)));
  EXPECT_FALSE(IsTaken(SumsOf(0, 0, 6, 65)));

  const uint64_t high = uint64_t{1} << 63;
  EXPECT_TRUE(IsTaken(PrintsOf(0, 0, {1, 2, high})));
  EXPECT_TRUE(IsTaken(PrintsOf(1, 1, {high, high + 1})));
  EXPECT_TRUE(IsTaken(PrintsOf(64, 9, {9})));
  EXPECT_FALSE(IsTaken(PrintsOf(64, 9, {8})));
  EXPECT_FALSE(IsTaken(PrintsOf(1, 1, {1})));     // outside
  EXPECT_FALSE(IsTaken(PrintsOf(0, 0, {2, 1})));  // out of order
  EXPECT_FALSE(IsTaken(PrintsOf(0, 0, {2, 2})));  // twice
  EXPECT_FALSE(IsTaken(PrintsOf(2, 4, {})));
  std::vector<uint64_t> many(66);
  for (size_t i = 0; i < many.size(); ++i) many[i] = i;
  EXPECT_FALSE(IsTaken(PrintsOf(0, 0, many)));
}

TEST(Reconcile, RefusesMoreThanAnAgentSays) {
  ReconcileMessage sums;
  sums.sums.assign(
      33, {.range = {}, .ways = 6, .sums = std::vector<uint64_t>(64, 7)});
  EXPECT_FALSE(IsTaken(sums.Encode()));
  sums.sums.resize(32);
  EXPECT_TRUE(IsTaken(sums.Encode()));
  ReconcileMessage prints;
  prints.prints.assign(1025, {});
  EXPECT_FALSE(IsTaken(prints.Encode()));
  ReconcileMessage wanted;
  wanted.wanted.assign(2049, 7);
  EXPECT_FALSE(IsTaken(wanted.Encode()));
}

// Sound messages with some bytes changed, or cut: nothing but an answer of
// bounded size.
TEST(Reconcile, NoiseDoesNoHarm) {
  RecordSet one;
  RecordSet other;
  for (int i = 0; i < 3000; ++i) Put(i % 5 == 0 ? one : other, i);
  for (int i = 0; i < 3000; ++i) Put(one, i);
  std::vector<ReconcileMessage> sound = {StartReconcile(one)};
  for (int i = 0; i < 4; ++i) {
    sound.push_back(AnswerReconcile(i % 2 == 0 ? other : one, sound.back()));
  }
  Rng rng(3);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text(rng.Pick(sound).Encode().view());
    const int changes = 1 + static_cast<int>(rng.Below(4));
    for (int j = 0; j < changes; ++j) {
      text[rng.Below(std::min<int64_t>(
          std::ssize(text), rng.Chance(0.5) ? 40 : std::ssize(text)))] ^=
          static_cast<char>(1 + rng.Below(255));
    }
    if (rng.Chance(0.3)) {
      text.resize(rng.Below(std::ssize(text)));
    }
    const auto heard = ReconcileMessage::Decode(text);
    if (!heard.ok()) {
      ++refused;
      continue;
    }
    EXPECT_LE(AnswerReconcile(one, *heard).Encode().size(), 48 << 10);
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace dogged
