// Aim: a value from disk equals the value that was written under its label, or
// counts as lost. Method: a simulated disk whose content the test changes.
#include "kvstore/storage/value_store.h"

#include <functional>
#include <memory>

#include "gmock/gmock.h"
#include "runtime/sim/disk.h"

namespace dogged {
namespace {

using Kind = ValueStore::Event::Kind;

constexpr Digest kJob{1, 2};
constexpr Digest kOtherJob{3, 4};
const Label kLabel{.array = 2, .index = {3, 4}};
const Label kNext{.array = 2, .index = {3, 5}};

class ValueStoreTest : public testing::Test {
 protected:
  ValueStoreTest() { Restart(); }

  void Restart() {
    store_.reset();
    engine_.reset();
    engine_ =
        std::make_unique<SimEngine>(queue_, disk_, DiskFaults{}, Rng(1), [] {});
    store_ = std::make_unique<ValueStore>(*engine_);
  }
  // Changes what is on the disk, which nobody uses meanwhile.
  void Tamper(const std::function<void()>& change) {
    store_.reset();
    engine_.reset();
    change();
    Restart();
  }
  // All that happens until nothing more does.
  std::vector<ValueStore::Event> Settle() {
    std::vector<ValueStore::Event> events;
    do {
      store_->Poll(events);
    } while (queue_.RunNext());
    store_->Poll(events);
    return events;
  }
  std::vector<Kind> Kinds() {
    std::vector<Kind> out;
    for (const auto& event : Settle()) out.push_back(event.kind);
    return out;
  }
  // The two records on the disk, by label order.
  std::string& Record(int i) {
    return std::next(disk_.content.begin(), i)->second;
  }

  EventQueue queue_;
  SimDisk disk_;
  std::unique_ptr<SimEngine> engine_;
  std::unique_ptr<ValueStore> store_;
};

TEST_F(ValueStoreTest, GivesBackWhatWasWritten) {
  const uint64_t ticket = store_->Write(kJob, kLabel, Value::Scalar(7));
  EXPECT_GT(store_->writing_bytes(), 8);
  auto events = Settle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, Kind::kWritten);
  EXPECT_EQ(events[0].ticket, ticket);
  EXPECT_EQ(events[0].label, kLabel);
  EXPECT_EQ(store_->writing_bytes(), 0);
  Restart();
  store_->Load(kJob, kLabel);
  events = Settle();
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].kind, Kind::kLoaded);
  EXPECT_EQ(events[0].job, kJob);
  EXPECT_EQ(events[0].value.span<double>()[0], 7);
}

TEST_F(ValueStoreTest, WhatIsNotThereIsLost) {
  store_->Load(kJob, kLabel);
  EXPECT_THAT(Kinds(), testing::ElementsAre(Kind::kLost));
}

TEST_F(ValueStoreTest, AnyFlippedBitMakesAValueLost) {
  store_->Write(kJob, kLabel, Value::Scalar(7));
  Settle();
  const std::string whole = Record(0);
  for (size_t i = 0; i < whole.size(); ++i) {
    Tamper([&] {
      Record(0) = whole;
      Record(0)[i] = static_cast<char>(Record(0)[i] ^ 4);
    });
    store_->Load(kJob, kLabel);
    EXPECT_THAT(Kinds(), testing::ElementsAre(Kind::kLost)) << "byte " << i;
  }
  for (size_t size = 0; size < whole.size(); ++size) {
    Tamper([&] { Record(0) = whole.substr(0, size); });
    store_->Load(kJob, kLabel);
    EXPECT_THAT(Kinds(), testing::ElementsAre(Kind::kLost)) << size;
  }
}

TEST_F(ValueStoreTest, ARecordUnderAnotherNameIsLost) {
  store_->Write(kJob, kLabel, Value::Scalar(7));
  store_->Write(kJob, kNext, Value::Scalar(8));
  Settle();
  Tamper([&] { std::swap(Record(0), Record(1)); });
  store_->Load(kJob, kLabel);
  store_->Load(kJob, kNext);
  EXPECT_THAT(Kinds(), testing::ElementsAre(Kind::kLost, Kind::kLost));
}

TEST_F(ValueStoreTest, ScansOneJobAndDropsWhatIsDamaged) {
  store_->Write(kJob, kLabel, Value::Scalar(7));
  store_->Write(kJob, kNext, Value::Scalar(8));
  store_->Write(kOtherJob, kNext, Value::Scalar(9));
  Settle();
  Tamper([&] { Record(0).back() = '?'; });
  store_->Scan(kJob);
  const auto events = Settle();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, Kind::kFound);
  EXPECT_EQ(events[0].label, kNext);
  EXPECT_EQ(events[0].value.span<double>()[0], 8);
  EXPECT_EQ(events[1].kind, Kind::kScanned);
  store_->Load(kJob, kLabel);
  EXPECT_THAT(Kinds(), testing::ElementsAre(Kind::kLost));
}

// Chunks of inputs are values of no array.
TEST_F(ValueStoreTest, ScansWhatIsOfNoArray) {
  const Label chunk{.array = -1, .index = {0, 5}};
  store_->Write(kJob, chunk, Value::Scalar(7));
  Settle();
  store_->Scan(kJob);
  const auto events = Settle();
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kind, Kind::kFound);
  EXPECT_EQ(events[0].label, chunk);
}

// More than a page holds.
TEST_F(ValueStoreTest, ScansAllPages) {
  for (int64_t i = 0; i < 20; ++i) {
    Value value = Value::Allocate(ElementType::kDouble, {1 << 17});
    for (double& x : value.mutable_span<double>()) x = static_cast<double>(i);
    value.Seal();
    store_->Write(kJob, {.array = 0, .index = {i}}, value);
  }
  Settle();
  store_->Scan(kJob);
  const auto events = Settle();
  ASSERT_EQ(events.size(), 21u);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(events[i].kind, Kind::kFound);
    EXPECT_EQ(events[i].value.span<double>()[0],
              static_cast<double>(events[i].label.index[0]));
  }
}

TEST_F(ValueStoreTest, ErasesAJobAndNoOther) {
  store_->Write(kJob, kLabel, Value::Scalar(7));
  store_->Write(kJob, kNext, Value::Scalar(8));
  store_->Write(kOtherJob, kNext, Value::Scalar(9));
  Settle();
  store_->EraseJob(kJob);
  Settle();
  store_->Load(kJob, kLabel);
  store_->Load(kOtherJob, kNext);
  EXPECT_THAT(Kinds(), testing::ElementsAre(Kind::kLost, Kind::kLoaded));
}

// A client that asks again and again for a job that is gone made an agent's
// disk write 32 MB/s for ever.
TEST_F(ValueStoreTest, ErasesAJobOnce) {
  store_->Write(kJob, kLabel, Value::Scalar(7));
  store_->EraseJob(kJob);
  Settle();
  store_->EraseJob(kJob);
  store_->EraseJob(kOtherJob);
  EXPECT_FALSE(queue_.RunNext());
  store_->Write(kJob, kLabel, Value::Scalar(7));
  store_->EraseJob(kJob);
  store_->Scan(kJob);
  EXPECT_THAT(Kinds(), testing::ElementsAre(Kind::kScanned, Kind::kWritten));
}

TEST_F(ValueStoreTest, ErasesAJobOfAnEarlierAgent) {
  for (const bool has_read : {false, true}) {
    store_->NoteJob({.hash = kJob});
    store_->Write(kJob, kLabel, Value::Scalar(7));
    Settle();
    Restart();
    store_->ScanJobs();
    if (has_read) Settle();
    store_->EraseJob(kJob);
    store_->Scan(kJob);
    EXPECT_THAT(Kinds(), testing::ElementsAre(Kind::kScanned)) << has_read;
    store_->EraseJob(kJob);
    EXPECT_FALSE(queue_.RunNext());
  }
}

}  // namespace
}  // namespace dogged
