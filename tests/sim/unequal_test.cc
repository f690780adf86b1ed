// Aim: a kernel that gives other bits when its task runs again is found, so
// that no wrong result is taken for right as long as an agent knows the first
// digest. Method: kernels that count how often each task has run in the whole
// cluster, agents that crash, restart or are cut off, one copy and two. The
// simulation compares what tasks made, and looks at the end for labels of which
// the living know two digests.
#include <map>
#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "runtime/sim/cluster.h"
#include "tests/sim/programs.h"
#include "tests/sim/serial.h"

namespace dogged {
namespace {

using testing::MatchesRegex;

// As MixKernel the first time that a task runs; each later run gives other
// bits, if the task is one of every `every`.
class UnequalKernel : public MixKernel {
 public:
  UnequalKernel(std::map<Task, int>* runs, uint64_t every)
      : runs_(runs), every_(every) {}
  absl::Status Run(KernelCall& call) const override {
    const absl::Status status = MixKernel::Run(call);
    const int before = (*runs_)[call.task]++;
    if (before == 0 || call.task.Hash() % every_ != 0) return status;
    for (Value& output : call.outputs) {
      output = Value::Scalar(output.span<double>()[0] + before);
    }
    return status;
  }

 private:
  std::map<Task, int>* const runs_;
  const uint64_t every_;
};

struct Case {
  std::string name;
  int replicas;
  FaultPlan faults;
  uint64_t unequal_every;  // tasks
};

struct Counts {
  int rerun = 0;  // runs in which a label was made with several digests
  int found = 0;
  int right = 0;    // all the same: nothing of it reached a result
  int unknown = 0;  // wrong, and nobody who lives knows two digests
  // Wrong, and the two sides of a cut have just met, or an agent has found it
  // when the client was done.
  int on_its_way = 0;
  int accepted = 0;  // wrong, and some agent knows two
};

Counts RunCase(const Case& unequal, const Job& job, int64_t seeds) {
  const auto expected = SerialResults(job);
  Counts counts;
  const auto [first, last] = SeedRange(seeds);
  for (int64_t seed = first; seed <= last; ++seed) {
    std::map<Task, int> runs;
    SimOptions options{.agents = 4,
                       .seed = static_cast<uint64_t>(seed),
                       .job = {.replicas = unequal.replicas},
                       .faults = unequal.faults,
                       .compares_made = true};
    const SimOutcome outcome =
        Cluster(options, job.Encode(),
                [&](const Job&) -> absl::StatusOr<KernelTable> {
                  KernelTable table;
                  table.push_back(std::make_unique<UnequalKernel>(
                      &runs, unequal.unequal_every));
                  return table;
                })
            .Run();
    const std::string replay = absl::StrCat(
        unequal.name, ", replay: DOGGED_TEST_SEEDS=", seed, ":", seed);
    if (outcome.unequal_labels == 0) {
      EXPECT_TRUE(outcome.status.ok()) << outcome.status << "\n" << replay;
      EXPECT_TRUE(outcome.results == expected) << replay;
      continue;
    }
    ++counts.rerun;
    if (!outcome.status.ok()) {
      ++counts.found;
      EXPECT_EQ(outcome.status.code(), absl::StatusCode::kDataLoss)
          << outcome.status << "\n"
          << replay;
      EXPECT_THAT(std::string(outcome.status.message()),
                  MatchesRegex("label .*\\(.*\\) of task .*\\(.*\\) has two "
                               "values: .* at agent .* and .* from agent .*"))
          << replay;
    } else if (outcome.results == expected) {
      ++counts.right;
    } else if (outcome.unequal_known == 0) {
      ++counts.unknown;
    } else if (outcome.is_failing || outcome.undisturbed < absl::Seconds(1)) {
      ++counts.on_its_way;
    } else {
      ++counts.accepted;
      std::printf("wrong and taken for right; %s\n", replay.c_str());
    }
  }
  return counts;
}

TEST(Unequal, NoWrongResultIsAcceptedWhileADigestIsKnown) {
  const Job job = Heat1dJob(41, 10, 4);
  Counts all;
  for (const int replicas : {1, 2}) {
    for (const uint64_t every : {uint64_t{1}, uint64_t{8}}) {
      const std::string how = absl::StrCat(" R=", replicas, " every=", every);
      for (const Case& unequal :
           {Case{"crash" + how, replicas, {.crash = 2}, every},
            Case{"restart" + how, replicas, {.restart = 2}, every},
            Case{"partition" + how, replicas, {.partition = 1}, every},
            Case{"split" + how, replicas, {.split = 1}, every}}) {
        const Counts counts = RunCase(unequal, job, 40);
        std::printf(
            "%s: %d runs made labels again: %d found, %d right, %d "
            "unknown, %d on their way, %d accepted\n",
            unequal.name.c_str(), counts.rerun, counts.found, counts.right,
            counts.unknown, counts.on_its_way, counts.accepted);
        EXPECT_TRUE(unequal.faults.crash + unequal.faults.restart == 0 ||
                    counts.accepted == 0)
            << unequal.name;
        all.rerun += counts.rerun;
        all.found += counts.found;
        all.unknown += counts.unknown;
        all.on_its_way += counts.on_its_way;
        all.accepted += counts.accepted;
      }
    }
  }
  std::printf(
      "all: %d runs, %d found, %d unknown, %d on their way, %d "
      "accepted\n",
      all.rerun, all.found, all.unknown, all.on_its_way, all.accepted);
  EXPECT_GE(all.rerun, 200);
  // Without the log a tenth of them.
  EXPECT_GE(all.found, all.rerun * 2 / 3);
  // Both sides of a cut have made labels, and what one tells the other is lost.
  EXPECT_LE(all.accepted + all.on_its_way, all.rerun / 50);
}

}  // namespace
}  // namespace dogged
