// Aim: labels with thousands of consumers, all of which a home reports at once,
// are dropped, but not too early. Method: one agent's part in a job, and
// messages by hand.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "runtime/job/job_run.h"
#include "tests/agent/one_agent.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

// A home reports all its consumers at once; the report counts only if it means
// the same consumers as here.
TEST(HighFanoutLabels, DropsAWideLabelOnceTheHomeOfItsConsumersSaysSo) {
  constexpr int64_t kWidth = 1000;
  OneAgent agent(Fan(kWidth));
  std::vector<ReadyTask> tasks = agent.tasks().TakeAll();
  ASSERT_THAT(tasks, SizeIs(1));
  agent.Complete(std::move(tasks[0]), {Sealed(Value::Scalar(1))});
  ConsumerSet all;
  for (int64_t i = 0; i < kWidth; ++i) {
    all.Add({.group = 1, .index = {i}});
  }
  ConsumerSet others = all;
  ++others.hash_sum;
  const auto report = [&](AgentId from, const ConsumerSet& done) {
    agent.Receive(from, LabelMessage::kDone,
                  EncodeDone({.label = Label{.array = 0}, .all = done}));
    agent.Pass(absl::Seconds(1));
  };
  report(kPeer, others);
  report(kThird, all);
  report(kPeer, {});
  EXPECT_EQ(agent.run().held_count(), 1);
  report(kPeer, all);
  EXPECT_EQ(agent.run().held_count(), 0);
}

// At the home of the consumers: nothing is said until all are done, then one
// word; and again when the label's home has not heard it.
TEST(HighFanoutLabels, ReportsAWideLabelOnceAllItsConsumersHereAreDone) {
  constexpr int64_t kWidth = 1000;
  const Label root{.array = 0};
  Program program = AllAt(kSelf, WideRelease(kWidth));
  program.arrays[0].affinity_group = OneAgent::GroupAt(kPeer);
  OneAgent agent(std::move(program));
  const Value value = Sealed(Value::Scalar(1));
  agent.Receive(kPeer, LabelMessage::kPublish, EncodePublish(root, value));
  std::vector<ReadyTask> tasks;
  const auto run_some = [&](int64_t count) {
    while (count-- > 0) {
      agent.Pass(absl::ZeroDuration());
      for (ReadyTask& task : agent.tasks().TakeAll()) {
        tasks.push_back(std::move(task));
      }
      ASSERT_FALSE(tasks.empty());
      agent.Complete(std::move(tasks.back()), {value});
      tasks.pop_back();
    }
  };
  run_some(kWidth / 2);
  const auto announce = [&] {
    agent.Receive(kPeer, LabelMessage::kAnnounce,
                  EncodeAnnounce({root, value.digest()}));
  };
  announce();
  EXPECT_THAT(agent.Sent(kPeer, LabelMessage::kDone), IsEmpty());
  run_some(kWidth - kWidth / 2);
  ConsumerSet all;
  for (int64_t i = 0; i < kWidth; ++i) {
    all.Add({.group = 1, .index = {i}});
  }
  const std::string said(EncodeDone({.label = root, .all = all}).view());
  EXPECT_THAT(agent.Sent(kPeer, LabelMessage::kDone), ElementsAre(said));
  announce();
  EXPECT_THAT(agent.Sent(kPeer, LabelMessage::kDone), ElementsAre(said));
}

// To count again at each word of a thousand such labels takes longer than it is
// until the next word.
TEST(HighFanoutLabels, CountsAFewAgainBetweenTwoSweeps) {
  const Program program = Fan(1000);
  const Relations relations(program);
  const ProgramLabels labels(relations);
  HighFanoutLabels high_fanout(labels);
  const auto label = [](int64_t i) { return Label{.array = 0, .index = {i}}; };
  const auto doubted = [&] {
    int count = 0;
    for (int64_t i = 0; i < 1000; ++i) {
      if (high_fanout.CountAnewInTurn(label(i))) ++count;
      high_fanout.Put(label(i), {.left = 1, .have_value = true});
    }
    return count;
  };
  EXPECT_EQ(doubted(), 1000) << "never counted";
  EXPECT_LT(doubted(), 100);
  high_fanout.Sweep();
  EXPECT_GT(doubted(), 0);
  // The label's home has not heard of tasks done here.
  high_fanout.Put(label(0),
                  {.left = 0, .is_reported = true, .have_value = true});
  EXPECT_TRUE(high_fanout.CountAnewInTurn(label(0)));
}

}  // namespace
}  // namespace dogged
