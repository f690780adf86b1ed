// Aim: an agent leaves out digests that only other agents would need, and
// nothing else. Method: one agent's part in a job; the test looks at what its
// executor gets.
#include <utility>

#include "gtest/gtest.h"
#include "tests/agent/one_agent.h"

namespace dogged {
namespace {

TEST(InternalTasks, PutsOffDigestsOfWhatNobodyElseWillAskFor) {
  const auto first_task = [](Program program, int replicas) {
    OneAgent agent(std::move(program), {.replicas = replicas});
    return std::move(agent.tasks().TakeAll().at(0));
  };
  EXPECT_TRUE(first_task(AllAt(kSelf, WideRelease(3)), 1).lazy_digests);
  EXPECT_FALSE(first_task(AllAt(kSelf, WideRelease(3)), 2).lazy_digests);
  EXPECT_FALSE(first_task(Fan(3), 1).lazy_digests);

  // The outputs of its readers are results.
  OneAgent agent(AllAt(kSelf, WideRelease(3)));
  agent.Complete(std::move(agent.tasks().TakeAll().at(0)),
                 {Sealed(Value::Scalar(1))}, absl::OkStatus(),
                 absl::Milliseconds(1));
  agent.Pass(absl::ZeroDuration());
  for (const ReadyTask& reader : agent.tasks().TakeAll()) {
    EXPECT_FALSE(reader.lazy_digests);
  }
}

}  // namespace
}  // namespace dogged
