// Tools that tests of loops share: a relaxation that stops on its change, and
// running a loop in this process and on simulated agents.
#ifndef DOGGED_TESTS_DSL_REPEAT_TOOLS_H_
#define DOGGED_TESTS_DSL_REPEAT_TOOLS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gtest/gtest.h"
#include "runtime/exec/local_run.h"
#include "runtime/graph/rounds.h"
#include "runtime/sim/cluster.h"
#include "tests/dsl/compile_tools.h"
#include "tests/sim/faults.h"
#include "tests/sim/serial.h"

namespace dogged::dsl {

inline constexpr char kRelax[] = R"(
param N = 12
param bound : double = 0.01
repeat T = 4:60:4 until change(T) < bound

boundary u(0)(t) = 1
boundary u(N-1)(t) = 0
boundary u(x)(0) = 0 where x > 0 and x < N-1

task relax
  creates u(x)(t) as n
  for  x = 1:N-2  t = 1:T
  using
    u(x-1)(t-1) as west
    u(x+1)(t-1) as east
  code
    n = 0.5*(west + east)
  end code
end task

task move
  creates d(x)(t) as m
  for  x = 1:N-2  t = 4:T:4
  using
    u(x)(t)   as now
    u(x)(t-1) as before
  code
    m = now - before
  end code
end task

reduce change(t) = normmax(d(x)(t)) for t = 4:T:4 over x = 1:N-2

result u(:)(T)
result change(t) for t = 4:T:4
)";

inline CompileOptions WithParameters(
    std::vector<std::pair<std::string, std::string>> parameters) {
  CompileOptions options = Options();
  options.parameters = std::move(parameters);
  return options;
}

inline absl::StatusOr<KernelTable> Load(const Job& job) {
  return LoadKernels(job, KernelRegistry(), nullptr);
}

struct Ended {
  int64_t time = 0;
  int64_t tasks = 0;
  std::string digest;
};

inline Ended RunHere(const Job& job, int workers) {
  const Relations relations(job.program);
  const KernelTable kernels = *Load(job);
  absl::flat_hash_map<Label, Value> results;
  LocalRunOptions options;
  options.placement = PlaceWorkers(FlatCpuLayout(workers), workers);
  options.on_result = [&results](const Label& label, const Value& value) {
    EXPECT_TRUE(results.emplace(label, value).second);
    return absl::OkStatus();
  };
  LocalRun run(relations, kernels, options);
  const absl::Status status = run.Run();
  EXPECT_TRUE(status.ok()) << status;
  Ended out{.time = run.Progress().time,
            .tasks = run.Progress().tasks_executed,
            .digest = ""};
  const Program program = ProgramAt(job.program, out.time);
  int64_t wanted = 1;  // the last condition; some perhaps by several results
  const Relations ended(program);
  ended.ForEachResult([&](const Label& label) {
    EXPECT_TRUE(results.contains(label)) << program.LabelText(label);
    return ++wanted > 0;
  });
  EXPECT_LE(std::ssize(results), wanted);
  const auto digest =
      ResultDigest(program, [&](const Label& l) -> absl::StatusOr<Value> {
        return results.contains(l) ? results.at(l) : Value();
      });
  if (digest.ok()) out.digest = digest->ToString();
  return out;
}

inline void Simulate(const Job& job, SimOptions options, int64_t seeds) {
  const auto expected = SerialResults(job, Load);
  ASSERT_FALSE(expected.empty());
  const std::string encoded = job.Encode();
  const auto [first, last] = SeedRange(seeds);
  for (int64_t seed = first; seed <= last; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    const SimOutcome outcome = Cluster(options, encoded, Load).Run();
    EXPECT_TRUE(outcome.status.ok())
        << "seed " << seed << ": " << outcome.status
        << "\nreplay: DOGGED_TEST_SEEDS=" << seed << ":" << seed;
    if (outcome.status.ok() && options.client_stays) {
      EXPECT_EQ(outcome.results, expected) << "seed " << seed;
    }
  }
}

}  // namespace dogged::dsl

#endif  // DOGGED_TESTS_DSL_REPEAT_TOOLS_H_
