// Aim: a defect of one agent is no verdict on a job. An agent that has too
// little memory, a disk that takes nothing, a compiler that fails or kernels
// that can't be made leaves its share to the other agents, whenever it comes,
// and costs them little; the job fails only if no agent is left, in the words
// of all. Method: whole clusters in one thread, many seeds, against a run
// without agents.
#include <algorithm>

#include "gmock/gmock.h"
#include "tests/sim/faults.h"
#include "tests/sim/run_seeds.h"

namespace dogged {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr Sickness kAll[] = {Sickness::kShortMemory, Sickness::kFullDisk,
                             Sickness::kNoKernels, Sickness::kSlowKernels,
                             Sickness::kNoValues};
// Sicknesses with which an agent runs nothing to the end, or next to nothing.
constexpr Sickness kOut[] = {Sickness::kShortMemory, Sickness::kNoKernels,
                             Sickness::kNoValues};

SimOptions OptionsFor(Sickness sickness) {
  SimOptions options;
  options.directories = sickness == Sickness::kFullDisk;
  return options;
}

TEST(SickAgents, OneThatJoinsCostsTheOthersLittle) {
  for (const Sickness sickness : kAll) {
    for (const Job& job : {Heat1dJob(101, 40, 8), CholeskyJob(12)}) {
      SimOptions options = OptionsFor(sickness);
      options.agents = 2;
      options.gathers_first = true;
      const Work without = RunSeeds(job, options, 20);
      options.faults.sick = 1;
      options.sick_joiner = sickness;
      options.fault_span = without.elapsed * 0.2;  // at 10 % on average
      const Work with = RunSeeds(job, options, 20);
      EXPECT_LT(with.elapsed, 1.3 * without.elapsed)
          << static_cast<int>(sickness) << " " << job.program.name;
    }
  }
}

// A hanging compiler costs only the time until that is noticed, however long
// the job takes.
TEST(SickAgents, ACompilerThatHangsIsNotWaitedForLong) {
  for (const Job& job : {Heat1dJob(101, 40, 8), CholeskyJob(12)}) {
    SimOptions options{.agents = 3, .gathers_first = true};
    const Work without = RunSeeds(job, options, 10);
    options.sick_agents = {Sickness::kNone, Sickness::kHangingCompiler};
    const Work with = RunSeeds(job, options, 10);
    EXPECT_LT(with.elapsed, 2 * without.elapsed + absl::Seconds(20));
  }
}

TEST(SickAgents, SomeFromTheBeginning) {
  for (const Sickness sickness : kAll) {
    SimOptions options = OptionsFor(sickness);
    options.agents = 5;
    options.sick_agents = {Sickness::kNone, sickness, sickness};
    RunSeeds(Heat1dJob(101, 20, 8), options, 20);
    RunSeeds(CholeskyJob(8), options, 20);
    options.job.search_only = true;
    RunSeeds(CholeskyJob(6), options, 10);
  }
}

// The client's first contact may be one of them.
TEST(SickAgents, TheFirstOne) {
  for (const Sickness sickness : kAll) {
    SimOptions options = OptionsFor(sickness);
    options.agents = 3;
    options.sick_agents = {sickness};
    RunSeeds(Heat1dJob(101, 20, 8), options, 20);
    options.client_stays = false;
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      options.seed = seed;
      const SimOutcome outcome =
          Cluster(options, CholeskyJob(6).Encode(), LoadMixKernels).Run();
      EXPECT_TRUE(outcome.status.ok()) << outcome.status << " seed " << seed;
    }
  }
}

TEST(SickAgents, AmongManyFaults) {
  FaultPlan plan = ManyFaults();
  plan.sick = 3;
  RunSeeds(Heat1dJob(101, 20, 8), {.faults = plan}, 60);
  RunSeeds(CholeskyJob(8), {.faults = plan}, 60);
  plan.blackout = 1;
  RunSeeds(CholeskyJob(8), {.faults = plan, .directories = true}, 40);
}

// With nobody else left an agent does what it can, slowly.
TEST(SickAgents, SlowOnesAreBetterThanNobody) {
  SimOptions options{.agents = 3};
  options.sick_agents.assign(3, Sickness::kSlowKernels);
  options.time_max = absl::Minutes(20);
  RunSeeds(CholeskyJob(5), options, 10);
  options.sick_agents[0] = Sickness::kNone;
  options.faults.crash = 2;
  RunSeeds(CholeskyJob(5), options, 20);
}

TEST(SickAgents, NobodyIsLeft) {
  for (const Sickness sickness : kOut) {
    SimOptions options{.agents = 3};
    options.sick_agents.assign(3, sickness);
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      options.seed = seed;
      const SimOutcome outcome =
          Cluster(options, CholeskyJob(8).Encode(), LoadMixKernels).Run();
      ASSERT_FALSE(outcome.status.ok()) << "seed " << seed;
      ASSERT_FALSE(absl::IsDeadlineExceeded(outcome.status))
          << outcome.status << " seed " << seed;
      EXPECT_THAT(
          std::string(outcome.status.message()),
          AllOf(HasSubstr("no agent is left that can run it: agent "),
                HasSubstr(sickness == Sickness::kNoKernels ? "no kernels"
                          : sickness == Sickness::kNoValues
                              ? "no memory for a value"
                              : "more than --memory 8")));
    }
  }
}

}  // namespace
}  // namespace dogged
