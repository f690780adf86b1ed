// Aim: the traffic of a program is what its tasks require of others' keys, no
// more and no less. Method: programs small enough to go through by hand or by
// the relations.
#include "runtime/graph/keys/traffic.h"

#include <map>
#include <set>

#include "gmock/gmock.h"
#include "runtime/graph/keys/affinity.h"
#include "runtime/graph/relations.h"
#include "tests/sim/programs.h"

namespace dogged {
namespace {

using Keys = std::set<uint64_t>;

// By key and its readers: how many labels; from the relations alone.
std::map<std::pair<uint64_t, Keys>, int64_t> FlowsOf(const Program& program) {
  const Relations relations(program);
  const auto key_of = [&](const Label& label) {
    return AffinityKey(program.arrays[label.array], label.index);
  };
  std::map<std::pair<uint64_t, Keys>, int64_t> out;
  for (size_t c = 0; c < program.classes.size(); ++c) {
    program.classes[c].domain.ForEach([&](const IndexVector& index) {
      const Task task{static_cast<int32_t>(c), index};
      relations.ForEachCreated(task, [&](int, const Label& label) {
        Keys readers;
        relations.ForEachConsumer(label, [&](const Task& reader, int) {
          readers.insert(key_of(relations.FirstCreated(reader)));
          return true;
        });
        readers.insert(key_of(relations.FirstCreated(task)));
        readers.erase(key_of(label));
        if (!readers.empty()) ++out[{key_of(label), readers}];
      });
      return true;
    });
  }
  return out;
}

std::map<std::pair<uint64_t, Keys>, int64_t> FlowsOf(
    const KeyTraffic& traffic) {
  const auto key_of = [&](int32_t k) { return traffic.keys[k].key; };
  std::map<std::pair<uint64_t, Keys>, int64_t> out;
  for (const KeyTraffic::Flow& flow : traffic.flows) {
    Keys readers;
    for (const int32_t k : flow.to) readers.insert(key_of(k));
    out[{key_of(flow.from), readers}] += flow.labels;
  }
  return out;
}

int64_t TasksOf(const KeyTraffic& traffic) {
  int64_t out = 0;
  for (const auto& stage : traffic.stages) {
    for (const KeyTraffic::Load& load : stage) out += load.tasks;
  }
  return out;
}

TEST(Traffic, IsWhatTasksRequire) {
  for (const Job& job : {CholeskyJob(7), Heat1dJob(300, 40, 10)}) {
    const KeyTraffic traffic = TrafficOf(job.program, 1000, 8);
    EXPECT_EQ(FlowsOf(traffic), FlowsOf(job.program)) << job.program.name;
    int64_t tasks = 0;
    for (const TaskClass& c : job.program.classes) tasks += c.domain.Count();
    EXPECT_EQ(TasksOf(traffic), tasks);
  }
}

TEST(Traffic, KeysHaveTheBlocksOfTheirLabels) {
  const KeyTraffic traffic = TrafficOf(CholeskyJob(5).program, 1000, 8);
  std::set<std::vector<int64_t>> blocks;
  for (const KeyTraffic::Key& key : traffic.keys) blocks.insert(key.block);
  EXPECT_EQ(blocks.size(), 15);
  EXPECT_TRUE(blocks.contains({4, 2}));
}

// Tasks of one depth can run together, and no task is in a stage before one
// that it waits for.
TEST(Traffic, StagesFollowOneAnother) {
  const KeyTraffic traffic = TrafficOf(Heat1dJob(300, 40, 10).program, 1000, 4);
  ASSERT_EQ(traffic.stages.size(), 4);
  for (const auto& stage : traffic.stages) {
    EXPECT_EQ(stage.size(), traffic.keys.size())
        << "all slabs advance together";
  }
}

TEST(Traffic, LongProgramsCountByTheirFirstVersions) {
  const Job job = Heat1dJob(300, 40000, 10);
  const KeyTraffic traffic =
      TrafficOf(job.program, 1000, 4, /*tasks_max=*/5000);
  EXPECT_LE(TasksOf(traffic), 5000);
  EXPECT_GE(TasksOf(traffic), 4000);
  EXPECT_EQ(traffic.keys.size(),
            TrafficOf(Heat1dJob(300, 40, 10).program, 1000, 4).keys.size());
}

TEST(Traffic, NothingWhereItWouldTakeTooLong) {
  const Job job = CholeskyJob(20);
  EXPECT_TRUE(TrafficOf(job.program, 1000, 4, /*tasks_max=*/100).keys.empty());
  EXPECT_TRUE(TrafficOf(job.program, /*keys_max=*/50, 4).keys.empty());
}

}  // namespace
}  // namespace dogged
