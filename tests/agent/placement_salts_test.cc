// Aim: the agent that takes a job chooses its homes once, for the members
// present. Method: records as membership keeps them.
#include "runtime/agent/records/placement_salts.h"

#include <map>
#include <memory>
#include <set>

#include "gmock/gmock.h"
#include "runtime/agent/agent.h"
#include "runtime/graph/keys/affinity.h"
#include "runtime/graph/keys/traffic.h"
#include "runtime/job/job_run.h"
#include "runtime/sim/background.h"
#include "runtime/sim/event_queue.h"
#include "runtime/sim/executor.h"
#include "runtime/sim/network.h"
#include "tests/sim/programs.h"

namespace dogged {
namespace {

// Members of one host, or each of its own.
std::vector<PlacementMember> Members(uint64_t first, int count,
                                     bool are_apart = false) {
  std::vector<PlacementMember> out;
  for (int i = 0; i < count; ++i) {
    const AgentId agent(Mix64(first, static_cast<uint64_t>(i)));
    out.push_back(
        {.agent = agent, .host = are_apart ? agent.ToString() : "host"});
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
                            SaltsOf(records, RecordOf(job).hash));
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
    const auto homes = ProposeSalts(records, RecordOf(job), job, members);
    ASSERT_TRUE(homes.has_value());
    records.Put(HomesKey(RecordOf(job).hash), *homes);
    const auto [most, all] = MostOf(job, records, members);
    EXPECT_LE(4 * most, all + 8) << "members " << first;
  }
}

// Labels of `job` that go from one host to another, counted by the homes that
// `salts` give.
int64_t LabelsBetween(const Job& job,
                      const std::vector<PlacementMember>& members,
                      std::shared_ptr<const KeySalts> salts) {
  const Placement placement(members, 1, std::move(salts));
  const KeyTraffic traffic = TrafficOf(job.program, 5000, 1);
  int64_t out = 0;
  for (const KeyTraffic::Flow& flow : traffic.flows) {
    std::set<AgentId> to;
    for (const int32_t k : flow.to) {
      to.insert(placement.Home(traffic.keys[k].key));
    }
    to.erase(placement.Home(traffic.keys[flow.from].key));
    out += flow.labels * std::ssize(to);
  }
  return out;
}

// A 2-D block-cyclic layout sends each of n(n+1)/2 tiles of L to one row and
// one column of the grid: 6 hosts of 16. By hash it is all of them, but where
// few tiles are left.
TEST(Homes, BetweenHostsLieOnAGrid) {
  const Job job = CholeskyJob(32);
  for (uint64_t first = 1; first <= 5; ++first) {
    const auto members = Members(first, 16, /*are_apart=*/true);
    RecordSet records;
    const auto homes = ProposeSalts(records, RecordOf(job), job, members);
    ASSERT_TRUE(homes.has_value());
    records.Put(HomesKey(RecordOf(job).hash), *homes);
    const auto salts = SaltsOf(records, RecordOf(job).hash);
    EXPECT_LE(LabelsBetween(job, members, salts), 1.1 * 6 * 32 * 33 / 2);
    EXPECT_GE(LabelsBetween(job, members, nullptr), 10 * 32 * 33 / 2);
    const auto [most, all] = MostOf(job, records, members);
    EXPECT_LE(16 * most, 1.3 * static_cast<double>(all)) << "members " << first;
  }
}

TEST(Homes, AreChosenOncePerRun) {
  const Job job = CholeskyJob(10);
  RecordSet records;
  const auto propose = [&](uint64_t first) {
    return ProposeSalts(records, RecordOf(job), job, Members(first, 4));
  };
  EXPECT_FALSE(
      ProposeSalts(records, RecordOf(job), job, Members(1, 1)).has_value())
      << "one has all";
  const auto first = propose(1);
  ASSERT_TRUE(first.has_value());
  records.Put(HomesKey(RecordOf(job).hash), *first);
  Put(RecordOf(job), records);
  EXPECT_FALSE(propose(2).has_value()) << "it runs";
  Put(RecordOf(job, JobState::kDone), records);
  const auto second = propose(2);
  ASSERT_TRUE(second.has_value()) << "it runs again, among others";
  EXPECT_GT(second->version, first->version);
  EXPECT_TRUE(records.Put(HomesKey(RecordOf(job).hash), *second));
  const auto [most, all] = MostOf(job, records, Members(2, 4));
  EXPECT_LE(4 * most, all + 8);
}

TEST(Homes, OfAForgottenJobTakeAFewBytesForGood) {
  const Job job = CholeskyJob(10);
  const Digest hash = RecordOf(job).hash;
  RecordSet records;
  EXPECT_FALSE(ForgottenSalts(records, hash).has_value());
  const auto first = ProposeSalts(records, RecordOf(job), job, Members(1, 4));
  records.Put(HomesKey(hash), *first);
  Put(RecordOf(job), records);
  EXPECT_FALSE(ForgottenSalts(records, hash).has_value()) << "it runs";
  Put(RecordOf(job, JobState::kDone), records);
  const auto none = ForgottenSalts(records, hash);
  ASSERT_TRUE(none.has_value());
  EXPECT_GT(first->bytes.size(), 100);
  EXPECT_LE(none->bytes.size(), 8);
  EXPECT_TRUE(records.Put(HomesKey(hash), *none));
  EXPECT_TRUE(SaltsOf(records, hash)->empty());
  EXPECT_FALSE(ForgottenSalts(records, hash).has_value());
  const auto again = ProposeSalts(records, RecordOf(job), job, Members(2, 4));
  ASSERT_TRUE(again.has_value()) << "it runs again";
  EXPECT_TRUE(records.Put(HomesKey(hash), *again));
  // An agent that forgets at the same time does not win.
  EXPECT_FALSE(records.Put(HomesKey(hash), *none));
  EXPECT_FALSE(records.Put(HomesKey(hash),
                           {.version = again->version, .bytes = none->bytes}));
  const auto [most, all] = MostOf(job, records, Members(2, 4));
  EXPECT_LE(4 * most, all + 8);
}

// The agent under test and one that never speaks; a job of one key, whose home
// the other is by hash alone.
TEST(Homes, WhatComesLateIsAChangeOfView) {
  const Job job = Heat1dJob(8, 1, 8);
  const JobRecord record = RecordOf(job);
  const uint64_t key = TasksByKey(job.program, 10).front().key;
  const auto members = Members(1, 2);
  const Placement placement(members, 1);
  const AgentId other = placement.Home(key);
  const AgentId self = placement.members()[0].agent == other
                           ? placement.members()[1].agent
                           : placement.members()[0].agent;
  uint8_t salt = 1;
  while (placement.members()[placement.RanksWith(key, salt)[0]].agent != self) {
    ++salt;
  }

  EventQueue queue;
  SimNetwork network(queue, NetworkFaults{}, Rng(1));
  SimNetwork::Endpoint transport(network, self, [] {});
  SimExecutor executor(
      queue, 1, absl::Milliseconds(1), Rng(2), [] {}, nullptr);
  SimBackground background(queue, absl::Milliseconds(1), Rng(3), [] {});
  AgentOptions options;
  options.self = {.id = self,
                  .topology_id = *TopologyId::Parse("02"),
                  .host = "here",
                  .workers = 1};
  options.job_limits.handover_max = absl::Milliseconds(1);
  Agent agent(std::move(options), transport, executor, background,
              {LoadMixKernels, nullptr});
  Membership silent({.id = other,
                     .topology_id = *TopologyId::Parse("01"),
                     .host = "there",
                     .workers = 1},
                    {}, Rng(4));
  const auto pass = [&](absl::Duration time) {
    for (const absl::Time end = queue.now() + time; queue.now() < end;) {
      queue.After(absl::Milliseconds(1), [] {});
      queue.RunNext();
      agent.RunOnce(queue.now());
    }
  };
  const auto join = [&] {
    const auto answer = silent.Admit(queue.now(), agent.Snapshot());
    ASSERT_TRUE(answer.ok()) << answer.status();
    const auto joined = agent.Join(queue.now(), *answer, "");
    EXPECT_TRUE(joined.ok()) << joined.status();
  };
  join();
  pass(absl::Milliseconds(2));
  const auto submitted =
      agent.Submit(queue.now(), job.Encode(), record.submission, {});
  ASSERT_TRUE(submitted.ok()) << submitted.status();
  pass(absl::Milliseconds(3100));  // the silent one is not waited for longer
  ASSERT_NE(agent.FindRun(*submitted), nullptr);
  EXPECT_EQ(agent.FindRun(*submitted)->stats().tasks_executed, 0);

  Outbox out;
  silent.PutRecord({queue.now(), out}, HomesKey(record.hash), 0,
                   EncodeSalts({{key, salt}}));
  join();
  pass(absl::Milliseconds(50));
  EXPECT_EQ(agent.FindRun(*submitted)->stats().tasks_executed, 16);
  EXPECT_EQ(agent.membership().view()->size(), 2) << "nobody died of it";

  const int64_t refused = agent.refused_count();
  silent.PutRecord({queue.now(), out}, HomesKey(record.hash), 1, Bytes("x"));
  join();
  pass(absl::Milliseconds(2));
  EXPECT_EQ(agent.refused_count(), refused + 1);
}

TEST(Homes, ManyKeysNeedNone) {
  const Job job = Heat1dJob(10000, 2, 1);
  EXPECT_FALSE(ProposeSalts({}, RecordOf(job), job, Members(1, 4)).has_value());
}

TEST(Homes, TravelInFewBytes) {
  const KeySalts salts = {{7, 1}, {5, 255}};
  const Bytes bytes = EncodeSalts(salts);
  const auto decoded = DecodeSalts(bytes.view());
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, salts);
  EXPECT_FALSE(DecodeSalts(bytes.view().substr(1)).ok());
  EXPECT_FALSE(DecodeSalts("\xff\xff\xff\x7f").ok());
  RecordSet records;
  records.Put(HomesKey({.low = 1, .high = 2}), {0, Bytes("x")});
  EXPECT_EQ(SaltsOf(records, {.low = 1, .high = 2}), nullptr);
  // If a few members' slabs are to move, most keep their place.
  const Job job = Heat1dJob(256, 8, 8);
  const auto homes = ProposeSalts({}, RecordOf(job), job, Members(1, 4));
  EXPECT_LT(homes.has_value() ? homes->bytes.size() : 0, 300);
}

TEST(Homes, SortBeforeJobs) {
  EXPECT_LT(HomesKey({}), JobRecord::KeyPrefix({}));
  EXPECT_TRUE(IsHomesKey(HomesKey({})));
  EXPECT_FALSE(IsHomesKey(JobRecord::KeyPrefix({})));
}

}  // namespace
}  // namespace dogged
