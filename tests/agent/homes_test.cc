// Aim: who takes a job chooses its homes once, for those who are there. Method:
// records as membership keeps them.
#include "runtime/agent/homes.h"

#include <map>

#include "gmock/gmock.h"
#include "runtime/graph/affinity.h"
#include "tests/sim/programs.h"

namespace dogged {
namespace {

std::vector<PlacementMember> Members(uint64_t first, int count) {
  std::vector<PlacementMember> out;
  for (int i = 0; i < count; ++i) {
    const AgentId agent(Mix64(first, static_cast<uint64_t>(i)));
    out.push_back({.agent = agent, .host = agent.ToString()});
  }
  return out;
}

JobRecord RecordOf(const Job& job, JobState state = JobState::kRunning) {
  return {.hash = JobHash(job.Encode()),
          .submission = SubmissionId(1),
          .name = "a job",
          .state = state};
}

void Put(const JobRecord& record, RecordSet& records) {
  records.Put(record.Key(), {record.version(), record.Encode()});
}

// The most tasks that one of `members` is home to, and all of them.
std::pair<int64_t, int64_t> MostOf(const Job& job, const RecordSet& records,
                                   std::vector<PlacementMember> members) {
  const Placement placement(std::move(members), 1,
                            SaltsOf(records.records(), RecordOf(job).hash));
  std::map<AgentId, int64_t> tasks;
  std::pair<int64_t, int64_t> out;
  for (const KeyTasks& key : TasksByKey(job.program, 1000)) {
    int64_t& sum = tasks[placement.Home(key.key)];
    sum += key.tasks;
    out.first = std::max(out.first, sum);
    out.second += key.tasks;
  }
  return out;
}

TEST(Homes, AreEvenForThoseWhoAreThere) {
  const Job job = CholeskyJob(10);
  for (uint64_t first = 1; first <= 20; ++first) {
    const auto members = Members(first, 4);
    RecordSet records;
    const auto homes =
        ProposeHomes(records.records(), RecordOf(job), job, members);
    ASSERT_TRUE(homes.has_value());
    records.Put(HomesKey(RecordOf(job).hash), *homes);
    const auto [most, all] = MostOf(job, records, members);
    EXPECT_LE(4 * most, all + 8) << "members " << first;
  }
}

TEST(Homes, AreChosenOncePerRun) {
  const Job job = CholeskyJob(10);
  RecordSet records;
  const auto propose = [&](uint64_t first) {
    return ProposeHomes(records.records(), RecordOf(job), job,
                        Members(first, 4));
  };
  EXPECT_FALSE(
      ProposeHomes(records.records(), RecordOf(job), job, Members(1, 1))
          .has_value())
      << "one has all";
  const auto first = propose(1);
  ASSERT_TRUE(first.has_value());
  records.Put(HomesKey(RecordOf(job).hash), *first);
  Put(RecordOf(job), records);
  EXPECT_FALSE(propose(2).has_value()) << "it runs";
  Put(RecordOf(job, JobState::kDone), records);
  const auto second = propose(2);
  ASSERT_TRUE(second.has_value()) << "it runs again, among others";
  EXPECT_TRUE(records.Put(HomesKey(RecordOf(job).hash), *second));
  const auto [most, all] = MostOf(job, records, Members(2, 4));
  EXPECT_LE(4 * most, all + 8);
}

TEST(Homes, ManyKeysNeedNone) {
  const Job job = Heat1dJob(10000, 2, 1);
  EXPECT_FALSE(ProposeHomes({}, RecordOf(job), job, Members(1, 4)).has_value());
}

TEST(Homes, TravelInFewBytes) {
  const KeySalts salts = {{7, 1}, {5, 255}};
  const Bytes bytes = EncodeHomes(salts);
  const auto decoded = DecodeHomes(bytes.view());
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, salts);
  EXPECT_FALSE(DecodeHomes(bytes.view().substr(1)).ok());
  EXPECT_FALSE(DecodeHomes("\xff\xff\xff\x7f").ok());
  RecordSet records;
  records.Put(HomesKey({.low = 1, .high = 2}), {0, Bytes("x")});
  EXPECT_EQ(SaltsOf(records.records(), {.low = 1, .high = 2}), nullptr);
  // Of the slabs of some agents most keep the place that they have.
  const Job job = Heat1dJob(256, 8, 8);
  const auto homes = ProposeHomes({}, RecordOf(job), job, Members(1, 4));
  EXPECT_LT(homes.has_value() ? homes->bytes.size() : 0, 300);
}

TEST(Homes, SortBeforeJobs) {
  EXPECT_LT(HomesKey({}), JobRecord::KeyPrefix({}));
  EXPECT_TRUE(IsHomesKey(HomesKey({})));
  EXPECT_FALSE(IsHomesKey(JobRecord::KeyPrefix({})));
}

}  // namespace
}  // namespace dogged
