#include "apps/verify/kernel_calls.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "runtime/graph/float_kernel.h"

namespace dogged {

KernelCalls::KernelCalls(const Relations& relations) : relations_(relations) {
  for (const KernelSpec& spec : relations.program().kernels) {
    bodies_.emplace_back();
    if (spec.kind != "native") continue;
    auto body = dsl::NativeBody::Decode(spec.body);
    // A user's own may have the same name.
    if (!body.ok() || !body->library.empty()) continue;
    body->kernel = std::string(WrittenName(body->kernel));
    bodies_.back() = *std::move(body);
  }
}

int64_t KernelCalls::CountOf(absl::string_view kernel) const {
  int64_t out = 0;
  for (const TaskClass& c : relations_.program().classes) {
    const auto& body = bodies_[c.kernel];
    if (body.has_value() && body->kernel == kernel) out += c.domain.Count();
  }
  return out;
}

std::optional<KernelCalls::Call> KernelCalls::MakerOf(
    const Label& label) const {
  std::optional<Task> task = relations_.ProducerOf(label);
  if (!task.has_value()) return std::nullopt;
  const TaskClass& c = relations_.ClassOf(*task);
  const auto& body = bodies_[c.kernel];
  if (!body.has_value()) return std::nullopt;
  std::vector<std::optional<Label>> uses(c.uses.size());
  relations_.ForEachRequired(
      *task, [&](int use, const Label& required) { uses[use] = required; });
  std::vector<Label> creates(c.creates.size());
  relations_.ForEachCreated(*task, [&](int create, const Label& created) {
    creates[create] = created;
  });
  Call out{
      .task = *std::move(task), .kernel = body->kernel, .in = {}, .out = {}};
  for (const int32_t use : body->in) {
    const auto& required = uses[use];
    if (!required.has_value()) return std::nullopt;
    out.in.push_back(*required);
  }
  for (const int32_t create : body->out) {
    out.out.push_back(creates[create]);
  }
  return out;
}

double KernelCalls::ScalarOf(const Call& call, size_t position) const {
  const TaskClass& c = relations_.ClassOf(call.task);
  return dsl::ScalarsOf(*bodies_[c.kernel], call.task.index)[position];
}

std::optional<KernelCalls::History> KernelCalls::HistoryOf(
    Label label, absl::string_view kernel) const {
  History out;
  std::optional<Call> call = MakerOf(label);
  while (call.has_value() && call->kernel == kernel) {
    label = call->in[0];
    out.steps.push_back(*std::move(call));
    call = MakerOf(label);
  }
  const std::optional<Task> task = relations_.ProducerOf(label);
  if (!task.has_value() || relations_.RequiredCount(*task) != 0) {
    return std::nullopt;
  }
  out.origin = label;
  std::reverse(out.steps.begin(), out.steps.end());
  return out;
}

std::optional<std::vector<FactorStep>> FindFactorSteps(
    const KernelCalls& calls, absl::string_view kernel,
    absl::string_view update) {
  const int64_t count = calls.CountOf(kernel);
  if (count == 0) return std::nullopt;
  std::vector<FactorStep> steps;
  absl::flat_hash_set<Label> seen;
  const bool are_updates =
      calls.relations().ForEachResult([&](const Label& label) {
        std::optional<KernelCalls::Call> call = calls.MakerOf(label);
        if (!call.has_value() || call->kernel != kernel) return true;
        if (!seen.insert(call->out[0]).second) return true;
        auto history = calls.HistoryOf(call->in[0], update);
        if (!history.has_value()) return false;
        steps.push_back({*std::move(call), *std::move(history)});
        return true;
      });
  if (!are_updates || std::ssize(steps) != count) return std::nullopt;
  std::sort(steps.begin(), steps.end(),
            [](const FactorStep& a, const FactorStep& b) {
              return a.history.steps.size() < b.history.steps.size();
            });
  for (size_t k = 0; k < steps.size(); ++k) {
    if (steps[k].history.steps.size() != k) return std::nullopt;
    for (const Label& label : steps[k].call.out) {
      if (!calls.relations().IsResult(label)) return std::nullopt;
    }
  }
  return steps;
}

}  // namespace dogged
