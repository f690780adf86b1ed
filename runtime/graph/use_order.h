// The order in which a run in one process looks up the inputs of a task. The
// first one begins the task, and it waits for one of the others at a time.
#ifndef DOGGED_RUNTIME_GRAPH_USE_ORDER_H_
#define DOGGED_RUNTIME_GRAPH_USE_ORDER_H_

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <tuple>
#include <vector>

#include "absl/types/span.h"
#include "runtime/graph/domain.h"
#include "runtime/graph/inverse_map.h"
#include "runtime/graph/program.h"

namespace dogged {

struct UseOrder {
  std::vector<int> uses;
  // By position in `uses`, from the front: that one, or for want of it by its
  // guard the next, begins a task. At least one if there are uses.
  int first_count = 0;
};

// Uses by which each label is read once come first, then those whose guards
// always hold, then as they are declared.
inline UseOrder OrderOfUses(const Domain& domain, absl::Span<const Use> uses) {
  std::vector<bool> is_shared;
  for (const Use& use : uses) {
    is_shared.push_back(use.gather != nullptr ||
                        !InverseMap(use.map, domain, &use.guard).IsInjective());
  }
  const auto is_guarded = [&](int use) { return !uses[use].guard.IsAlways(); };
  const auto key = [&](int use) {
    return std::tuple(is_shared[use], is_guarded(use), use);
  };
  UseOrder out;
  out.uses.resize(uses.size());
  std::iota(out.uses.begin(), out.uses.end(), 0);
  std::sort(out.uses.begin(), out.uses.end(),
            [&](int a, int b) { return key(a) < key(b); });
  for (const int use : out.uses) {
    ++out.first_count;
    if (!is_guarded(use)) break;
  }
  return out;
}

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_USE_ORDER_H_
