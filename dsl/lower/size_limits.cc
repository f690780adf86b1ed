#include "dsl/lower/size_limits.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dogged::dsl {
namespace {

// Points of a box, which may be more than an integer holds.
double PointsOf(const Box& box, const std::vector<int64_t>& step = {}) {
  double out = 1;
  for (int d = 0; d < box.size(); ++d) {
    if (box.upper[d] < box.lower[d]) return 0;
    const auto apart = static_cast<double>(step.empty() ? 1 : step[d]);
    out *= (static_cast<double>(box.upper[d]) -
            static_cast<double>(box.lower[d])) /
               apart +
           1;
  }
  return out;
}

}  // namespace

void CheckSize(const PointProgram& points, Diagnostics& diagnostics) {
  double tasks = 0;
  for (const PointClass& c : points.classes)
    tasks += PointsOf(HullOf(c.domain));
  if (tasks > kPointsMax) {
    diagnostics
        .Error(Code::kTooLarge, {},
               absl::StrFormat("the program has %.2g points, which take %.2g "
                               "years at 10^10 a second",
                               tasks, tasks / 1e10 / 3.15e7))
        .Help(absl::StrCat("smaller parameters:  ",
                           ParameterWords(diagnostics.given_by(), "N", "...")));
  }
  double bytes = 0;
  for (const PointResult& result : points.results) {
    const PointArray& array = points.arrays[result.array];
    bytes += PointsOf(LastBox(result), result.step) *
             static_cast<double>(ElementBytes(array.element));
  }
  if (bytes > kResultBytesMax) {
    diagnostics
        .Error(Code::kTooLarge, {},
               absl::StrFormat("the results take %.2g bytes", bytes))
        .Help(absl::StrCat("want less, or smaller parameters:  ",
                           ParameterWords(diagnostics.given_by(), "N", "...")));
  }
}

}  // namespace dogged::dsl
