// Aim: no bytes from another agent, a file or a disk bring a process down, make
// it take memory by a claim, or are taken for what was written.
// Method: valid bytes of each kind, changed at random: bits, cuts, pieces said
// twice or moved, numbers that are huge. All is drawn from one seed, which is
// printed; DOGGED_FUZZ_SEED gives another one, DOGGED_FUZZ_ROUNDS more of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "apps/output/npy.h"
#include "kvstore/storage/value_store.h"
#include "routing/membership/reconcile.h"
#include "routing/stream/stream_messages.h"
#include "routing/transport/packing.h"
#include "runtime/agent/records/job_record.h"
#include "runtime/base/codec.h"
#include "runtime/base/random.h"
#include "runtime/graph/job.h"
#include "runtime/sim/disk.h"
#include "tests/exec/programs.h"
#include "tests/output/temporary_folder.h"

namespace dogged {
namespace {

constexpr AgentId kSelf(7);
constexpr AgentId kPeer(9);

int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* const text = std::getenv(name);
  int64_t out = otherwise;
  if (text != nullptr && !absl::SimpleAtoi(text, &out)) std::abort();
  return out;
}

// Changes of bytes, drawn from the run's seed.
class Mutator {
 public:
  explicit Mutator(absl::string_view purpose)
      : rounds_(FromEnvironment("DOGGED_FUZZ_ROUNDS", 200000)),
        rng_(Rng(Seed()).Stream(purpose)) {}

  int64_t rounds() const { return rounds_; }
  Rng& rng() { return rng_; }
  std::string Change(std::string bytes) {
    for (int64_t left = 1 + rng_.Below(4); left > 0; --left) ChangeOnce(bytes);
    return bytes;
  }

 private:
  static uint64_t Seed() {
    const int64_t seed = FromEnvironment("DOGGED_FUZZ_SEED", 20261127);
    std::printf("DOGGED_FUZZ_SEED=%lld\n", static_cast<long long>(seed));
    return static_cast<uint64_t>(seed);
  }
  size_t Place(const std::string& bytes) {
    return static_cast<size_t>(rng_.Below(std::ssize(bytes) + 1));
  }
  void ChangeOnce(std::string& bytes) {
    const size_t at = Place(bytes);
    const size_t length = static_cast<size_t>(
        rng_.Below(1 + std::min<int64_t>(
                           64, std::ssize(bytes) - static_cast<int64_t>(at))));
    switch (rng_.Below(6)) {
      case 0:
        if (at < bytes.size()) {
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng_.Below(8)));
        }
        return;
      case 1:
        bytes.resize(at);
        return;
      case 2:
        bytes.insert(Place(bytes), bytes.substr(at, length));
        return;
      case 3:
        bytes.erase(at, length);
        return;
      case 4:  // lengths and counts
        bytes.replace(
            at, std::min<size_t>(8, bytes.size() - at),
            std::string(static_cast<size_t>(rng_.Below(10)),
                        static_cast<char>(rng_.Chance(0.5) ? 0xff : 0x7f)));
        return;
      default:
        bytes.insert(at, 1, static_cast<char>(rng_.Below(256)));
    }
  }

  const int64_t rounds_;
  Rng rng_;
};

TEST(Decoders, EnvelopesOfTheFabricAreRefusedOrWhole) {
  Mutator mutator("envelopes");
  Envelope head{.kind = kFirstFreeKind, .source = kPeer, .target = kSelf};
  std::vector<std::string> valid(3);
  AppendMessage(head, "hello", "", valid[0]);
  AppendMessage(head, "hello", "", valid[1]);
  const std::string long_body(3000, 'x');
  AppendMessage(head, long_body, "", valid[1]);
  head.flags = Envelope::kSegmentFlag;
  // The header of a segment and its bytes: the reassembler reads all of it.
  std::string segment(64, '\0');
  AppendMessage(head, segment, "", valid[2]);
  Unpacker unpacker(kSelf, Limits());
  absl::Time now = absl::UnixEpoch();
  for (int64_t round = 0; round < mutator.rounds(); ++round) {
    std::string bytes;
    const bool is_sealed = mutator.rng().Chance(0.5);
    if (!is_sealed) {
      bytes = mutator.Change(mutator.rng().Pick(valid));
    } else {
      // Sound envelopes around bodies that are not.
      Envelope around = head;
      around.flags = static_cast<uint16_t>(mutator.rng().Below(4));
      around.kind = static_cast<uint8_t>(mutator.rng().Below(40));
      AppendMessage(around, mutator.Change(segment), "", bytes);
    }
    std::vector<Message> out;
    unpacker.Open(now, {kPeer, Bytes(bytes)}, out);
    for (const Message& message : out) {
      ASSERT_EQ(message.head.target, kSelf);
      ASSERT_EQ(message.head.length, message.body.size());
      ASSERT_TRUE(is_sealed || message.body.view() == "hello" ||
                  message.body.view() == long_body);
      (void)StreamOffer::Decode(message.body, Limits());
      (void)StreamSegment::Decode(message.body);
      (void)StreamPull::Decode(message.body);
      (void)ReconcileMessage::Decode(message.body.view());
    }
    now += absl::Milliseconds(10);
    unpacker.Tick(now);
  }
  EXPECT_GT(unpacker.refused_count(), mutator.rounds() / 4);
}

TEST(Decoders, JobsAndRecordsAreRefusedOrSaidAgain) {
  Mutator mutator("jobs");
  std::vector<std::string> jobs;
  for (const Program& program : {WideRelease(3), WideRelease(40)}) {
    jobs.push_back(Job{.program = program}.Encode());
  }
  JobRecord record;
  record.hash = {1, 2};
  record.name = "heat";
  record.message = "words";
  const std::string valid(record.Encode().view());
  int64_t whole = 0;
  for (int64_t round = 0; round < mutator.rounds(); ++round) {
    const auto job = Job::Decode(mutator.Change(mutator.rng().Pick(jobs)));
    if (job.ok()) {
      ++whole;
      ASSERT_TRUE(Job::Decode(job->Encode()).ok());
    }
    const auto other = JobRecord::Decode(mutator.Change(valid));
    if (other.ok()) {
      ASSERT_TRUE(JobRecord::Decode(other->Encode().view()).ok());
    }
  }
  EXPECT_GT(whole, 0);
}

TEST(Decoders, FilesOfNumPyAreRefusedOrAsLongAsTheySay) {
  Mutator mutator("npy");
  const TemporaryFolder folder;
  std::vector<std::string> valid;
  for (const ElementType type :
       {ElementType::kDouble, ElementType::kFloat, ElementType::kInt64}) {
    const Value value = Value::Allocate(type, Shape{3, 5});
    ASSERT_TRUE(WriteNpy(folder / "valid.npy", value).ok());
    std::ifstream file(folder / "valid.npy", std::ios::binary);
    valid.emplace_back(std::istreambuf_iterator<char>(file),
                       std::istreambuf_iterator<char>());
  }
  for (int64_t round = 0; round < mutator.rounds() / 100; ++round) {
    const std::string bytes = mutator.Change(mutator.rng().Pick(valid));
    const std::string path = folder.Write("changed.npy", bytes);
    const auto value = ReadNpy(path, /*may_map=*/mutator.rng().Chance(0.5));
    if (value.ok()) {
      // Behind the magic word stand the version and the header's length.
      ASSERT_GE(std::ssize(bytes), 12);
      const auto digit = [&bytes](size_t at) {
        return int64_t{static_cast<uint8_t>(bytes[at])} << (8 * (at - 8));
      };
      const int64_t head_bytes =
          bytes[6] == 1 ? 10 + digit(8) + digit(9)
                        : 12 + digit(8) + digit(9) + digit(10) + digit(11);
      ASSERT_EQ(value->bytes(), std::ssize(bytes) - head_bytes);
    } else {
      ASSERT_NE(value.status().message().find(path), std::string::npos)
          << value.status();
    }
  }
}

// A record of a directory whose bytes, or whose name, are not as they were
// written is no value; but where the change undoes itself.
TEST(Decoders, RecordsOfDirectoriesAreLostOrAsTheyWereWritten) {
  Mutator mutator("directory");
  const Digest job{1, 2};
  const Label label{.array = 2, .index = {3, 4}};
  Value value = Value::Allocate(ElementType::kInt64, Shape{4});
  std::fill(value.mutable_span<int64_t>().begin(),
            value.mutable_span<int64_t>().end(), 42);
  value.Seal();
  const auto settle = [](EventQueue& queue, ValueStore& store) {
    std::vector<ValueStore::Event> events;
    do {
      store.Poll(events);
    } while (queue.RunNext());
    store.Poll(events);
    return events;
  };
  SimDisk written;
  {
    EventQueue queue;
    SimEngine engine(queue, written, DiskFaults{}, Rng(1), [] {});
    ValueStore store(engine);
    store.NoteJob({.hash = job, .text_hash = 5, .agents = 3, .workers = 2});
    store.Write(job, label, value);
    (void)settle(queue, store);
  }
  ASSERT_GE(std::ssize(written.content), 2);
  int64_t found = 0;
  for (int64_t round = 0; round < mutator.rounds() / 10; ++round) {
    SimDisk disk;
    for (const auto& [key, bytes] : written.content) {
      const int64_t part = mutator.rng().Below(3);  // or neither
      disk.Put(part == 0 ? mutator.Change(key) : key,
               part == 1 ? mutator.Change(bytes) : bytes);
    }
    EventQueue queue;
    SimEngine engine(queue, disk, DiskFaults{}, Rng(1), [] {});
    ValueStore store(engine);
    store.ScanJobs();
    store.Scan(job);
    store.Load(job, label);
    for (const ValueStore::Event& event : settle(queue, store)) {
      if (event.kind != ValueStore::Event::Kind::kFound &&
          event.kind != ValueStore::Event::Kind::kLoaded) {
        continue;
      }
      ++found;
      ASSERT_EQ(event.label, label);
      ASSERT_EQ(event.value.digest(), value.digest());
    }
    for (const auto& [hash, stored] : store.stored_jobs()) {
      ASSERT_LE(stored.agents, StoredJob::kTargetMax);
      ASSERT_LE(stored.workers, StoredJob::kTargetMax);
    }
  }
  EXPECT_GT(found, mutator.rounds() / 100);
}

}  // namespace
}  // namespace dogged
