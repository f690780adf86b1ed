// Aim: a job outlives the processes that run it: from a directory it goes on
// without a client, unless it has ended; what its end leaves is erased; and
// bytes that make no sense cost the directory's jobs, never the agent. Method:
// one agent after another on a simulated disk, which the test changes between
// them.
#include "runtime/agent/records/job_journal.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "runtime/agent/agent.h"
#include "runtime/job/job_run.h"
#include "runtime/sim/background.h"
#include "runtime/sim/disk.h"
#include "runtime/sim/executor.h"
#include "runtime/sim/network.h"
#include "tests/sim/programs.h"

namespace dogged {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr SubmissionId kSubmission{7};
constexpr auto kHour = absl::Hours(1);

// One process after another, each alone, on one disk.
class JobJournalTest : public testing::Test {
 protected:
  struct Life {
    Life(JobJournalTest& test, bool looks_for_others)
        : engine(test.queue_, test.disk_, DiskFaults{}, Rng(++test.lives_),
                 [] {}),
          transport(test.network_, AgentId(100 + test.lives_), [] {}),
          executor(
              test.queue_, 1, absl::Milliseconds(5), Rng(2), [] {}, nullptr),
          background(test.queue_, absl::Milliseconds(1), Rng(3), [] {}),
          agent(OptionsOf(test, engine, looks_for_others), transport, executor,
                background, {LoadMixKernels, [](const Program&, const auto&) {
                               return Digest{5, 6};
                             }}) {}

    static AgentOptions OptionsOf(JobJournalTest& test, Engine& engine,
                                  bool looks_for_others) {
      AgentOptions out;
      out.self = {.id = AgentId(100 + test.lives_),
                  .topology_id = *TopologyId::Parse("01"),
                  .host = "here",
                  .workers = 1};
      out.engine = &engine;
      out.keeps_values = true;
      out.membership.looks_for_others = looks_for_others;
      out.wall_time = [&test] { return test.queue_.now() + test.clock_jump_; };
      return out;
    }

    SimEngine engine;
    SimNetwork::Endpoint transport;
    SimExecutor executor;
    SimBackground background;
    Agent agent;
  };

  void Live(bool looks_for_others = false) {
    life_.reset();
    life_ = std::make_unique<Life>(*this, looks_for_others);
  }
  // All that was not synced is lost, or not.
  void Die() { life_.reset(); }
  Agent& agent() { return life_->agent; }

  void Pass(absl::Duration time, absl::Duration step = absl::Milliseconds(4)) {
    for (const absl::Time end = queue_.now() + time; queue_.now() < end;) {
      queue_.After(step, [] {});
      while (!queue_.RunNext()) {
      }
      agent().RunOnce(queue_.now());
    }
  }
  void Submit(const JobOptions& options = {}) {
    const auto job =
        agent().Submit(queue_.now(), job_.Encode(), kSubmission, options);
    ASSERT_TRUE(job.ok()) << job.status();
    ASSERT_EQ(*job, id_);
  }
  JobSummary Summary() {
    const std::vector<JobSummary> jobs = agent().Jobs({.job = id_});
    return jobs.empty() ? JobSummary() : jobs.front();
  }
  void Conclude(JobState state, bool is_delivered) {
    JobRecord record = Summary().record;
    record.state = state;
    record.is_delivered = is_delivered;
    agent().Conclude(queue_.now(), record);
  }
  int64_t Executed() {
    const JobRun* const run = agent().FindRun(id_);
    return run == nullptr ? 0 : run->stats().tasks_executed;
  }
  // Keys on the disk that begin so.
  std::vector<std::string> Keys(absl::string_view prefix) const {
    std::vector<std::string> out;
    for (const auto& [key, value] : disk_.content) {
      if (absl::StartsWith(key, prefix)) out.push_back(key);
    }
    return out;
  }
  // Nothing but the record of its end.
  void ExpectErased() {
    EXPECT_THAT(Keys("v"), IsEmpty());
    EXPECT_THAT(Keys("j"), IsEmpty());
    EXPECT_THAT(Keys("rvalue/"), IsEmpty());
    EXPECT_THAT(Keys("rjob/"), SizeIs(1));
  }

  const Job job_ = Heat1dJob(16, 8, 8);
  const JobId id_{JobHash(job_.Encode()).high};
  const int64_t needed_ = job_.program.TaskCount();
  EventQueue queue_;
  SimNetwork network_{queue_, NetworkFaults{}, Rng(1)};
  SimDisk disk_;
  absl::Duration clock_jump_;
  uint64_t lives_ = 0;
  std::unique_ptr<Life> life_;
};

TEST_F(JobJournalTest, AJobIsDoneOnceItWouldNotBeginAgain) {
  // The disk of each life loses other writes that it had not flushed.
  for (int life = 0; life < 6; ++life) {
    Die();
    disk_ = {};
    Live();
    Submit({.keep_ms = absl::ToInt64Milliseconds(kHour)});
    while (Summary().record.state != JobState::kDone) {
      ASSERT_LT(Executed(), 2 * needed_);
      Pass(absl::Milliseconds(4));
    }
    Live();
    Pass(absl::Seconds(2));
    EXPECT_EQ(Summary().record.state, JobState::kDone) << lives_;
    EXPECT_EQ(Executed(), 0) << lives_;
  }
}

TEST_F(JobJournalTest, AJobGoesOnWithoutAClient) {
  Live();
  Submit();
  EXPECT_FALSE(agent().IsTold(id_)) << "it is on no disk yet";
  Pass(absl::Milliseconds(60));
  EXPECT_TRUE(agent().IsTold(id_));
  Pass(absl::Milliseconds(500));
  const int64_t before = Executed();
  EXPECT_GT(before, needed_ / 4);
  Live();
  Pass(absl::Seconds(8));
  EXPECT_EQ(Summary().record.state, JobState::kDone);
  EXPECT_EQ(Summary().record.result_digest, (Digest{5, 6}));
  EXPECT_LT(Executed(), needed_) << "the directory had values";
  EXPECT_GT(Executed(), 0);
}

TEST_F(JobJournalTest, ResultsAreKeptForTheirTimeAndNotMadeAgain) {
  Live();
  Submit({.keep_ms = absl::ToInt64Milliseconds(kHour)});
  Pass(absl::Seconds(6));
  ASSERT_EQ(Summary().record.state, JobState::kDone);
  ASSERT_EQ(Executed(), needed_);
  Pass(absl::Minutes(20), absl::Seconds(1));
  Live();
  Pass(absl::Seconds(6));
  EXPECT_EQ(Summary().record.state, JobState::kDone);
  EXPECT_EQ(Summary().kept_labels, job_.program.ResultCount());
  EXPECT_NEAR(absl::ToDoubleMinutes(absl::Milliseconds(Summary().keep_left_ms)),
              40, 1);
  EXPECT_EQ(Executed(), 0);
  Pass(absl::Minutes(41), absl::Seconds(1));
  EXPECT_EQ(Summary().kept_labels, 0);
  Die();
  ExpectErased();
}

// The wall clock may jump while nobody is there: results stay for longer at
// most.
TEST_F(JobJournalTest, AClockThatWasSetBackEndsNoResults) {
  Live();
  Submit({.keep_ms = absl::ToInt64Milliseconds(kHour)});
  Pass(absl::Seconds(6));
  clock_jump_ = -absl::Hours(100);
  Live();
  Pass(absl::Seconds(6));
  EXPECT_EQ(Summary().kept_labels, job_.program.ResultCount());
  EXPECT_LE(Summary().keep_left_ms, absl::ToInt64Milliseconds(kHour));
}

TEST_F(JobJournalTest, WhatHasEndedDoesNotBeginAgain) {
  for (const JobState state :
       {JobState::kDone, JobState::kCancelled, JobState::kFailed}) {
    SCOPED_TRACE(JobStateName(state));
    disk_ = {};
    Live();
    Submit({.keep_ms = absl::ToInt64Milliseconds(kHour)});
    Pass(absl::Milliseconds(300));
    Conclude(state, /*is_delivered=*/state == JobState::kDone);  // forgotten
    Pass(absl::Seconds(4));
    Live();
    Pass(absl::Seconds(10));
    EXPECT_EQ(Summary().record.state, state);
    EXPECT_EQ(agent().FindRun(id_), nullptr);
    Die();
    ExpectErased();
  }
}

// A disk returns after an hour with old state of a job that others have ended.
TEST_F(JobJournalTest, OldStateOfAnEndedJobIsErased) {
  Live();
  Submit();
  Pass(absl::Milliseconds(300));
  const JobRecord running = Summary().record;
  Die();
  ASSERT_THAT(Keys("v"), testing::Not(IsEmpty()));
  JobRecord ended = running;
  ended.state = JobState::kDone;
  ended.is_delivered = true;
  ended.end_number = 1;
  Membership other({.id = AgentId(1),
                    .topology_id = *TopologyId::Parse("02"),
                    .host = "there",
                    .workers = 1},
                   {}, Rng(4));
  Outbox out;
  other.PutRecord({queue_.now(), out}, ended.Key(), ended.version(),
                  ended.Encode());
  Live(/*looks_for_others=*/true);
  Pass(absl::Milliseconds(500));
  EXPECT_EQ(agent().FindRun(id_), nullptr) << "others may know better";
  const auto answer = other.Admit(queue_.now(), agent().Snapshot());
  ASSERT_TRUE(answer.ok()) << answer.status();
  ASSERT_TRUE(agent().Join(queue_.now(), *answer, "").ok());
  agent().NoteSettled();
  Pass(absl::Seconds(3));
  EXPECT_EQ(agent().FindRun(id_), nullptr);
  Die();
  ExpectErased();
  // Nor does it begin where the other is not there.
  Live();
  Pass(absl::Seconds(3));
  EXPECT_EQ(agent().FindRun(id_), nullptr);
  EXPECT_EQ(Summary().record.state, JobState::kDone);
}

TEST_F(JobJournalTest, BytesThatMakeNoSenseCostTheJobAlone) {
  Live();
  Submit();
  Pass(absl::Milliseconds(100));
  Die();
  const SimDisk whole = disk_;
  const auto job = Keys("rjob/").front();
  const auto value = Keys("rvalue/").front();
  const std::vector<std::function<void()>> damages = {
      [&] { disk_.content[job][3] ^= 1; },
      [&] { disk_.content[job].resize(20); }, [&] { disk_.content[job] = ""; },
      [&] { disk_.content[value].back() ^= 1; },
      [&] { disk_.content[value] = "half"; }, [&] { disk_.Erase(value); },
      // Another version of dogged wrote it.
      [&] {
        SimEngine engine(queue_, disk_, DiskFaults{}, Rng(9), [] {});
        RecordStore store(engine);
        store.Put(absl::string_view(job).substr(1), Bytes("\x63 of tomorrow"));
        while (queue_.RunNext()) {
        }
      }};
  for (size_t i = 0; i < damages.size(); ++i) {
    SCOPED_TRACE(absl::StrCat("damage ", i));
    Die();
    disk_ = whole;
    damages[i]();
    Live();
    Pass(absl::Seconds(1));
    EXPECT_EQ(agent().FindRun(id_), nullptr);
    // The agent serves, and a client may give the job again.
    Submit();
    Pass(absl::Seconds(8));
    EXPECT_EQ(Summary().record.state, JobState::kDone);
    Live();
    Pass(absl::Seconds(1));
    EXPECT_EQ(Summary().record.state, JobState::kDone);
  }
}

// A directory that many jobs went through does not grow without end.
TEST_F(JobJournalTest, OnlyTheLastEndsStay) {
  Live();
  Submit();
  Pass(absl::Milliseconds(300));
  const JobRecord first = Summary().record;
  AgentOptions none;
  none.self.id = AgentId(3);
  JobRecord record = first;
  // Submissions of one job are as good as jobs.
  for (uint64_t i = 0; i < JobJournal::kEndedMax + 10; ++i) {
    record.submission = SubmissionId(1000 + i);
    record.state = JobState::kRunning;
    agent().Conclude(queue_.now(), record);
    record.state = JobState::kCancelled;
    agent().Conclude(queue_.now(), record);
  }
  Pass(absl::Seconds(3));
  Die();
  EXPECT_LE(Keys("rjob/").size(), JobJournal::kEndedMax + 1);
  EXPECT_GE(Keys("rjob/").size(), JobJournal::kEndedMax);
}

}  // namespace
}  // namespace dogged
