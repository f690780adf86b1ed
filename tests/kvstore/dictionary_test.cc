// Aim: a label's life without a task graph: it has one value, is kept until its
// last reader is done and not longer, has its copies, and moves with its home.
// Method: one agent's dictionary over fake readers, messages and time by hand.
#include "kvstore/dictionary.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/sim/shared_memory.h"
#include "tests/kvstore/fake_labels.h"
#include "tests/kvstore/one_dictionary.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Label Row(int64_t x, int64_t t) { return FakeLabels::Row(x, t); }
Reader Step(int64_t x, int64_t t) { return FakeLabels::Step(x, t); }
Label Wide() { return FakeLabels::Wide(); }
Label Part(int64_t i) { return FakeLabels::Part(i); }
Reader User(int64_t i) { return FakeLabels::User(i); }

const int64_t kMine = OneDictionary::RowAt(kSelf);
const int64_t kPeers = OneDictionary::RowAt(kPeer);

// A label with so many readers, and the homes of both.
OneDictionary::Options WideAt(AgentId home, AgentId readers, int64_t count) {
  return {.shape = {.wide_readers = count,
                    .wide_key = OneDictionary::KeyAt(home),
                    .part_key = OneDictionary::KeyAt(readers)}};
}

// --- binding

TEST(Binding, AnEqualValueChangesNothing) {
  OneDictionary one({});
  one.Bind(Row(kMine, 3), 1);
  one.Publish(kPeer, Row(kMine, 3), 1);
  EXPECT_TRUE(one.failure().ok()) << one.failure();
  EXPECT_THAT(one.producers.bound, ElementsAre(Row(kMine, 3)));
}

TEST(Binding, AnotherValueFailsTheJobAndNamesTheLabelAndBothAgents) {
  OneDictionary one({});
  one.Bind(Row(kMine, 3), 1);
  one.Publish(kPeer, Row(kMine, 3), 2);
  EXPECT_EQ(one.failure().code(), absl::StatusCode::kDataLoss);
  const std::string text(one.failure().message());
  EXPECT_THAT(text, HasSubstr(absl::StrCat("row(", kMine, ")(3)")));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("agent ", kSelf.ToString(),
                                           ", which ran the task")));
  EXPECT_THAT(text, HasSubstr(absl::StrCat("agent ", kPeer.ToString())));
}

TEST(Binding, ADigestOutlivesItsValue) {
  OneDictionary one({});
  one.Bind(Row(kMine, 3), 1);
  one.Done(kPeer, {.label = Row(kMine, 3), .reader = Step(kMine, 4)});
  ASSERT_FALSE(one.Holds(Row(kMine, 3)));
  one.Announce(kPeer, Row(kMine, 3), 1);
  EXPECT_TRUE(one.failure().ok()) << one.failure();
  one.Announce(kPeer, Row(kMine, 3), 2);
  EXPECT_EQ(one.failure().code(), absl::StatusCode::kDataLoss);
}

TEST(Binding, ClientsThatWaitGetTheValue) {
  OneDictionary one({});
  one.producers.requested = {Row(kMine, 3), Row(kPeers, 3)};
  one.Bind(Row(kMine, 3), 1);
  one.Publish(kPeer, Row(kPeers, 3), 2);
  EXPECT_THAT(one.producers.handed_out,
              ElementsAre(Row(kMine, 3), Row(kPeers, 3)));
}

TEST(Binding, AnAgentThatHasAskedGetsTheValueOnceItIsBound) {
  OneDictionary one({});
  one.labels().shard.Get(Row(kMine, 3)).waiters.push_back(kPeer);
  one.Pass(absl::Seconds(1));
  EXPECT_THAT(one.Published(), IsEmpty());
  one.Bind(Row(kMine, 3), 1);
  EXPECT_THAT(one.Published(), ElementsAre(Row(kMine, 3)));
}

// Else a value would take its memory after it has left it for a disk.
TEST(Binding, WhereMemoryIsBoundedNoMessageHoldsAValue) {
  for (const bool is_bounded : {false, true}) {
    OneDictionary one({});
    one.storage.is_bounded_now = is_bounded;
    one.labels().shard.Get(Row(kMine, 3)).waiters.push_back(kPeer);
    one.BindBytes(Row(kMine, 3), 1 << 16);
    const std::vector<Outbox::OutgoingMessage> sent = one.Take();
    EXPECT_THAT(sent, testing::SizeIs(1));
    EXPECT_EQ(one.labels().shard.Find(Row(kMine, 3))->value.IsUnique(),
              is_bounded);
  }
}

// --- retention

TEST(Retention, DropsAValueWithItsLastReaderAndNotBefore) {
  OneDictionary one(WideAt(kSelf, kPeer, 3));
  one.Bind(Wide(), 1);
  for (const int64_t i : {2, 0, 2, 0}) {  // a report may come doubled
    one.Done(kPeer, {.label = Wide(), .reader = User(i)});
    EXPECT_TRUE(one.Holds(Wide())) << i;
  }
  one.Done(kPeer, {.label = Wide(), .reader = User(1)});
  EXPECT_FALSE(one.Holds(Wide()));
  EXPECT_TRUE(one.labels().watermarks.IsRetired(Wide()));
}

TEST(Retention, AReaderOfAnotherLabelIsNotCounted) {
  OneDictionary one(WideAt(kSelf, kPeer, 1));
  one.Bind(Wide(), 1);
  one.Done(kPeer, {.label = Wide(), .reader = User(1)});
  one.Done(kPeer, {.label = Wide(), .reader = Step(1, 1)});
  EXPECT_TRUE(one.Holds(Wide()));
}

TEST(Retention, KeepsAResult) {
  OneDictionary one(WideAt(kSelf, kPeer, 1));
  one.readers.results = {Wide()};
  one.Bind(Wide(), 1);
  one.Done(kPeer, {.label = Wide(), .reader = User(0)});
  EXPECT_TRUE(one.Holds(Wide()));
}

TEST(Retention, WhoAnnouncesADroppedLabelHearsThatItWasRetired) {
  OneDictionary one(WideAt(kSelf, kPeer, 1));
  one.Bind(Wide(), 1);
  one.Done(kPeer, {.label = Wide(), .reader = User(0)});
  (void)one.Take();
  one.Announce(kPeer, Wide(), 1);
  EXPECT_THAT(one.TakeAll(LabelMessage::kRetired, DecodeRetired), SizeIs(1));
}

// A reader that is done reports only once what it made is durable.
TEST(Retention, AnInputIsKeptUntilWhatWasMadeOfItHasItsCopies) {
  OneDictionary one({.replicas = 2});
  one.Bind(Row(kMine, 3), 1);
  one.Bind(Row(kMine, 4), 2);
  EXPECT_TRUE(one.Holds(Row(kMine, 3)));
  one.Stored(kPeer, Row(kMine, 4), 2);
  EXPECT_FALSE(one.Holds(Row(kMine, 3)));
  EXPECT_TRUE(one.Holds(Row(kMine, 4)));
}

TEST(Retention, TheHomeOfALabelHearsWhichReadersHereAreDone) {
  OneDictionary one(WideAt(kPeer, kSelf, 2));
  one.Publish(kPeer, Wide(), 1);
  EXPECT_TRUE(one.readers.given.contains({User(0), Wide()}));
  EXPECT_THAT(one.TakeAll(LabelMessage::kDone, DecodeDone), IsEmpty());
  one.readers.done = {User(0)};
  one.Bind(Part(0), 2);
  const std::vector<DoneBody> done =
      one.TakeAll(LabelMessage::kDone, DecodeDone);
  ASSERT_THAT(done, SizeIs(1));
  EXPECT_EQ(done[0].label, Wide());
  EXPECT_EQ(done[0].reader, User(0));
}

TEST(Retention, AnAnnouncedLabelIsDemandedIfAReaderHereLacksIt) {
  OneDictionary one(WideAt(kPeer, kSelf, 1));
  one.Announce(kPeer, Wide(), 1);
  EXPECT_THAT(one.TakeAll(LabelMessage::kDemand, DecodeDemand), SizeIs(1));
  one.Publish(kPeer, Wide(), 1);
  (void)one.Take();
  one.Announce(kPeer, Wide(), 1);
  EXPECT_THAT(one.TakeAll(LabelMessage::kDemand, DecodeDemand), IsEmpty());
}

// Every fourth version is kept until its row was dropped two intervals above.
TEST(Retention, ARetainedGenerationGoesTwoIntervalsLater) {
  OneDictionary one({.generation_interval = 4, .members = {kSelf}});
  for (int64_t t = 0; t <= 12; ++t) {
    one.Bind(Row(kMine, t), static_cast<double>(t));
    one.Done(kSelf, {.label = Row(kMine, t), .reader = Step(kMine, t + 1)});
    const bool is_generation = t > 0 && t % 4 == 0;
    EXPECT_EQ(one.Holds(Row(kMine, t)), is_generation) << t;
    EXPECT_EQ(one.Holds(Row(kMine, 4)), 4 <= t && t < 12) << t;
  }
}

TEST(Retention, AfterTheEndNoGenerationIsKept) {
  OneDictionary one({.generation_interval = 4, .members = {kSelf}});
  one.readers.results_demanded = false;
  one.Bind(Row(kMine, 4), 4);
  one.Done(kSelf, {.label = Row(kMine, 4), .reader = Step(kMine, 5)});
  EXPECT_FALSE(one.Holds(Row(kMine, 4)));
}

TEST(Retention, ADirectoryIsWaitedFor) {
  OneDictionary one({.members = {kSelf}});
  one.storage.has_directory = true;
  one.Bind(Row(kMine, 3), 1);
  one.Bind(Row(kMine, 4), 2);
  EXPECT_TRUE(one.Holds(Row(kMine, 3)));
  ASSERT_TRUE(one.Holds(Row(kMine, 4)));
  one.labels().shard.Find(Row(kMine, 4))->on_disk = OnDisk::kYes;
  one.dictionary().retention.ReportIfDurable(Row(kMine, 4), one.out());
  EXPECT_FALSE(one.Holds(Row(kMine, 3)));
}

// --- labels of many readers

TEST(HighFanout, AHomeReportsAllItsReadersOrNone) {
  constexpr int64_t kCount = 1000;
  OneDictionary one(WideAt(kSelf, kPeer, kCount));
  one.Bind(Wide(), 1);
  ConsumerSet all;
  for (int64_t i = 0; i < kCount - 1; ++i) all.Add(User(i));
  one.Done(kPeer, {.label = Wide(), .all = all});
  EXPECT_TRUE(one.Holds(Wide()));
  all.Add(User(kCount - 1));
  one.Done(kPeer, {.label = Wide(), .all = all});
  EXPECT_FALSE(one.Holds(Wide()));
}

TEST(HighFanout, NothingIsSaidUntilAllReadersHereAreDone) {
  constexpr int64_t kCount = 200;
  OneDictionary one(WideAt(kPeer, kSelf, kCount));
  one.Publish(kPeer, Wide(), 1);
  for (int64_t i = 0; i < kCount; ++i) {
    EXPECT_THAT(one.TakeAll(LabelMessage::kDone, DecodeDone), IsEmpty()) << i;
    one.readers.done.insert(User(i));
    one.Bind(Part(i), static_cast<double>(i));
  }
  const std::vector<DoneBody> done =
      one.TakeAll(LabelMessage::kDone, DecodeDone);
  ASSERT_THAT(done, SizeIs(1));
  EXPECT_EQ(done[0].all.count, kCount);
}

// --- copies

TEST(Copies, GoToReplicasALittleLater) {
  OneDictionary one({.replicas = 2});
  one.Bind(Row(kMine, 4), 1);
  EXPECT_THAT(one.Published(), IsEmpty());
  one.Pass(absl::Milliseconds(20));
  EXPECT_THAT(one.Published(), ElementsAre(Row(kMine, 4)));
}

TEST(Copies, AUsedUpLabelNeedsNone) {
  OneDictionary one({.replicas = 2});
  one.Bind(Row(kMine, 3), 1);
  one.Bind(Row(kMine, 4), 2);
  one.Pass(absl::Milliseconds(20));
  EXPECT_THAT(one.Published(), ElementsAre(Row(kMine, 4)));
}

TEST(Copies, AreAnnouncedUntilTheyAreStored) {
  OneDictionary one({.replicas = 2});
  one.Bind(Row(kMine, 4), 1);
  one.Pass(absl::Milliseconds(20));
  one.Pass(absl::Seconds(2));
  EXPECT_THAT(one.TakeAll(LabelMessage::kAnnounce, DecodeAnnounce), SizeIs(1));
  one.Stored(kPeer, Row(kMine, 4), 1);
  one.Pass(absl::Seconds(10));
  one.Pass(absl::Seconds(10));
  EXPECT_THAT(one.TakeAll(LabelMessage::kAnnounce, DecodeAnnounce), IsEmpty());
}

TEST(Copies, AReplicaAnswersAndKeepsWhatItGets) {
  OneDictionary one({.replicas = 2});
  one.Publish(kPeer, Row(kPeers, 4), 1);
  EXPECT_TRUE(one.Holds(Row(kPeers, 4)));
  EXPECT_THAT(one.TakeAll(LabelMessage::kStored, DecodeAnnounce), SizeIs(1));
}

// With a directory a label is durable once it was written: until then its
// producer is not done, and what that has read stays.
TEST(Copies, ALabelOnItsWayToDiskIsNotDurable) {
  OneDictionary one({});
  one.storage.has_directory = true;
  one.Bind(Row(kMine, 3), 1);
  one.Bind(Row(kMine, 4), 2);
  one.readers.done = {Step(kMine, 4)};
  LabelEntry& made = *one.labels().shard.Find(Row(kMine, 4));
  for (const OnDisk on_disk : {OnDisk::kNo, OnDisk::kOnItsWay, OnDisk::kYes}) {
    made.on_disk = on_disk;
    one.dictionary().retention.ReportIfDurable(Row(kMine, 4), one.out());
    one.CheckInvariants();
    EXPECT_EQ(one.Holds(Row(kMine, 3)), on_disk != OnDisk::kYes);
  }
}

TEST(Copies, ASpilledValueIsLoadedFirst) {
  OneDictionary one({});
  one.Bind(Row(kMine, 4), 1);
  ASSERT_TRUE(one.Holds(Row(kMine, 4)));
  LabelEntry& entry = *one.labels().shard.Find(Row(kMine, 4));
  entry.on_disk = OnDisk::kYes;
  entry.value = entry.value.Spilled();
  one.dictionary().sender.SendValue({kPeer}, Row(kMine, 4), one.out());
  EXPECT_THAT(one.Published(), IsEmpty());
  EXPECT_THAT(one.storage.loads, ElementsAre(std::pair(Row(kMine, 4), kPeer)));
}

// --- loans

// Lenders: this agent and its peer on one host, each with an arena.
struct Lenders {
  Lenders() {
    std::vector<Member> members(2);
    members[0] = {.id = kSelf, .arena = memory.address()};
    members[1] = {.id = kPeer, .arena = peer_memory.address()};
    const View view(members);
    self.SetView(absl::UnixEpoch(), view);
    peer.SetView(absl::UnixEpoch(), view);
    for (int round = 0; round < 4; ++round) {
      Tell(kSelf, self, peer);
      Tell(kPeer, peer, self);
    }
  }
  ~Lenders() { SetValueMemory(nullptr); }
  // Carries what `from`, which is `id`, has to say.
  static void Tell(AgentId id, Lending& from, Lending& to) {
    Outbox out;
    from.Tick({absl::UnixEpoch(), out});
    Outbox answers;
    for (const Outbox::OutgoingMessage& message : out.messages) {
      EXPECT_TRUE(to.Receive({absl::UnixEpoch(), answers}, id, message.kind,
                             message.body.Join().view())
                      .ok());
    }
  }

  SimArena::Processes processes;
  SimArena memory{processes, "here", 1 << 16, 1};
  SimArena peer_memory{processes, "here", 1 << 16, 1};
  Lending self{kSelf, memory, {}};
  Lending peer{kPeer, peer_memory, {}};
};

// A task was made by an agent that is not its label's home, and lent to this.
// Readers of other agents, or of that one, read a copy where it lies: bytes
// would be copied several times on their way.
TEST(Loans, WhatWasBorrowedIsCopiedAndLent) {
  Lenders lenders;
  OneDictionary one({.lending = &lenders.self});
  SetValueMemory(&lenders.peer_memory);
  const Value made = OneDictionary::ValueOf(1);
  SetValueMemory(&lenders.memory);
  const Value borrowed =
      lenders.self.Borrow(kPeer, *lenders.peer.Lend(kSelf, made));
  ASSERT_TRUE(borrowed.IsView());
  one.PublishValue(kPeer, Row(kMine, 3), borrowed);
  (void)one.Take();
  for (int time = 0; time < 2; ++time) {
    one.dictionary().sender.SendValue({kPeer}, Row(kMine, 3), one.out());
    const std::vector<LendBody> lent = one.Lent();
    ASSERT_THAT(lent, SizeIs(1));
    const Value read = lenders.peer.Borrow(kSelf, lent[0].loan);
    ASSERT_FALSE(read.IsNone());
    EXPECT_EQ(read.digest(), made.digest());
    EXPECT_EQ(read.view(), made.view());
    EXPECT_EQ(lent[0].loan.offset, *lenders.memory.OffsetOf(read.data()));
  }
  EXPECT_EQ(lenders.self.lent_bytes(), 2 * made.bytes());
}

// --- homes

// --- cuts

TEST(Cuts, AUsedUpLabelIsDroppedAtOnceAndNotCopied) {
  OneDictionary one({.replicas = 2, .cut_bytes_min = 0});
  one.producers.is_busy = true;
  one.Make(Row(kMine, 3), 1);
  one.Make(Row(kMine, 4), 2);
  EXPECT_FALSE(one.Holds(Row(kMine, 3)));
  EXPECT_TRUE(one.Holds(Row(kMine, 4)));
  // The cost of so few bytes is little, so cuts are many.
  one.Pass(absl::Seconds(10));
  EXPECT_THAT(one.Published(), ElementsAre(Row(kMine, 4)));
}

// A cut's cost is that of what is held, from the first label on.
TEST(Cuts, ABusyAgentMakesNoneAtOnce) {
  OneDictionary one({.replicas = 2, .cut_bytes_min = 0});
  one.producers.is_busy = true;
  one.Pass(absl::Milliseconds(200));
  one.BindBytes(Row(kMine, 3), 10 << 20);
  one.Pass(absl::Milliseconds(1));
  EXPECT_THAT(one.Published(), IsEmpty());
}

TEST(Cuts, WithoutThemNothingIsSaidOfWorkAtRisk) {
  OneDictionary with({.replicas = 2, .cut_bytes_min = 0});
  OneDictionary without({.replicas = 1, .cut_bytes_min = 0});
  for (OneDictionary* one : {&with, &without}) {
    one->producers.is_busy = true;
    one->Bind(Row(kMine, 3), 1);
    one->Pass(absl::Milliseconds(200));
    one->Pass(absl::Milliseconds(200));
  }
  EXPECT_GE(with.at_risk_ms(), 200);
  EXPECT_EQ(without.at_risk_ms(), 0);
}

// A tenth of a link is for agents that have work; the end of a job is not.
TEST(Cuts, ResultsOfAnAgentThatIsThroughWaitForNothing) {
  constexpr int64_t kBytes = 10 << 20;
  OneDictionary one({.replicas = 2, .cut_bytes_min = 0});
  one.readers.results = {Row(kMine, 3), Row(kMine, 4)};
  one.producers.is_busy = true;
  one.BindBytes(Row(kMine, 3), kBytes);
  one.BindBytes(Row(kMine, 4), kBytes);
  one.Pass(absl::Milliseconds(20));
  EXPECT_EQ(one.copied_bytes(), kBytes);
  one.Pass(absl::Milliseconds(100));
  EXPECT_EQ(one.copied_bytes(), kBytes);
  one.producers.is_through = true;
  one.Pass(absl::Milliseconds(100));
  EXPECT_EQ(one.copied_bytes(), 2 * kBytes);
}

// One output was dropped, for nobody reads it; another is read elsewhere.
TEST(Cuts, AReaderThatRanIsDoneThoughNotAllItMadeIsDurable) {
  OneDictionary one({.shape = {.wide_readers = 2,
                               .wide_key = OneDictionary::KeyAt(kSelf),
                               .part_key = OneDictionary::KeyAt(kSelf),
                               .side_reader_key = OneDictionary::KeyAt(kPeer)},
                     .replicas = 2,
                     .cut_bytes_min = 0});
  one.producers.is_busy = true;
  one.Bind(Wide(), 1);
  for (const int64_t i : {0, 1}) {
    EXPECT_TRUE(one.Holds(Wide()));
    one.Bind(FakeLabels::Side(i), 2);
    one.Make(Part(i), 3);
    EXPECT_FALSE(one.Holds(Part(i)));
    EXPECT_TRUE(one.Holds(FakeLabels::Side(i)));
  }
  EXPECT_FALSE(one.Holds(Wide()));
}

TEST(Cuts, AMemberIsKeptUntilWhatWasMadeOfItHasCopies) {
  OneDictionary one({.replicas = 2, .cut_bytes_min = 0});
  one.Make(Row(kMine, 3), 1);
  one.Pass(absl::Milliseconds(20));  // idle: a cut
  EXPECT_THAT(one.Published(), ElementsAre(Row(kMine, 3)));
  one.Stored(kPeer, Row(kMine, 3), 1);
  one.Make(Row(kMine, 4), 2);
  one.Make(Row(kMine, 5), 3);
  one.Make(Row(kMine, 6), 4);
  EXPECT_TRUE(one.Holds(Row(kMine, 3)));
  EXPECT_FALSE(one.Holds(Row(kMine, 4)));
  EXPECT_FALSE(one.Holds(Row(kMine, 5)));
  one.Pass(absl::Milliseconds(20));
  EXPECT_THAT(one.Published(), ElementsAre(Row(kMine, 6)));
  EXPECT_TRUE(one.Holds(Row(kMine, 3)));
  one.Stored(kPeer, Row(kMine, 6), 4);
  EXPECT_FALSE(one.Holds(Row(kMine, 3)));
  EXPECT_TRUE(one.Holds(Row(kMine, 6)));
}

TEST(Cuts, AMemberStaysOneIfItsCopyIsLost) {
  OneDictionary one({.replicas = 2, .cut_bytes_min = 0});
  one.Make(Row(kMine, 3), 1);
  one.Pass(absl::Milliseconds(20));
  one.Stored(kPeer, Row(kMine, 3), 1);
  one.producers.is_busy = true;
  one.SetMembers({kSelf});
  one.SetMembers({kSelf, kPeer});
  one.Make(Row(kMine, 4), 2);
  EXPECT_TRUE(one.Holds(Row(kMine, 3)));
}

// The reader's home makes its output again of it.
TEST(Cuts, ALabelThatAnotherHomeReadsIsKept) {
  OneDictionary one({.shape = {.wide_readers = 2,
                               .wide_key = OneDictionary::KeyAt(kSelf),
                               .part_key = OneDictionary::KeyAt(kPeer)},
                     .replicas = 2,
                     .cut_bytes_min = 0});
  one.producers.is_busy = true;
  one.Bind(Wide(), 1);
  one.Publish(kPeer, Part(0), 2);
  one.Publish(kPeer, Part(1), 3);
  EXPECT_TRUE(one.Holds(Wide()));
  one.Done(kPeer, {.label = Wide(), .reader = User(0)});
  EXPECT_TRUE(one.Holds(Wide()));
  one.Done(kPeer, {.label = Wide(), .reader = User(1)});
  EXPECT_FALSE(one.Holds(Wide()));
}

TEST(Homes, WhatIsMadeAwayFromHomeIsHeldUntilTheHomeHasIt) {
  OneDictionary one({});
  one.Bind(Row(kPeers, 3), 1);
  EXPECT_THAT(one.Published(), ElementsAre(Row(kPeers, 3)));
  EXPECT_TRUE(one.Holds(Row(kPeers, 3)));
  one.Pass(absl::Seconds(1));  // it may be lost
  EXPECT_THAT(one.TakeAll(LabelMessage::kAnnounce, DecodeAnnounce), SizeIs(1));
  one.Stored(kPeer, Row(kPeers, 3), 1);
  EXPECT_FALSE(one.Holds(Row(kPeers, 3)));
}

TEST(Homes, ANewHomeGetsItsLabelsAndHearsWhenItHasAll) {
  OneDictionary one({.members = {kSelf}});
  for (const int64_t x : {kMine, kPeers}) one.Bind(Row(x, 3), 1);
  (void)one.Take();
  one.SetMembers({kSelf, kPeer});
  EXPECT_THAT(one.Published(), ElementsAre(Row(kPeers, 3)));
  EXPECT_EQ(one.moved_bytes(), 8);
  one.Pass(absl::ZeroDuration());
  EXPECT_FALSE(one.HasSaidThatHandoverIsComplete());
  one.Stored(kPeer, Row(kPeers, 3), 1);
  one.Pass(absl::ZeroDuration());
  EXPECT_TRUE(one.HasSaidThatHandoverIsComplete());
  EXPECT_FALSE(one.Holds(Row(kPeers, 3)));
  EXPECT_TRUE(one.Holds(Row(kMine, 3)));
}

// Its new home may have it, or get it from another.
TEST(Homes, ALongValueThatMovesIsAnnounced) {
  OneDictionary one({.members = {kSelf}});
  one.BindBytes(Row(kPeers, 3), 16 << 10);
  (void)one.Take();
  one.SetMembers({kSelf, kPeer});
  const auto sent = one.Take();
  EXPECT_TRUE(std::none_of(sent.begin(), sent.end(), [](const auto& message) {
    return message.kind == static_cast<uint8_t>(LabelMessage::kPublish);
  }));
  EXPECT_TRUE(std::any_of(sent.begin(), sent.end(), [](const auto& message) {
    return message.kind == static_cast<uint8_t>(LabelMessage::kAnnounce);
  }));
  EXPECT_EQ(one.resent_bytes(), 0);
  EXPECT_EQ(one.moved_bytes(), 16 << 10);
}

TEST(Homes, OfManyHoldersASingleOneIsAskedAndAllHear) {
  OneDictionary one({});
  const Label label = Row(kMine, 3);
  const AgentId other(3);
  one.Announce(kPeer, label, 1);
  EXPECT_THAT(one.TakeAll(LabelMessage::kDemand, DecodeDemand), SizeIs(1));
  one.Announce(other, label, 1);
  one.Announce(kPeer, label, 1);  // which may not have heard yet
  EXPECT_THAT(one.TakeAll(LabelMessage::kDemand, DecodeDemand), IsEmpty());
  one.Pass(absl::Seconds(1));  // that, or its answer, was lost
  one.Announce(other, label, 1);
  EXPECT_THAT(one.TakeAll(LabelMessage::kDemand, DecodeDemand), IsEmpty());
  one.Announce(kPeer, label, 1);
  EXPECT_THAT(one.TakeAll(LabelMessage::kDemand, DecodeDemand), SizeIs(1));
  one.Publish(kPeer, label, 1);
  EXPECT_THAT(one.TakeAll(LabelMessage::kStored, DecodeAnnounce), SizeIs(2));
}

TEST(Homes, AHolderThatIsGoneIsNotWaitedFor) {
  OneDictionary one({});
  const Label label = Row(kMine, 3);
  const AgentId other(3);
  one.Announce(kPeer, label, 1);
  one.SetMembers({kSelf});
  (void)one.Take();
  one.Announce(other, label, 1);
  EXPECT_THAT(one.TakeAll(LabelMessage::kDemand, DecodeDemand), SizeIs(1));
  // Nor is one that does not answer.
  one.Pass(absl::Seconds(10));
  one.Announce(kPeer, label, 1);
  EXPECT_THAT(one.TakeAll(LabelMessage::kDemand, DecodeDemand), SizeIs(1));
}

TEST(Homes, AHomeThatIsLeftCountsReadersAnew) {
  OneDictionary one({.replicas = 2});
  one.Publish(kPeer, Row(kPeers, 3), 1);
  ASSERT_TRUE(one.Holds(Row(kPeers, 3)));
  ASSERT_FALSE(one.labels().shard.Find(Row(kPeers, 3))->is_home);
  one.SetMembers({kSelf});
  ASSERT_TRUE(one.Holds(Row(kPeers, 3)));
  const LabelEntry& entry = *one.labels().shard.Find(Row(kPeers, 3));
  EXPECT_TRUE(entry.is_home);
  EXPECT_EQ(entry.consumers.left(), 1);
  EXPECT_EQ(one.moved_bytes(), 8);
  // The former home lives, and counts it.
  one.SetMembers({kSelf, kPeer});
  EXPECT_EQ(one.moved_bytes(), 16);
  one.Publish(kPeer, Row(kPeers, 3), 1);
  EXPECT_EQ(one.moved_bytes(), 16);
}

TEST(Homes, RowsOfADeadHomeAreUnverified) {
  OneDictionary one({.replicas = 2});
  one.Publish(kPeer, Row(kPeers, 3), 1);
  one.SetMembers({kSelf});
  EXPECT_TRUE(one.labels().watermarks.IsUnverified(Row(kPeers, 2)));
  EXPECT_FALSE(one.labels().watermarks.IsUnverified(Row(kPeers, 4)));
}

// --- invariants

TEST(InvariantsDeathTest, ABoundLabelThatIsWaitedForIsNamed) {
  OneDictionary one({});
  one.Bind(Row(kMine, 3), 1);
  ASSERT_TRUE(one.Holds(Row(kMine, 3)));
  one.labels().shard.Find(Row(kMine, 3))->waiters.push_back(kPeer);
  EXPECT_DEATH(one.CheckInvariants(),
               absl::StrCat("row\\(", kMine, "\\)\\(3\\) is bound, and"));
}

TEST(InvariantsDeathTest, ReadersAreCountedAtTheHomeAlone) {
  OneDictionary one({});
  one.Bind(Row(kPeers, 3), 1);
  ASSERT_TRUE(one.Holds(Row(kPeers, 3)));
  one.labels().shard.Find(Row(kPeers, 3))->consumers.Reset(1);
  EXPECT_DEATH(one.CheckInvariants(), "waits for 1 consumers");
}

}  // namespace
}  // namespace dogged
