#include "apps/dogged/report/point_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "apps/output/run_text.h"
#include "dsl/ir/point_bodies.h"
#include "dsl/lower/footprint.h"

namespace dogged {
namespace {

// Measured on two cores of Zen 4: products of matrices, whose points read one
// label, that of the task before; and factorisations, shortest paths, stencils
// and recursive filters, whose points look up further ones.
constexpr absl::Duration kTask = absl::Nanoseconds(140);
constexpr absl::Duration kFurtherUse = absl::Nanoseconds(280);
// Time of two agents of one worker, all in all.
constexpr absl::Duration kTaskOfAgents = absl::Nanoseconds(4500);
constexpr absl::Duration kFurtherUseOfAgents = absl::Nanoseconds(2200);
constexpr absl::Duration kSharedReadOfAgents = absl::Nanoseconds(6000);

// Factorisations and shortest paths, in one thread: 2.5 to 4 us.
constexpr absl::Duration kSerialTask = absl::Nanoseconds(3300);

bool IsOfNumbers(const KernelSpec& spec) {
  if (spec.kind != "code") return spec.kind == "input" || spec.kind == "reduce";
  const auto body = dsl::CodeBody::Decode(spec.body);
  return body.ok() && !body->has_elements;
}

}  // namespace

std::optional<PointCost> PointCostOf(const Program& program, int workers) {
  PointCost out;
  for (const TaskClass& c : program.classes) {
    if (!IsOfNumbers(program.kernels[c.kernel])) {
      return std::nullopt;
    }
    const auto tasks = static_cast<double>(c.domain.Count());
    out.in_one_process += tasks * kTask / std::max(workers, 1);
    out.on_agents += tasks * kTaskOfAgents;
    if (c.uses.size() < 2) continue;
    const auto further = static_cast<double>(c.uses.size() - 1);
    const auto shared = std::count_if(
        c.uses.begin(), c.uses.end(),
        [&c](const Use& use) { return dsl::IsSharedRead(c.domain, use); });
    out.in_one_process +=
        tasks * further * kFurtherUse / std::sqrt(std::max(workers, 1));
    out.on_agents +=
        tasks * (further * kFurtherUseOfAgents +
                 static_cast<double>(shared) * kSharedReadOfAgents);
  }
  return out;
}

std::string PointCostText(const PointCost& cost) {
  return absl::StrCat("about ", HumanElapsed(cost.in_one_process),
                      " in one process, about ", HumanElapsed(cost.on_agents),
                      " on agents");
}

absl::Duration SerialTimeOf(int64_t tasks) {
  return static_cast<double>(tasks) * kSerialTask;
}

}  // namespace dogged
