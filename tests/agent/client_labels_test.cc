// Aim: labels that no array of the job's program has are refused to clients:
// whatever they say, the agent stands. Method: an agent alone with a job, asked
// for labels of all sorts.
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/agent/agent.h"
#include "runtime/sim/background.h"
#include "runtime/sim/executor.h"
#include "runtime/sim/network.h"
#include "tests/sim/programs.h"

namespace dogged {
namespace {

TEST(ClientLabels, OfNoArrayAreRefused) {
  const Job job = Heat1dJob(16, 8, 8);
  EventQueue queue;
  SimNetwork network(queue, NetworkFaults{}, Rng(1));
  SimNetwork::Endpoint transport(network, AgentId(1), [] {});
  SimExecutor executor(
      queue, 1, absl::Milliseconds(5), Rng(2), [] {}, nullptr);
  SimBackground background(queue, absl::Milliseconds(1), Rng(3), [] {});
  Agent agent({.self = {.id = AgentId(1),
                        .topology_id = *TopologyId::Parse("01"),
                        .host = "here",
                        .workers = 1}},
              transport, executor, background, {LoadMixKernels, {}});
  const absl::StatusOr<JobId> id =
      agent.Submit(queue.now(), job.Encode(), SubmissionId(7), {});
  ASSERT_TRUE(id.ok()) << id.status();
  for (int i = 0; i < 50; ++i) {
    queue.After(absl::Milliseconds(4), [] {});
    while (!queue.RunNext()) {
    }
    agent.RunOnce(queue.now());
  }
  const auto count = static_cast<int32_t>(job.program.arrays.size());
  std::vector<Label> bad;
  for (const int32_t array :
       {-1, count, count + 99, std::numeric_limits<int32_t>::min(),
        std::numeric_limits<int32_t>::max()}) {
    bad.push_back({.array = array, .index = {0, 0}});
    bad.push_back({.array = array, .index = {}});
  }
  for (int32_t array = 0; array < count; ++array) {
    const int rank = job.program.arrays[array].rank;
    IndexVector index;
    for (int d = 0; d < kMaxIndices; ++d) {
      if (d != rank) bad.push_back({.array = array, .index = index});
      index.push_back(0);
    }
  }
  for (const Label& label : bad) {
    SCOPED_TRACE(testing::Message() << label.array << label.index.ToString());
    EXPECT_EQ(agent.Want(queue.now(), *id, {label}).code(),
              absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(agent.Watch(queue.now(), *id, {label}).code(),
              absl::StatusCode::kInvalidArgument);
  }
  Label good{.array = 0, .index = {}};
  for (int d = 0; d < job.program.arrays[0].rank; ++d) good.index.push_back(0);
  EXPECT_TRUE(agent.Want(queue.now(), *id, {good}).ok());
}

}  // namespace
}  // namespace dogged
