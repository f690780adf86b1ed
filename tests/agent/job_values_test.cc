// Aim: a job's value comes whole, in bounded parts, whatever is lost, doubled
// or late, even if agents fall silent, and no agent asks for more than a
// window. Method: a pull against holders that the test plays, in its own time,
// with losses from a seed.
#include "runtime/agent/job_values.h"

#include <deque>
#include <set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "runtime/base/codec.h"

namespace dogged {
namespace {

const JobId kJob(7);
const AgentId kA(1);
const AgentId kB(2);

Limits SmallLimits() {
  Limits limits;
  limits.job_part_bytes = 10;
  limits.job_parts_at_once = 3;
  return limits;
}

Bytes Value(int size) {
  std::string out;
  for (int i = 0; i < size; ++i) out.push_back(static_cast<char>(i * 7 + 3));
  return Bytes(out);
}

class Scene {
 public:
  std::vector<Outbox::OutgoingMessage> Tick() {
    Outbox out;
    pull.Tick({now, out}, kJob, limits, others, rng);
    EXPECT_LE(std::ssize(out.messages), limits.job_parts_at_once);
    wake = out.wake;
    return out.messages;
  }
  // Answer of `holder`, which has `value`.
  void Answer(const Outbox::OutgoingMessage& wish, const Bytes& value) {
    const auto part = PartOf(value, wish.body.Join().view());
    ASSERT_TRUE(part.ok()) << part.status();
    EXPECT_LE(part->size(), limits.job_part_bytes + 20);
    ASSERT_TRUE(pull.TakePart(now, wish.to, part->view()).ok());
  }

  Limits limits = SmallLimits();
  std::vector<AgentId> others = {kA, kB};
  Rng rng{3};
  absl::Time now = absl::UnixEpoch();
  absl::Time wake;
  ValuePull pull;
};

TEST(ValuePull, ComesInParts) {
  Scene scene;
  const Bytes value = Value(95);
  int asked = 0;
  for (int i = 0; i < 100 && !scene.pull.IsWhole(); ++i) {
    for (const Outbox::OutgoingMessage& wish : scene.Tick()) {
      ++asked;
      scene.Answer(wish, value);
    }
  }
  EXPECT_EQ(asked, 10);
  EXPECT_EQ(scene.pull.Take(), value.view());
}

TEST(ValuePull, GoesOnWithAnotherOneWhereTheFirstFellSilent) {
  Scene scene;
  const Bytes value = Value(100);
  scene.Answer(scene.Tick().at(0), value);
  const std::vector<Outbox::OutgoingMessage> second = scene.Tick();
  ASSERT_EQ(second.size(), 3);
  scene.Answer(second[0], value);
  scene.Answer(second[2], value);  // an answer is lost, then no more come
  const AgentId silent = second[0].to;
  int asked = 0;
  while (!scene.pull.IsWhole()) {
    for (const Outbox::OutgoingMessage& wish : scene.Tick()) {
      if (wish.to == silent) continue;
      ++asked;
      scene.Answer(wish, value);
    }
    scene.now += absl::Milliseconds(50);
    ASSERT_LT(scene.now, absl::UnixEpoch() + absl::Seconds(5));
  }
  EXPECT_EQ(asked, 7);  // parts that are here are not asked for again
  EXPECT_EQ(scene.pull.Take(), value.view());
}

TEST(ValuePull, ComesThroughLosses) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    Scene scene;
    Rng rng(seed);
    const Bytes value = Value(static_cast<int>(1 + rng.Below(400)));
    std::deque<Outbox::OutgoingMessage> late;
    while (!scene.pull.IsWhole()) {
      for (const Outbox::OutgoingMessage& wish : scene.Tick()) {
        if (rng.Chance(0.2)) continue;
        if (rng.Chance(0.2)) {
          late.push_back(wish);
        } else {
          scene.Answer(wish, value);
          if (rng.Chance(0.1)) scene.Answer(wish, value);
        }
      }
      if (!late.empty() && rng.Chance(0.5)) {
        scene.Answer(late.front(), value);
        late.pop_front();
      }
      scene.now += absl::Milliseconds(20);
      ASSERT_LT(scene.now, absl::UnixEpoch() + absl::Minutes(5))
          << "seed " << seed;
    }
    EXPECT_EQ(scene.pull.Take(), value.view()) << "seed " << seed;
  }
}

// Unasked parts would fill memory.
TEST(ValuePull, KeepsNothingThatNobodyAskedFor) {
  Scene scene;
  const Bytes value = Value(95);
  std::vector<Outbox::OutgoingMessage> messages = scene.Tick();
  ASSERT_EQ(messages.size(), 1);
  for (const int64_t offset : {50, 90}) {
    Encoder part;
    part.PutSigned(value.size());
    part.PutSigned(offset);
    part.PutRaw(value.Slice(offset, 5).view());
    const AgentId other = messages[0].to == kA ? kB : kA;
    EXPECT_TRUE(scene.pull.TakePart(scene.now, other, part.view()).ok());
  }
  int asked = 0;
  for (int i = 0; i < 100 && !scene.pull.IsWhole(); ++i) {
    for (const Outbox::OutgoingMessage& wish : messages) {
      ++asked;
      scene.Answer(wish, value);
    }
    messages = scene.Tick();
  }
  EXPECT_EQ(asked, 10);
  ASSERT_TRUE(scene.pull.IsWhole());
  EXPECT_EQ(scene.pull.Take(), value.view());
}

TEST(ValuePull, AsksThoseFirstWhoMayHaveIt) {
  Scene scene;
  const AgentId first = scene.Tick().at(0).to;
  scene.pull.NoteAbsent(scene.now, first);
  scene.now += absl::Milliseconds(25);
  EXPECT_NE(scene.Tick().at(0).to, first);
}

TEST(ValuePull, KnowsWhenNobodyHasIt) {
  Scene scene;
  const absl::Time start = scene.now;
  for (int i = 0; i < 100; ++i) {
    for (const Outbox::OutgoingMessage& wish : scene.Tick()) {
      scene.pull.NoteAbsent(scene.now, wish.to);
    }
    scene.now += absl::Milliseconds(100);
  }
  EXPECT_TRUE(scene.pull.HasNobodySince(start, scene.others));
  EXPECT_FALSE(
      scene.pull.HasNobodySince(start - absl::Seconds(1), scene.others));
  // A newcomer may.
  EXPECT_FALSE(scene.pull.HasNobodySince(start, {{kA, kB, AgentId(3)}}));
}

TEST(ValuePull, RefusesWhatIsNoPart) {
  const auto take = [](int64_t total, int64_t offset, absl::string_view bytes) {
    Scene scene;
    (void)scene.Tick();
    Encoder out;
    out.PutSigned(total);
    out.PutSigned(offset);
    out.PutRaw(bytes);
    return scene.pull.TakePart(scene.now, kA, out.view());
  };
  EXPECT_TRUE(take(3, 0, "abc").ok());
  EXPECT_FALSE(take(2, 0, "abc").ok());
  EXPECT_FALSE(take(3, 1, "abc").ok());
  EXPECT_FALSE(take(3, -1, "abc").ok());
  EXPECT_FALSE(take(-3, 0, "abc").ok());
  EXPECT_FALSE(take(3, INT64_MAX, "abc").ok());
  EXPECT_FALSE(take(int64_t{1} << 60, 0, "abc").ok());
  EXPECT_FALSE(take(3, 0, "").ok());
  const Bytes value = Value(10);
  EXPECT_FALSE(PartOf(value, "").ok());
  EXPECT_FALSE(PartOf(value, std::string(3, '\x16')).ok());
}

}  // namespace
}  // namespace dogged
