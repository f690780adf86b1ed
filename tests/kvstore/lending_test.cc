// Aim: a lent value is whole for as long as it is read, and its block comes
// back in the end, whatever is lost, doubled, late or dead. Method: an owner
// and a reader over simulated memory, messages carried, dropped and doubled by
// hand; and random traffic against the promise.
#include "kvstore/lending/lending.h"

#include <deque>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "runtime/sim/shared_memory.h"

namespace dogged {
namespace {

constexpr AgentId kOwner(1);
constexpr AgentId kReader(2);

class LendingTest : public testing::Test {
 protected:
  LendingTest() { Start(); }
  ~LendingTest() override { SetValueMemory(nullptr); }

  // Both know each other, and the reader has said that it maps.
  void Start() {
    owner_ = std::make_unique<Lending>(owner_id_, owner_memory_, options_);
    reader_ = std::make_unique<Lending>(reader_id_, reader_memory_, options_);
    owner_->SetView(now_, ViewOf({owner_id_, reader_id_}));
    reader_->SetView(now_, ViewOf({owner_id_, reader_id_}));
    Exchange();
  }
  View ViewOf(const std::vector<AgentId>& ids) const {
    std::vector<Member> members;
    for (const AgentId id : ids) {
      Member member;
      member.id = id;
      member.arena =
          id == owner_id_ ? owner_memory_.address() : reader_memory_.address();
      members.push_back(member);
    }
    return View(members);
  }
  Value Make(double number, int64_t count = 64) {
    SetValueMemory(&owner_memory_);
    Value value = Value::Allocate(ElementType::kDouble, {count});
    SetValueMemory(nullptr);
    for (double& element : value.mutable_span<double>()) element = number;
    value.Seal();
    return value;
  }
  static bool IsWhole(const Value& value) {
    return Hash128(value.view()) == value.digest();
  }
  // Lets both have their say, and carries the messages, some `lost`.
  void Exchange(bool lost = false) {
    for (int round = 0; round < 4; ++round) {
      Outbox out;
      owner_->Tick({now_, out});
      reader_->Tick({now_, out});
      while (!out.messages.empty()) {
        Outbox next;
        for (const Outbox::OutgoingMessage& wish : out.messages) {
          if (!lost) Deliver(wish, next);
        }
        out = std::move(next);
      }
    }
  }
  void Deliver(const Outbox::OutgoingMessage& wish, Outbox& out) {
    const bool to_owner = wish.to == owner_id_;
    Lending& to = to_owner ? *owner_ : *reader_;
    EXPECT_TRUE(to.Receive({now_, out}, to_owner ? reader_id_ : owner_id_,
                           wish.kind, wish.body.Join().view())
                    .ok());
  }

  SimArena::Processes processes_;
  SimArena owner_memory_{processes_, "here", 1 << 16, 1};
  SimArena reader_memory_{processes_, "here", 1 << 16, 1};
  AgentId owner_id_ = kOwner;
  AgentId reader_id_ = kReader;
  LendingOptions options_;
  absl::Time now_ = absl::UnixEpoch();
  std::unique_ptr<Lending> owner_;
  std::unique_ptr<Lending> reader_;
};

TEST_F(LendingTest, AValueIsReadWhereItLies) {
  const Value made = Make(7);
  const std::optional<Loan> loan = owner_->Lend(kReader, made);
  ASSERT_TRUE(loan.has_value());
  const Value read = reader_->Borrow(kOwner, *loan);
  ASSERT_FALSE(read.IsNone());
  EXPECT_EQ(read.data(), made.data());
  EXPECT_TRUE(read.IsView());
  EXPECT_FALSE(read.IsUnique()) << "a kernel would write into it";
  EXPECT_TRUE(IsWhole(read));
}

TEST_F(LendingTest, LoansThatAreQuicklyReturnedAreForgotten) {
  const Value made = Make(7);
  const Loan first = *owner_->Lend(kReader, made);
  for (int i = 0; i < 1000; ++i) {
    const Loan loan = *owner_->Lend(kReader, made);
    EXPECT_FALSE(reader_->Borrow(kOwner, loan).IsNone());
    EXPECT_TRUE(reader_->Borrow(kOwner, loan).IsNone()) << "doubled";
  }
  EXPECT_EQ(reader_->remembered_count(), 1000) << "the first may still come";
  EXPECT_FALSE(reader_->Borrow(kOwner, first).IsNone());
  EXPECT_EQ(reader_->remembered_count(), 0);
  EXPECT_TRUE(reader_->Borrow(kOwner, first).IsNone()) << "doubled";
}

TEST_F(LendingTest, ALentValueIsNotUpdatedInPlace) {
  Value made = Make(7);
  EXPECT_TRUE(made.IsUnique());
  const Loan loan = *owner_->Lend(kReader, made);
  EXPECT_FALSE(made.IsUnique());
  reader_->Borrow(kOwner, loan);  // and drops it
  Exchange();
  EXPECT_TRUE(made.IsUnique());
}

TEST_F(LendingTest, ABlockIsUsedAgainOnceItIsReturned) {
  Value made = Make(7);
  const void* block = made.data();
  Value read = reader_->Borrow(kOwner, *owner_->Lend(kReader, made));
  made = Value();
  Exchange();
  EXPECT_NE(Make(8).data(), block);
  EXPECT_TRUE(IsWhole(read));
  read = Value();
  Exchange();
  EXPECT_EQ(owner_->lent_count(), 0);
  EXPECT_EQ(Make(9).data(), block);
}

TEST_F(LendingTest, AReferenceThatWasLostIsFoundByTheRecount) {
  (void)owner_->Lend(kReader, Make(7));
  Exchange();
  EXPECT_EQ(owner_->lent_count(), 1);
  now_ += absl::Seconds(2);
  Exchange();
  EXPECT_EQ(owner_->lent_count(), 0);
}

TEST_F(LendingTest, AReturnThatWasLostIsFoundByTheRecount) {
  const Loan loan = *owner_->Lend(kReader, Make(7));
  reader_->Borrow(kOwner, loan);
  Exchange(/*lost=*/true);
  EXPECT_EQ(owner_->lent_count(), 1);
  now_ += absl::Seconds(2);
  Exchange();
  EXPECT_EQ(owner_->lent_count(), 0);
}

TEST_F(LendingTest, ALoanIsAcceptedOnce) {
  const Loan loan = *owner_->Lend(kReader, Make(7));
  EXPECT_FALSE(reader_->Borrow(kOwner, loan).IsNone());
  EXPECT_TRUE(reader_->Borrow(kOwner, loan).IsNone());
}

TEST_F(LendingTest, ALateReferenceIsRefusedAfterTheRecount) {
  const Loan loan = *owner_->Lend(kReader, Make(7));
  Exchange();
  now_ += absl::Seconds(2);
  Exchange();
  EXPECT_EQ(owner_->lent_count(), 0);
  EXPECT_TRUE(reader_->Borrow(kOwner, loan).IsNone());
}

TEST_F(LendingTest, TheRecountLeavesWhatIsInUse) {
  Value read = reader_->Borrow(kOwner, *owner_->Lend(kReader, Make(7)));
  for (int i = 0; i < 20; ++i) {
    now_ += absl::Seconds(2);
    Exchange();
  }
  EXPECT_EQ(owner_->lent_count(), 1);
  EXPECT_TRUE(IsWhole(read));
}

// Until it has released the value or died: suspicion by other agents is no
// death.
TEST_F(LendingTest, OneWhoIsTakenForDeadStillReads) {
  Value made = Make(7);
  const Value read = reader_->Borrow(kOwner, *owner_->Lend(kReader, made));
  made = Value();
  owner_->SetView(now_, ViewOf({kOwner}));
  for (int i = 0; i < 20; ++i) {
    now_ += absl::Seconds(2);
    Exchange(/*lost=*/true);
  }
  EXPECT_EQ(owner_->lent_count(), 1);
  EXPECT_TRUE(IsWhole(read));
  EXPECT_FALSE(owner_->Lend(kReader, Make(8)).has_value());
  reader_memory_.End();
  Exchange(/*lost=*/true);
  EXPECT_EQ(owner_->lent_count(), 0);
}

TEST_F(LendingTest, TheOwnersDeathTakesNothingAway) {
  const Value read = reader_->Borrow(kOwner, *owner_->Lend(kReader, Make(7)));
  EXPECT_FALSE(read.IsOrphan());
  owner_memory_.End();
  owner_.reset();
  reader_->SetView(now_, ViewOf({kReader}));
  EXPECT_TRUE(reader_->HasOrphans());
  EXPECT_TRUE(read.IsOrphan());
  EXPECT_TRUE(IsWhole(read));
  const Value copy = read.Copy();
  EXPECT_FALSE(copy.IsView());
  EXPECT_EQ(copy.digest(), read.digest());
  EXPECT_TRUE(IsWhole(copy));
}

// The next incarnation of the owner, in the same process and arena, must not
// use what the last one lent, until the reader has let go of all of it.
TEST_F(LendingTest, ANewIncarnationOfTheOwnerKeepsWhatWasLent) {
  Value made = Make(7);
  const void* block = made.data();
  Value read = reader_->Borrow(kOwner, *owner_->Lend(kReader, made));
  made = Value();
  owner_id_ = AgentId(3);
  owner_ = std::make_unique<Lending>(owner_id_, owner_memory_, options_);
  owner_->SetView(now_, ViewOf({owner_id_, reader_id_}));
  reader_->SetView(now_, ViewOf({owner_id_, reader_id_}));
  for (int i = 0; i < 20; ++i) {
    now_ += absl::Seconds(2);
    Exchange();
  }
  EXPECT_TRUE(IsWhole(read));
  EXPECT_NE(Make(8).data(), block);
  EXPECT_FALSE(owner_->Lend(reader_id_, Make(8)).has_value());
  read = Value();
  for (int i = 0; i < 20; ++i) {
    now_ += absl::Seconds(2);
    Exchange();
  }
  EXPECT_FALSE(owner_memory_.keeps_any());
  EXPECT_TRUE(owner_->Lend(reader_id_, Make(9)).has_value());
}

TEST_F(LendingTest, ANewIncarnationOfTheReaderFreesWhatTheLastOneHad) {
  Value made = Make(7);
  Value read = reader_->Borrow(kOwner, *owner_->Lend(kReader, made));
  made = Value();
  reader_id_ = AgentId(3);
  reader_ = std::make_unique<Lending>(reader_id_, reader_memory_, options_);
  owner_->SetView(now_, ViewOf({owner_id_, reader_id_}));
  reader_->SetView(now_, ViewOf({owner_id_, reader_id_}));
  for (int i = 0; i < 20; ++i) {
    now_ += absl::Seconds(2);
    Exchange();
  }
  EXPECT_EQ(owner_->lent_count(), 1) << "a kernel may still run on it";
  EXPECT_TRUE(IsWhole(read));
  read = Value();
  for (int i = 0; i < 20; ++i) {
    now_ += absl::Seconds(2);
    Exchange();
  }
  EXPECT_EQ(owner_->lent_count(), 0);
}

// A late `mapped` of an incarnation that has gone would undo what its
// successor, the same process, has said and been answered; so nothing would be
// lent to it.
TEST_F(LendingTest, AnEarlierIncarnationSaysNothingAnyMore) {
  reader_id_ = AgentId(3);
  reader_ = std::make_unique<Lending>(reader_id_, reader_memory_, options_);
  owner_->SetView(now_, ViewOf({owner_id_, reader_id_}));
  reader_->SetView(now_, ViewOf({owner_id_, reader_id_}));
  // The owner has not had a turn, in which it would forget the first one.
  Outbox out;
  reader_->Tick({now_, out});
  const std::vector<Outbox::OutgoingMessage> said =
      std::exchange(out.messages, {});
  for (const Outbox::OutgoingMessage& wish : said) Deliver(wish, out);
  for (const Outbox::OutgoingMessage& wish : std::exchange(out.messages, {})) {
    Deliver(wish, out);
  }
  EXPECT_TRUE(owner_
                  ->Receive({now_, out}, kReader,
                            static_cast<uint8_t>(LendingMessage::kMapped),
                            "\x01")
                  .ok());
  EXPECT_TRUE(out.messages.empty()) << "nobody is there to be welcome";
  for (int i = 0; i < 20; ++i) {
    now_ += absl::Seconds(2);
    Exchange();
  }
  EXPECT_TRUE(owner_->Lend(reader_id_, Make(7)).has_value());
}

// The same while the view of the owner holds the earlier incarnation again, as
// after a partition: its late message must not end the present one's loans.
TEST_F(LendingTest, ALateMessageOfAnEarlierIncarnationEndsNoLoan) {
  owner_ = std::make_unique<Lending>(owner_id_, owner_memory_, options_);
  Outbox late;
  reader_ = std::make_unique<Lending>(kReader, reader_memory_, options_);
  reader_->SetView(now_, ViewOf({owner_id_, kReader}));
  reader_->Tick({now_, late});
  ASSERT_EQ(late.messages.size(), 1U);

  reader_id_ = AgentId(3);
  reader_ = std::make_unique<Lending>(reader_id_, reader_memory_, options_);
  owner_->SetView(now_, ViewOf({owner_id_, reader_id_}));
  reader_->SetView(now_, ViewOf({owner_id_, reader_id_}));
  Exchange();
  owner_->SetView(now_, ViewOf({owner_id_, kReader, reader_id_}));
  Value made = Make(7);
  const std::optional<Loan> loan = owner_->Lend(reader_id_, made);
  ASSERT_TRUE(loan.has_value());
  const Value read = reader_->Borrow(owner_id_, *loan);
  made = Value();

  Outbox out;
  EXPECT_TRUE(owner_
                  ->Receive({now_, out}, kReader, late.messages[0].kind,
                            late.messages[0].body.Join().view())
                  .ok());
  EXPECT_TRUE(out.messages.empty());
  EXPECT_EQ(owner_->lent_count(), 1);
  EXPECT_TRUE(IsWhole(read));
  EXPECT_TRUE(owner_->Lend(reader_id_, Make(8)).has_value());
}

TEST_F(LendingTest, WhatCantBeLentTravelsAsBytes) {
  EXPECT_FALSE(owner_->Lend(AgentId(9), Make(7)).has_value());
  EXPECT_FALSE(owner_->Lend(kReader, Value::Scalar(1)).has_value());
  EXPECT_FALSE(owner_->Lend(kReader, Make(7).Spilled()).has_value());
  const Value read = reader_->Borrow(kOwner, *owner_->Lend(kReader, Make(7)));
  EXPECT_FALSE(reader_->Lend(kOwner, read).has_value());
}

TEST_F(LendingTest, SaysWhereAValueLies) {
  const Value made = Make(7);
  const Loan loan = *owner_->Lend(kReader, made);
  const Value read = reader_->Borrow(kOwner, loan);
  for (const auto& place : {owner_->PlaceOf(made), reader_->PlaceOf(read)}) {
    ASSERT_TRUE(place.has_value());
    EXPECT_EQ(place->arena, owner_memory_.address());
    EXPECT_EQ(place->offset, loan.offset);
  }
  EXPECT_FALSE(owner_->PlaceOf(made.Spilled()).has_value());
  // An arena that is only kept here cannot be mapped.
  reader_->SetView(now_, View(std::vector<Member>{}));
  EXPECT_FALSE(reader_->PlaceOf(read).has_value());
}

TEST_F(LendingTest, NoMoreIsLentThanMayBe) {
  options_.lent_bytes_max = 1000;
  Start();
  EXPECT_TRUE(owner_->Lend(kReader, Make(7)).has_value());
  EXPECT_FALSE(owner_->Lend(kReader, Make(8)).has_value());
}

TEST_F(LendingTest, OtherHostsMapNothing) {
  SimArena elsewhere(processes_, "there", 1 << 12, 1);
  Member member;
  member.id = AgentId(5);
  member.arena = elsewhere.address();
  reader_->SetView(now_, View({member}));
  EXPECT_TRUE(reader_->Borrow(member.id, {.number = 1, .shape = {8}}).IsNone());
}

TEST_F(LendingTest, LoansThatLieOutsideAreRefused) {
  Loan loan = *owner_->Lend(kReader, Make(7));
  for (const int64_t offset :
       {int64_t{-64}, int64_t{1 << 16}, int64_t{(1 << 16) - 64}, INT64_MAX}) {
    loan.offset = offset;
    ++loan.number;
    EXPECT_TRUE(reader_->Borrow(kOwner, loan).IsNone()) << offset;
  }
  loan.offset = 0;
  for (const Shape& shape : {Shape{-1}, Shape{INT64_MAX, 8}, Shape{0}}) {
    loan.shape = shape;
    ++loan.number;
    EXPECT_TRUE(reader_->Borrow(kOwner, loan).IsNone()) << shape.ToString();
  }
  Outbox out;
  for (uint8_t kind = static_cast<uint8_t>(LendingMessage::kMapped);
       Lending::IsMine(kind); ++kind) {
    EXPECT_FALSE(owner_->Receive({now_, out}, kReader, kind, "\xff").ok());
  }
}

// References and the machines' own messages are lost, doubled and late, at
// random; values read are whole at all times, and all loans come back in the
// end.
TEST_F(LendingTest, RandomTrafficKeepsThePromise) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Start();
    Rng rng(seed);
    std::deque<Outbox::OutgoingMessage> wire;
    std::deque<Loan> references;
    std::vector<Value> made;
    std::vector<Value> read;
    const auto pick = [&](auto& from) {
      const auto at = from.begin() + rng.Below(std::ssize(from));
      auto out = *at;
      if (!rng.Chance(0.1)) from.erase(at);
      return out;
    };
    for (int step = 0; step < 400; ++step) {
      Outbox out;
      now_ += absl::Milliseconds(rng.Below(100));
      switch (rng.Below(7)) {
        case 0:
          made.push_back(Make(rng.Unit(), 1 + rng.Below(100)));
          break;
        case 1:
          if (made.empty()) break;
          if (const auto loan = owner_->Lend(kReader, pick(made))) {
            references.push_back(*loan);
          }
          break;
        case 2:
          if (references.empty()) break;
          read.push_back(reader_->Borrow(kOwner, pick(references)));
          if (read.back().IsNone()) read.pop_back();
          break;
        case 3:
          if (!references.empty() && rng.Chance(0.2)) pick(references);
          break;
        case 4:
          if (!read.empty()) pick(read);
          break;
        case 5:
          owner_->Tick({now_, out});
          reader_->Tick({now_, out});
          break;
        case 6:
          if (wire.empty()) break;
          if (const auto wish = pick(wire); !rng.Chance(0.2))
            Deliver(wish, out);
          break;
      }
      wire.insert(wire.end(), out.messages.begin(), out.messages.end());
      for (const Value& value : read) {
        ASSERT_TRUE(IsWhole(value)) << "seed " << seed << " step " << step;
      }
    }
    read.clear();
    for (int i = 0; i < 10; ++i) {
      now_ += absl::Minutes(1);
      Exchange();
    }
    EXPECT_EQ(owner_->lent_count(), 0) << "seed " << seed;
    EXPECT_EQ(owner_->lent_bytes(), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace dogged
