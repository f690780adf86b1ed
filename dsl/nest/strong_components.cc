#include "dsl/nest/strong_components.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace dogged::dsl {

std::vector<std::vector<int32_t>> StrongComponents(
    const std::vector<std::vector<int32_t>>& edges) {
  std::vector<std::vector<int32_t>> out;
  const size_t count = edges.size();
  std::vector<int32_t> number(count, -1);
  std::vector<int32_t> low(count, 0);
  std::vector<bool> is_open(count, false);
  std::vector<int32_t> stack;
  int32_t next = 0;
  std::function<void(int32_t)> visit = [&](int32_t node) {
    const auto s = static_cast<size_t>(node);
    number[s] = low[s] = next++;
    stack.push_back(node);
    is_open[s] = true;
    for (const int32_t other : edges[s]) {
      const auto o = static_cast<size_t>(other);
      if (number[o] < 0) {
        visit(other);
        low[s] = std::min(low[s], low[o]);
      } else if (is_open[o]) {
        low[s] = std::min(low[s], number[o]);
      }
    }
    if (low[s] != number[s]) return;
    std::vector<int32_t> component;
    while (true) {
      const int32_t member = stack.back();
      stack.pop_back();
      is_open[member] = false;
      component.push_back(member);
      if (member == node) break;
    }
    std::sort(component.begin(), component.end());
    out.push_back(std::move(component));
  };
  for (size_t node = 0; node < count; ++node) {
    if (number[node] < 0) visit(static_cast<int32_t>(node));
  }
  return out;
}

}  // namespace dogged::dsl
