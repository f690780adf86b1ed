// Aim: the newest record of each submission counts, however many there are and
// in whatever order they come; and little stays of jobs that are over.
#include "runtime/agent/records/job_index.h"

#include <algorithm>
#include <memory_resource>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "routing/membership/membership.h"
#include "routing/membership/record_set.h"
#include "runtime/agent/agent.h"
#include "runtime/agent/records/placement_salts.h"
#include "runtime/base/random.h"
#include "runtime/sim/background.h"
#include "runtime/sim/event_queue.h"
#include "runtime/sim/executor.h"
#include "runtime/sim/network.h"

namespace dogged {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

JobRecord RecordOf(uint64_t job, uint64_t submission, JobState state) {
  return {.hash = {.low = 5, .high = job},
          .submission = SubmissionId(submission),
          .name = "heat1d",
          .state = state};
}

// Memory as std::pmr takes it, while this is alive.
class CountedMemory : public std::pmr::memory_resource {
 public:
  CountedMemory() : before_(std::pmr::set_default_resource(this)) {}
  ~CountedMemory() override { std::pmr::set_default_resource(before_); }

  int64_t bytes() const { return bytes_; }

 private:
  void* do_allocate(size_t bytes, size_t alignment) override {
    bytes_ += static_cast<int64_t>(bytes);
    return before_->allocate(bytes, alignment);
  }
  void do_deallocate(void* at, size_t bytes, size_t alignment) override {
    bytes_ -= static_cast<int64_t>(bytes);
    before_->deallocate(at, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override {
    return this == &other;
  }

  std::pmr::memory_resource* before_;
  int64_t bytes_ = 0;
};

TEST(JobIndex, RecordsOfJobsThatAreOverAreSmall) {
  constexpr int kJobs = 2000;
  CountedMemory memory;
  RecordSet records;
  JobIndex index;
  Rng random(1);
  for (int i = 0; i < kJobs; ++i) {
    JobRecord record = RecordOf(random.Next(), random.Next(), JobState::kDone);
    record.end_number = i + 1;
    for (const bool is_delivered : {false, true}) {
      record.is_delivered = is_delivered;
      records.Put(record.Key(), {record.version(), record.Encode()});
      records.Put(HomesKey(record.hash),
                  is_delivered ? GossipRecord{2, Bytes(std::string("none"))}
                               : GossipRecord{1, Bytes(std::string(300, 'x'))});
      index.Note(record);
    }
    JobStats stats;
    stats.tasks_executed = 1000;
    stats.results_bound = 100;
    index.Keep(record.job(), stats, 1000, 100);
  }
  // The index; the record, of 70 bytes, its key of 54, and two places; the same
  // for homes, 3 bytes and 38, whose longer record before has left nothing.
  EXPECT_LE(memory.bytes() / kJobs, 610);
}

TEST(JobIndex, ResultsAreKeptAsLongAsASubmissionAsksThatIsNotForgotten) {
  const JobId job(3);
  JobIndex index;
  EXPECT_EQ(index.KeepOf(job), 0);
  JobRecord longer = RecordOf(3, 1, JobState::kRunning);
  longer.options.keep_ms = 500;
  index.Note(longer);
  EXPECT_EQ(index.KeepOf(job), 0);  // counted from its end
  longer.state = JobState::kDone;
  JobRecord shorter = RecordOf(3, 2, JobState::kDone);
  shorter.options.keep_ms = 20;
  JobRecord of_run = RecordOf(3, 4, JobState::kDone);
  of_run.is_delivered = true;
  JobRecord failed = RecordOf(3, 5, JobState::kFailed);
  failed.options.keep_ms = 7000;
  for (const JobRecord& record : {longer, shorter, of_run, failed}) {
    index.Note(record);
  }
  EXPECT_EQ(index.KeepOf(job), 500);
  EXPECT_EQ(index.Foremost(job), SubmissionId(1));
  longer.is_delivered = true;
  index.Note(longer);
  EXPECT_EQ(index.KeepOf(job), 20);
  EXPECT_EQ(index.Foremost(job), SubmissionId(2));
  shorter.is_delivered = true;
  index.Note(shorter);
  EXPECT_EQ(index.KeepOf(job), 0);
  EXPECT_TRUE(index.Find(job)->IsDelivered());
}

TEST(JobIndex, TheNewestOfEachSubmissionCounts) {
  const JobId job(3);
  std::vector<JobRecord> records = {
      RecordOf(3, 1, JobState::kRunning), RecordOf(3, 1, JobState::kDone),
      RecordOf(3, 2, JobState::kRunning), RecordOf(3, 4, JobState::kRunning),
      RecordOf(3, 4, JobState::kCancelled)};
  records[1].is_delivered = true;
  records[2].round = 6;
  Rng rng(1);
  for (int trial = 0; trial < 50; ++trial) {
    std::vector<JobRecord> order = records;
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[rng.Below(static_cast<int64_t>(i))]);
    }
    JobIndex index;
    EXPECT_FALSE(index.IsRunning(job));
    for (const JobRecord& record : order) index.Note(record);
    EXPECT_TRUE(index.IsRunning(job));
    EXPECT_THAT(index.RunningOf(job), ElementsAre(SubmissionId(2)));
    EXPECT_EQ(index.Find(job)->done, 1);
    EXPECT_EQ(index.Find(job)->delivered, 1);
    EXPECT_EQ(index.Find(job)->round().first, 6);
    EXPECT_TRUE(index.Find(job)->IsDelivered());
    // Done for another client, which has not got it: that of the first is no
    // reason to drop it.
    index.Note(RecordOf(3, 5, JobState::kDone));
    EXPECT_FALSE(index.Find(job)->IsDelivered());
    index.Note(RecordOf(3, 2, JobState::kFailed));
    EXPECT_FALSE(index.IsRunning(job));
    EXPECT_THAT(index.running(), IsEmpty());
    EXPECT_THAT(index.RunningOf(JobId(4)), IsEmpty());
  }
}

// An agent whose --memory has no room for the digest of results ends a job in
// words, the client that has them all in none. Whichever of these an agent
// hears of first, or alone from one that knows both: the results are delivered.
TEST(JobIndex, ADeliveredEndReplacesOneInWords) {
  JobRecord in_words = RecordOf(3, 1, JobState::kDone);
  in_words.message = "no digest: more than this agent's --memory";
  in_words.end_number = 2;
  JobRecord delivered = RecordOf(3, 1, JobState::kDone);
  delivered.is_delivered = true;
  delivered.end_number = 1;
  for (const bool words_first : {false, true}) {
    RecordSet records;
    for (const bool is_first : {true, false}) {
      const JobRecord& record = is_first == words_first ? in_words : delivered;
      records.Put(record.Key(), {record.version(), record.Encode()});
    }
    const KeptRecord* known = records.Find(delivered.Key());
    ASSERT_NE(known, nullptr);
    const auto passed_on = JobRecord::Decode(known->bytes());
    ASSERT_TRUE(passed_on.ok());
    EXPECT_TRUE(passed_on->is_delivered) << words_first;
  }
  JobRecord cancelled = RecordOf(3, 1, JobState::kCancelled);
  EXPECT_GT(cancelled.version(), delivered.version());
  JobRecord later = RecordOf(3, 1, JobState::kRunning);
  later.round = (int64_t{1} << 50) - 1;
  later.is_last_round = true;
  EXPECT_LT(later.version(), in_words.version());
}

TEST(JobIndex, SaysWhatWasKept) {
  JobIndex index;
  index.Note(RecordOf(3, 1, JobState::kDone));
  index.Keep(JobId(3), {.tasks_executed = 41, .flops = 2.5}, 50, 6);
  index.Keep(JobId(4), {.tasks_executed = 41}, 50, 6);  // unknown
  JobSummary summary{.record = RecordOf(3, 1, JobState::kDone)};
  index.FillIn(summary);
  EXPECT_EQ(summary.stats.tasks_executed, 41);
  EXPECT_EQ(summary.stats.flops, 2.5);
  EXPECT_EQ(summary.tasks_needed, 50);
  EXPECT_EQ(summary.results_needed, 6);
}

// Work is counted: 10^5 records that change one after the other, each time
// with a look at the digest of all.
TEST(JobIndex, MembershipHashesARecordOnceHoweverManyThereAre) {
  constexpr int kRecords = 100000;
  Membership one({.id = AgentId(1)}, {}, Rng(1));
  Membership other({.id = AgentId(1)}, {}, Rng(2));
  const auto put = [](Membership& at, int i, uint64_t version) {
    Outbox out;
    at.PutRecord({absl::UnixEpoch(), out}, absl::StrCat("job/", i), version,
                 Bytes(absl::StrCat("state ", version)));
    EXPECT_NE(at.StateDigest(), 0u);
    (void)at.TakeEvents();
  };
  for (int i = 0; i < kRecords; ++i) {
    put(one, i, 1);
    put(one, i, 2);
    put(one, i, 1);  // old
  }
  EXPECT_EQ(one.hashed_count(), 2 * kRecords);
  // The digest is that of the set, whatever way led there.
  for (int i = kRecords; i-- > 0;) put(other, i, 2);
  EXPECT_EQ(one.StateDigest(), other.StateDigest());
  put(other, 7, 3);
  EXPECT_NE(one.StateDigest(), other.StateDigest());
}

// An agent alone, with 10^5 jobs that come and end, of many programs or of one.
// The jobs that it looks at again and again are bounded; all are still listed.
TEST(JobIndex, AnAgentForgetsWhatIsOver) {
  constexpr uint64_t kJobs = 100000;
  for (const bool is_one_program : {false, true}) {
    EventQueue queue;
    SimNetwork network(queue, NetworkFaults{}, Rng(1));
    AgentOptions options;
    options.self.id = AgentId(7);
    SimNetwork::Endpoint transport(network, AgentId(7), [] {});
    SimExecutor executor(
        queue, 1, absl::Milliseconds(1), Rng(2), [] {}, nullptr);
    SimBackground background(queue, absl::Milliseconds(1), Rng(3), [] {});
    Agent agent(std::move(options), transport, executor, background, {});
    absl::Time now = absl::UnixEpoch();
    size_t active_max = 0;
    for (uint64_t i = 1; i <= kJobs; ++i) {
      const uint64_t job = is_one_program ? 9 : i;
      agent.Conclude(now, RecordOf(job, i, JobState::kRunning));
      agent.Conclude(now, RecordOf(job, i, JobState::kDone));
      now += absl::Milliseconds(50);
      if (i % 10 == 0) agent.RunOnce(now);
      (void)agent.TakeEvents();
      active_max = std::max(active_max, agent.active_count());
    }
    now += absl::Seconds(5);
    agent.RunOnce(now);
    agent.RunOnce(now + absl::Seconds(5));
    EXPECT_LE(active_max, 100u);
    EXPECT_EQ(agent.active_count(), 0u);
    const uint64_t jobs = is_one_program ? 1 : kJobs;
    const auto all = agent.Jobs({.ended_max = INT64_MAX});
    ASSERT_EQ(all.size(), jobs);
    EXPECT_EQ(all[0].submissions * static_cast<int64_t>(jobs), kJobs);
    EXPECT_EQ(agent.job_index().job_count(), static_cast<int64_t>(jobs));
    // The last ones first.
    const auto last = agent.Jobs({.ended_max = 20});
    ASSERT_EQ(last.size(), std::min<uint64_t>(20, jobs));
    for (uint64_t i = 0; i < last.size() && !is_one_program; ++i) {
      EXPECT_EQ(last[i].record.job(), JobId(kJobs - i));
    }
    EXPECT_TRUE(agent.Jobs({}).empty());  // none runs
    agent.Conclude(now, RecordOf(5, kJobs + 1, JobState::kRunning));
    ASSERT_EQ(agent.Jobs({}).size(), 1u);
    const SubmissionId newest(kJobs + 1);
    EXPECT_EQ(agent.Jobs({})[0].record.submission, newest);
    const auto one = agent.Jobs({.job = JobId(5), .submission = newest});
    ASSERT_EQ(one.size(), 1u);
    EXPECT_EQ(one[0].record.submission, newest);
    EXPECT_EQ(agent.Jobs({.job = JobId(5)}).size(), 1u);
    EXPECT_TRUE(agent.Jobs({.job = JobId(kJobs + 7)}).empty());
    EXPECT_TRUE(
        agent.Jobs({.job = JobId(5), .submission = SubmissionId(kJobs + 7)})
            .empty());
    EXPECT_LE(agent.membership().hashed_count(),
              static_cast<int64_t>(2 * kJobs + 1));
  }
}

}  // namespace
}  // namespace dogged
