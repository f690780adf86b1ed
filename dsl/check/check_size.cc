#include "dsl/check/check_size.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace dogged::dsl {
namespace {

// More than anybody writes would keep the analysis, which looks at pairs, busy
// for hours.
constexpr size_t kDeclarationsMax = 1000;
constexpr size_t kStatementsMax = 10'000;

template <typename T>
bool AreTooMany(const std::vector<T>& items, size_t most,
                absl::string_view what, SourceRange range,
                Diagnostics& diagnostics) {
  if (items.size() <= most) return false;
  diagnostics
      .Error(Code::kTooLarge, range,
             absl::StrCat(items.size(), " ", what, "; at most ", most,
                          " are possible"))
      .Help("one task has many points:  for x = 0:N-1");
  return true;
}

}  // namespace

bool IsTooLong(const ast::Program& program, Diagnostics& diagnostics) {
  const auto too_many = [&diagnostics](const auto& items,
                                       absl::string_view what) {
    return !items.empty() && AreTooMany(items, kDeclarationsMax, what,
                                        items.back().range, diagnostics);
  };
  bool out = too_many(program.parameters, "parameters");
  out |= too_many(program.arrays, "arrays");
  out |= too_many(program.inputs, "inputs");
  out |= too_many(program.kernels, "kernels");
  out |= too_many(program.boundaries, "boundaries");
  out |= too_many(program.tasks, "tasks");
  out |= too_many(program.reductions, "reductions");
  out |= too_many(program.results, "results");
  for (const ast::Task& task : program.tasks) {
    const SourceRange at = task.name.range;
    out |= AreTooMany(task.creates, kDeclarationsMax,
                      "labels that a task creates", at, diagnostics);
    out |= AreTooMany(task.uses, kDeclarationsMax, "labels that a task uses",
                      at, diagnostics);
    out |=
        AreTooMany(task.code, kStatementsMax, "lines of code", at, diagnostics);
    if (out) break;
  }
  return out;
}

}  // namespace dogged::dsl
