// Aim: chunks of inputs come to the agents that read them, within bounds; two
// agents keep each chunk once the client has gone; a job learns of chunks that
// no agent has, and only of these. Method: a few machines whose messages arrive
// at once, and a client that the test plays.
#include "runtime/job/inputs/input_chunks.h"

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/base/codec.h"
#include "tests/sim/input_programs.h"

namespace dogged {
namespace {

class Scene {
 public:
  explicit Scene(int agents, const Limits& limits = {}) {
    for (int i = 0; i < agents; ++i) {
      ids.push_back(AgentId(static_cast<uint64_t>(i + 1)));
      chunks.push_back(std::make_unique<InputChunks>(
          InputChunks::Options{.self = ids.back(), .limits = limits}, job));
    }
    const auto table = LoadInputMixKernels(job);
    kernel = std::make_unique<InputMixKernel>(job.InputAt(0));
  }
  Task TaskAt(int64_t row) const { return {0, {row}}; }
  // The client gives `agent` what it wants; at most `count`.
  int64_t Give(size_t agent, int64_t count = 1000) {
    int64_t given = 0;
    for (const ChunkId& id : chunks[agent]->TakeWishes()) {
      if (given == count) break;
      std::string bytes(
          static_cast<size_t>(job.inputs[0].grid.BytesOf(id.index)), 0);
      job.inputs[0].CopyChunk(id.index, bytes.data());
      EXPECT_TRUE(chunks[agent]->Supply(id, bytes).ok());
      ++given;
    }
    return given;
  }
  // Until nobody says anything any more.
  void Settle() {
    for (bool any = true; any;) {
      any = false;
      for (size_t i = 0; i < ids.size(); ++i) {
        if (chunks[i] == nullptr) continue;
        Outbox out;
        std::vector<AgentId> others;
        for (size_t k = 0; k < ids.size(); ++k) {
          if (k != i && chunks[k] != nullptr) others.push_back(ids[k]);
        }
        chunks[i]->Tick({now, out}, others);
        Deliver(i, out);
        any |= !out.messages.empty();
      }
    }
  }
  void Deliver(size_t from, const Outbox& out) {
    for (const Outbox::OutgoingMessage& wish : out.messages) {
      const size_t to = wish.to.value() - 1;
      if (chunks[to] == nullptr) continue;
      Outbox answer;
      EXPECT_TRUE(
          chunks[to]
              ->Receive({now, answer}, ids[from], wish.body.Join().view())
              .ok());
      Deliver(to, answer);
    }
  }

  Job job = WithInput(Heat1dJob(101, 4, 8));
  std::unique_ptr<InputMixKernel> kernel;
  absl::Time now = absl::UnixEpoch();
  std::vector<AgentId> ids;
  std::vector<std::unique_ptr<InputChunks>> chunks;
};

TEST(InputChunks, ComeToWhoReadsThem) {
  Scene scene(3);
  scene.chunks[0]->SetSupplier(true);
  EXPECT_FALSE(scene.chunks[1]->Pin(scene.TaskAt(0), *scene.kernel));
  scene.Settle();
  EXPECT_TRUE(scene.chunks[1]->TakeReady().empty());  // the client is slow
  scene.Give(0, 8);                                   // the first row's first
  scene.Settle();
  EXPECT_EQ(scene.chunks[1]->TakeReady(), std::vector<Task>{scene.TaskAt(0)});
  EXPECT_EQ(scene.chunks[1]->held_count(), 8);
  EXPECT_EQ(scene.chunks[2]->held_count(), 0);
  EXPECT_EQ(scene.chunks[1]->counts().received_bytes, 8 * 2048);
  EXPECT_EQ(scene.chunks[1]->counts().read_bytes, 3 * 128 * 8);
  EXPECT_TRUE(scene.chunks[1]->Pin(scene.TaskAt(0), *scene.kernel));
  // Another agent has the chunks from there, too, if the keeper has died.
  scene.chunks[0] = nullptr;
  EXPECT_FALSE(scene.chunks[2]->Pin(scene.TaskAt(4), *scene.kernel));
  scene.Settle();
  EXPECT_EQ(scene.chunks[2]->TakeReady().size(), 1);
}

TEST(InputChunks, WhatIsHeldHasBounds) {
  Limits limits;
  limits.input_supply_bytes = 8192;
  limits.input_ahead_bytes = 20'000;
  limits.input_cache_bytes = 4096;
  Scene scene(2, limits);
  scene.chunks[0]->SetSupplier(true);
  EXPECT_EQ(scene.Give(0), 4);
  while (scene.Give(0) > 0) {
  }
  EXPECT_EQ(scene.chunks[0]->held_count(), 64);
  InputChunks& reader = *scene.chunks[1];
  for (int64_t row = 0; row < 120; row += 20) {
    ASSERT_TRUE(reader.HasRoom());
    (void)reader.Pin(scene.TaskAt(row), *scene.kernel);
    (void)reader.Pin(scene.TaskAt(row + 10), *scene.kernel);
    scene.Settle();
    for (const Task& task : reader.TakeReady()) {
      EXPECT_LE(reader.held_count(), 34);
      reader.Unpin(task);
    }
  }
  EXPECT_LE(reader.held_count(), 2);
  (void)reader.Pin(scene.TaskAt(0), *scene.kernel);
  (void)reader.Pin(scene.TaskAt(100), *scene.kernel);
  EXPECT_FALSE(reader.HasRoom());
}

TEST(InputChunks, WhatAnotherJobHasHereIsShared) {
  Scene scene(1);
  InputChunks& first = *scene.chunks[0];
  first.SetSupplier(true);
  while (scene.Give(0) > 0) {
  }
  Job job = scene.job;
  job.inputs[0].chunks[5] = Digest{1, 2};  // other numbers there
  InputChunks second({.self = scene.ids[0], .limits = {}}, job);
  second.SetSupplier(true);
  EXPECT_FALSE(second.Pin(scene.TaskAt(0), *scene.kernel));
  second.Adopt(first);
  EXPECT_EQ(second.held_count(), first.held_count() - 1);
  const std::vector<ChunkId> wishes = second.TakeWishes();
  ASSERT_EQ(wishes.size(), 1u);
  EXPECT_EQ(second.counts().supplied_bytes, second.held_bytes());
  // Nothing of it goes with the other job, which may leave it for a third.
  first.Release(/*drops=*/false);
  EXPECT_EQ(first.held_count(), 64);
  EXPECT_FALSE(first.HasToStay());
  InputChunks third({.self = scene.ids[0], .limits = {}}, scene.job);
  third.SetSupplier(true);
  third.Adopt(first);
  EXPECT_TRUE(third.TakeWishes().empty());
  first.Release(/*drops=*/true);
  EXPECT_EQ(first.held_count(), 0);
  EXPECT_EQ(second.held_count(), 63);
}

TEST(InputChunks, WithoutAClientAllIsKeptTwice) {
  Scene scene(3);
  scene.chunks[0]->SetSupplier(true);
  while (scene.Give(0) > 0) {
  }
  (void)scene.chunks[1]->Pin(scene.TaskAt(0), *scene.kernel);
  scene.Settle();
  scene.chunks[1]->Unpin(scene.TaskAt(0));
  EXPECT_EQ(scene.chunks[2]->held_count(), 0);
  EXPECT_TRUE(scene.chunks[0]->HasToStay());
  scene.chunks[0]->SetSupplier(false);
  for (int i = 0; i < 30; ++i) {
    scene.Settle();
    scene.now += absl::Seconds(1);
  }
  EXPECT_FALSE(scene.chunks[0]->HasToStay());
  EXPECT_EQ(scene.chunks[1]->held_count() + scene.chunks[2]->held_count(), 64);
  // Agents that have read chunks keep them.
  EXPECT_EQ(scene.chunks[1]->counts().received_bytes +
                scene.chunks[2]->counts().received_bytes,
            64 * 2048);
  // After a death the chunks left are kept twice again.
  scene.chunks[0] = nullptr;
  for (int i = 0; i < 30; ++i) {
    scene.Settle();
    scene.now += absl::Seconds(1);
  }
  EXPECT_EQ(scene.chunks[1]->held_count(), 64);
  EXPECT_EQ(scene.chunks[2]->held_count(), 64);
}

// An agent that left has asked for chunks to be kept, and has ended. All others
// are asked in turn, so the one that has them is found.
TEST(InputChunks, ALeaverThatHasEndedHidesNobody) {
  Scene scene(6);
  scene.chunks[0]->SetSupplier(true);
  while (scene.Give(0) > 0) {
  }
  scene.chunks[1] = nullptr;
  constexpr uint8_t kKeep = 6;
  const std::vector<int64_t> kept = {0, 1, 2, 3};
  Encoder keep;
  keep.PutU8(kKeep);
  keep.PutVarint(kept.size());
  for (const int64_t at : kept) keep.PutSigned(at);
  Outbox out;
  ASSERT_TRUE(scene.chunks[2]
                  ->Receive({scene.now, out}, scene.ids[1], keep.view())
                  .ok());
  for (int i = 0; i < 20; ++i) {
    scene.Settle();
    scene.now += absl::Milliseconds(1100);
  }
  EXPECT_EQ(scene.chunks[2]->held_count(), std::ssize(kept));
}

TEST(InputChunks, WhatNobodyHasIsLost) {
  Scene scene(2);
  scene.chunks[0]->SetSupplier(true);
  scene.Give(0, 4);
  (void)scene.chunks[1]->Pin(scene.TaskAt(0), *scene.kernel);
  for (int i = 0; i < 100; ++i) {
    scene.Settle();
    scene.now += absl::Seconds(1);
  }
  EXPECT_TRUE(scene.chunks[1]->lost().ok());  // the client is slow, only
  scene.chunks[0]->SetSupplier(false);
  for (int i = 0; i < 20; ++i) {
    scene.Settle();
    scene.now += absl::Seconds(1);
  }
  EXPECT_TRUE(scene.chunks[1]->lost().ok());
  EXPECT_THAT(scene.chunks[1]->Note(), testing::HasSubstr("no agent has"));
  for (int i = 0; i < 30; ++i) {
    scene.Settle();
    scene.now += absl::Seconds(1);
  }
  EXPECT_THAT(std::string(scene.chunks[1]->lost().message()),
              testing::HasSubstr("input S is lost"));
  EXPECT_TRUE(scene.chunks[0]->lost().ok());  // it needs none of it
}

TEST(InputChunks, RefusesWhatIsNone) {
  Scene scene(2);
  InputChunks& chunks = *scene.chunks[0];
  chunks.SetSupplier(true);
  const ChunkId first = chunks.TakeWishes().front();
  EXPECT_FALSE(chunks.Supply(first, std::string(2048, 'x')).ok());
  EXPECT_FALSE(chunks.Supply(first, "x").ok());
  EXPECT_FALSE(chunks.Supply({0, 64}, "x").ok());
  EXPECT_FALSE(chunks.Supply({1, 0}, "x").ok());
  EXPECT_FALSE(chunks.Supply({-1, 0}, "x").ok());
  Outbox out;
  const auto receive = [&](absl::string_view body) {
    return chunks.Receive({scene.now, out}, scene.ids[1], body);
  };
  EXPECT_FALSE(receive("").ok());
  EXPECT_FALSE(receive("\x01\x01\x7f\x7f").ok());
  EXPECT_FALSE(receive("\x02\x7f\x7f").ok());
  EXPECT_FALSE(receive("\x09\x01\x02").ok());
  Encoder beyond;
  beyond.PutU8(1);
  beyond.PutVarint(1);
  beyond.PutSigned(64);
  EXPECT_FALSE(receive(beyond.view()).ok());
}

// From an agent that is asked, too.
TEST(InputChunks, RefusesOtherBytes) {
  Scene scene(2);
  InputChunks& reader = *scene.chunks[1];
  EXPECT_FALSE(reader.Pin(scene.TaskAt(0), *scene.kernel));
  const int64_t bytes = scene.job.inputs[0].grid.BytesOf(0);
  std::string chunk(static_cast<size_t>(bytes), 0);
  scene.job.inputs[0].CopyChunk(0, chunk.data());
  const auto receive = [&] {
    Encoder body;
    body.PutU8(2);
    body.PutSigned(0);
    body.PutRaw(chunk);
    Outbox out;
    return reader.Receive({scene.now, out}, scene.ids[0], body.view());
  };
  chunk[7] ^= 1;
  EXPECT_FALSE(receive().ok());
  EXPECT_EQ(reader.held_count(), 0);
  chunk[7] ^= 1;
  EXPECT_TRUE(receive().ok());
  EXPECT_EQ(reader.held_count(), 1);
}

}  // namespace
}  // namespace dogged
