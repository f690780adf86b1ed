// Aim: the simulated disk keeps what an engine promises and nothing more.
// Method: the contract of engines in virtual time; crashes at any moment.
#include "runtime/sim/disk.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "tests/kvstore/engine_contract.h"

namespace dogged {
namespace {

TEST(SimDisk, KeepsTheContractOfEngines) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    EventQueue queue;
    SimDisk disk;
    SimEngine engine(queue, disk, {}, Rng(seed), [] {});
    PatientEngine patient(engine, [&] { ASSERT_TRUE(queue.RunNext()); });
    CheckAgainstAMap(patient, seed);
  }
}

TEST(SimDisk, ForgetsAtMostWhatHadNoReply) {
  int64_t forgotten = 0;  // though it was written, for what came later is there
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    EventQueue queue;
    SimDisk disk;
    Rng rng(seed);
    auto engine =
        std::make_unique<SimEngine>(queue, disk, DiskFaults{}, rng, [] {});
    std::set<uint64_t> durable;
    std::vector<EngineReply> replies;
    constexpr uint64_t kPuts = 200;
    for (uint64_t i = 1; i <= kPuts; ++i) {
      engine->Submit({.kind = EngineRequest::Kind::kPut,
                      .ticket = i,
                      .key = absl::StrCat("key", i),
                      .value = Bytes(absl::StrCat("value", i))});
    }
    const int64_t steps = rng.Below(kPuts);
    for (int64_t step = 0; step < steps && queue.RunNext(); ++step) {
      engine->Poll(replies);
    }
    for (const EngineReply& reply : replies) durable.insert(reply.ticket);
    engine.reset();
    uint64_t last = 0;  // that is there
    for (uint64_t i = 1; i <= kPuts; ++i) {
      const auto it = disk.content.find(absl::StrCat("key", i));
      const bool there = it != disk.content.end();
      EXPECT_TRUE(there || !durable.contains(i)) << "key" << i;
      if (there) {
        EXPECT_EQ(it->second, absl::StrCat("value", i));
        forgotten += static_cast<int64_t>(i - last - 1);
        last = i;
      }
    }
    while (queue.RunNext()) {
    }
  }
  EXPECT_GT(forgotten, 0);
}

TEST(SimDisk, IsFullAtItsBound) {
  EventQueue queue;
  SimDisk disk;
  SimEngine engine(queue, disk, {.bytes_max = 100}, Rng(1), [] {});
  PatientEngine patient(engine, [&] { ASSERT_TRUE(queue.RunNext()); });
  EXPECT_TRUE(patient.Put("a", std::string(90, 'x')).status.ok());
  EXPECT_EQ(patient.Put("b", std::string(90, 'x')).status.code(),
            absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(patient.Get("b").status.code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(patient.Erase("a").status.ok());
  EXPECT_TRUE(patient.Put("b", std::string(90, 'x')).status.ok());
}

TEST(SimDisk, FlipsABitWhenToldTo) {
  EventQueue queue;
  SimDisk disk;
  SimEngine engine(queue, disk, {.corrupt = 1}, Rng(1), [] {});
  PatientEngine patient(engine, [&] { ASSERT_TRUE(queue.RunNext()); });
  const std::string value(90, 'x');
  EXPECT_TRUE(patient.Put("a", value).status.ok());
  EXPECT_NE(patient.Get("a").value.view(), value);
}

}  // namespace
}  // namespace dogged
