// Aim: of a program whose results need some of its tasks alone, those are found
// exactly, and it runs forward like others. analysis_test.cc compares random
// programs with a count; here is what only one of two ways finds.
#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

constexpr char kFactor[] = R"(param N = 8
task start
  creates A(i)(j)(0) as n
  for i = 0:N-1  j = 0:i
  code n = i + j end code
end task
task factor
  creates L(k)(k) as n
  for k = 0:N-1
  using A(k)(k)(k) as a
  code n = a end code
end task
task panel
  creates L(i)(k) as n
  for k = 0:N-1  i = k+1:N-1
  using L(k)(k) as l  A(i)(k)(k) as a
  code n = l + a end code
end task
task update
  creates A(i)(j)(k+1) as n
  for i = 1:N-1  j = 1:i  k = 0:j-1
  using A(i)(j)(k) as c  L(i)(k) as a  L(j)(k) as b
  code n = c - a*b end code
end task
result L(3)(3)
)";

// No closure is found here, but an end to what nobody reads.
TEST(Needed, ATileOfAFactorNeedsWhatIsLeftOfItAlone) {
  CompileOptions options = Options();
  options.coalesce = false;
  const Job job = MustCompile(kFactor, options);
  EXPECT_TRUE(job.program.every_task_needed);
  std::vector<int64_t> counts;
  for (const TaskClass& tasks : job.program.classes) {
    counts.push_back(tasks.domain.Count());
  }
  EXPECT_EQ(counts, (std::vector<int64_t>{10, 4, 6, 10}));
  const std::string digest = MustDigest(job, nullptr);
  Job all = job;
  all.program.every_task_needed = false;
  EXPECT_EQ(MustDigest(all, nullptr), digest);
}

}  // namespace
}  // namespace dogged::dsl
