#include "apps/dogged/report/point_cost.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "apps/output/run_text.h"
#include "dsl/ir/point_bodies.h"

namespace dogged {
namespace {

// Measured on two cores of Zen 4: a product of matrices, whose points read one
// label, and a Cholesky, whose points read three.
constexpr absl::Duration kTask = absl::Nanoseconds(140);
constexpr absl::Duration kFurtherUse = absl::Nanoseconds(250);
// Time of two agents of one worker, all in all.
constexpr absl::Duration kTaskOfAgents = absl::Nanoseconds(4500);
constexpr absl::Duration kFurtherUseOfAgents = absl::Nanoseconds(2200);

bool IsOfNumbers(const KernelSpec& spec) {
  if (spec.kind != "code") return spec.kind == "input" || spec.kind == "reduce";
  const auto body = dsl::CodeBody::Decode(spec.body);
  return body.ok() && !body->has_elements;
}

}  // namespace

std::optional<PointCost> PointCostOf(const Program& program, int workers) {
  PointCost out;
  for (const TaskClass& c : program.classes) {
    if (!IsOfNumbers(program.kernels[static_cast<size_t>(c.kernel)])) {
      return std::nullopt;
    }
    const auto tasks = static_cast<double>(c.domain.Count());
    const auto further =
        static_cast<double>(std::max<int64_t>(std::ssize(c.uses) - 1, 0));
    out.in_one_process +=
        tasks * (kTask + further * kFurtherUse) / std::max(workers, 1);
    out.on_agents += tasks * (kTaskOfAgents + further * kFurtherUseOfAgents);
  }
  return out;
}

std::string PointCostText(const PointCost& cost) {
  return absl::StrCat("about ", HumanElapsed(cost.in_one_process),
                      " in one process, about ", HumanElapsed(cost.on_agents),
                      " on agents");
}

}  // namespace dogged
