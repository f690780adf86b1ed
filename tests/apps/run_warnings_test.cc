// Aim: a run that goes point by point says why once. Method: programs by hand,
// with and without a diagnostic that has the reason.
#include "apps/dogged/run/run_warnings.h"

#include <string>

#include "dsl/ir/point_bodies.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dogged {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

LoadedProgram Points(bool is_warned) {
  LoadedProgram out;
  const int64_t count = 1'000'000;
  out.job.program.kernels.push_back({"step", "code", dsl::CodeBody{}.Encode()});
  out.job.program.classes.push_back(
      {.name = "step", .domain = Domain::Box({{"i", 1, count}})});
  out.job.lowering = "point by point: task step is odd";
  out.facts.is_warned_of_points = is_warned;
  return out;
}

std::string WarningOf(const LoadedProgram& program, int agents) {
  testing::internal::CaptureStderr();
  WarnOfPointTasks(program, program.job.program.TaskCount(), agents,
                   /*workers=*/1);
  return testing::internal::GetCapturedStderr();
}

TEST(RunWarnings, TheReasonForPointsIsSaidOnce) {
  EXPECT_EQ(WarningOf(Points(false), 1), "");
  EXPECT_THAT(WarningOf(Points(false), 2),
              HasSubstr("each point is a task of its own (task step is odd): "
                        "agents take"));
  const std::string words = WarningOf(Points(true), 2);
  EXPECT_THAT(words, HasSubstr("each point is a task of its own: agents take"));
  EXPECT_THAT(words, Not(HasSubstr("odd")));
}

}  // namespace
}  // namespace dogged
