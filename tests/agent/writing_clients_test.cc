// Aim: results stay, and a job does not end, while a client has them written by
// an agent; the agent ends the job once the client has gone. Method: an agent
// alone with a job in simulated time, which keeps nothing of jobs that are done
// for want of room.
#include "gtest/gtest.h"
#include "runtime/agent/agent.h"
#include "runtime/job/job_run.h"
#include "runtime/sim/background.h"
#include "runtime/sim/executor.h"
#include "runtime/sim/network.h"
#include "tests/sim/programs.h"

namespace dogged {
namespace {

constexpr int64_t kKeepMs = 3600 * 1000;

class WritingClientsTest : public testing::Test {
 protected:
  static AgentOptions Options() {
    AgentOptions out;
    out.self = {.id = AgentId(1),
                .topology_id = *TopologyId::Parse("01"),
                .host = "here",
                .workers = 1};
    out.kept_bytes_max = 0;
    return out;
  }
  void Submit(SubmissionId submission = SubmissionId(7)) {
    const auto job = agent_.Submit(queue_.now(), job_.Encode(), submission,
                                   {.keep_ms = kKeepMs});
    ASSERT_TRUE(job.ok()) << job.status();
  }
  void Cancel(SubmissionId submission) {
    for (const JobSummary& summary :
         agent_.Jobs({.job = id_, .submission = submission})) {
      JobRecord record = summary.record;
      record.state = JobState::kCancelled;
      agent_.Conclude(queue_.now(), record);
    }
  }
  void Pass(absl::Duration time) {
    for (const absl::Time end = queue_.now() + time; queue_.now() < end;) {
      queue_.After(absl::Milliseconds(4), [] {});
      while (!queue_.RunNext()) {
      }
      agent_.RunOnce(queue_.now());
    }
  }
  JobState State() { return agent_.Jobs({.job = id_}).front().record.state; }
  int64_t Held() {
    const JobRun* const run = agent_.FindRun(id_);
    return run == nullptr ? 0 : run->held_count();
  }

  const Job job_ = Heat1dJob(16, 8, 8);
  const JobId id_{JobHash(job_.Encode()).high};
  const int64_t results_ = job_.program.ResultCount();
  EventQueue queue_;
  SimNetwork network_{queue_, NetworkFaults{}, Rng(1)};
  SimNetwork::Endpoint transport_{network_, AgentId(1), [] {}};
  SimExecutor executor_{queue_, 1,     absl::Milliseconds(5),
                        Rng(2), [] {}, nullptr};
  SimBackground background_{queue_, absl::Milliseconds(1), Rng(3), [] {}};
  Agent agent_{Options(),
               transport_,
               executor_,
               background_,
               {LoadMixKernels, [](const Program&, const auto&) {
                  return Digest{5, 6};
                }}};
};

TEST_F(WritingClientsTest, TheJobEndsOnceTheyHaveGone) {
  Submit();
  auto first = agent_.HoldForWriting(id_);
  auto second = agent_.HoldForWriting(id_);
  ASSERT_NE(second, nullptr);
  Pass(absl::Seconds(20));
  EXPECT_EQ(State(), JobState::kRunning);
  EXPECT_GE(Held(), results_);
  first.reset();
  Pass(absl::Seconds(20));
  EXPECT_EQ(State(), JobState::kRunning) << "one of two is there";
  second.reset();
  Pass(absl::Seconds(20));
  EXPECT_EQ(State(), JobState::kDone);
  EXPECT_EQ(Held(), 0) << "there is room for none";
}

TEST_F(WritingClientsTest, ResultsOfAJobThatIsDoneStayForThem) {
  Submit();
  while (agent_.FindRun(id_) == nullptr || State() != JobState::kDone) {
    Pass(absl::Milliseconds(4));
  }
  auto hold = agent_.HoldForWriting(id_);
  ASSERT_NE(hold, nullptr);
  Pass(absl::Seconds(20));
  EXPECT_GE(Held(), results_);
  hold.reset();
  Pass(absl::Seconds(4));
  EXPECT_EQ(Held(), 0);
}

// Their job was forgotten, and has begun anew for another client.
TEST_F(WritingClientsTest, OfAForgottenJobTakeNothingFromTheNext) {
  Submit();
  auto former = agent_.HoldForWriting(id_);
  ASSERT_NE(former, nullptr);
  Cancel(SubmissionId(7));
  Pass(absl::Seconds(5));
  ASSERT_EQ(agent_.HoldForWriting(id_), nullptr) << "it is not forgotten";
  Submit(SubmissionId(8));
  auto next = agent_.HoldForWriting(id_);
  ASSERT_NE(next, nullptr);
  former.reset();
  Pass(absl::Seconds(20));
  EXPECT_EQ(State(), JobState::kRunning);
  EXPECT_GE(Held(), results_);
  next.reset();
  Pass(absl::Seconds(20));
  EXPECT_EQ(State(), JobState::kDone);
}

TEST_F(WritingClientsTest, OfNoJobAreNone) {
  EXPECT_EQ(agent_.HoldForWriting(id_), nullptr);
  Submit();
  Pass(absl::Seconds(20));
  EXPECT_EQ(State(), JobState::kDone);
}

}  // namespace
}  // namespace dogged
