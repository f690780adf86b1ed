#include "routing/model/switch_network.h"

#include <algorithm>
#include <deque>
#include <utility>

#include "runtime/base/check.h"

namespace dogged {

SwitchNetwork SwitchNetwork::Random(Rng& rng, int switches, int processors_each,
                                    int ports) {
  std::vector<std::pair<int, int>> cables;
  std::vector<int> free(switches, ports);
  const auto join = [&](int a, int b) {
    cables.emplace_back(std::min(a, b), std::max(a, b));
    --free[a];
    --free[b];
  };
  for (int i = 1; i < switches; ++i) {
    int other = static_cast<int>(rng.Below(i));
    while (free[other] == 0) other = static_cast<int>(rng.Below(i));
    join(i, other);
  }
  // Some ports stay empty: so many tries, no more.
  for (int tries = switches * ports * 4; tries > 0; --tries) {
    const int a = static_cast<int>(rng.Below(switches));
    const int b = static_cast<int>(rng.Below(switches));
    const std::pair<int, int> cable = {std::min(a, b), std::max(a, b)};
    if (a == b || free[a] == 0 || free[b] == 0 ||
        std::find(cables.begin(), cables.end(), cable) != cables.end()) {
      continue;
    }
    join(a, b);
  }
  return SwitchNetwork(switches, processors_each, cables);
}

SwitchNetwork::SwitchNetwork(int switches, int processors_each,
                             const std::vector<std::pair<int, int>>& cables)
    : processors_each_(processors_each), cables_(switches), links_(switches) {
  for (const auto& [a, b] : cables) {
    cables_[a].push_back(b);
    cables_[b].push_back(a);
  }
  link_count_ = 2 * processor_count();
  for (int at = 0; at < switches; ++at) {
    std::sort(cables_[at].begin(), cables_[at].end());
    for (size_t i = 0; i < cables_[at].size(); ++i) {
      links_[at].push_back(link_count_++);
    }
  }
  BuildTree();
  BuildRoutes();
}

void SwitchNetwork::BuildTree() {
  parents_.assign(cables_.size(), -1);
  levels_.assign(cables_.size(), -1);
  children_.resize(cables_.size());
  std::deque<int> queue = {0};
  levels_[0] = 0;
  while (!queue.empty()) {
    const int at = queue.front();
    queue.pop_front();
    for (int next : cables_[at]) {
      if (levels_[next] >= 0) continue;
      levels_[next] = levels_[at] + 1;
      parents_[next] = at;
      children_[at].push_back(next);
      queue.push_back(next);
    }
  }
  for (int at = 0; at < switch_count(); ++at) {
    DOGGED_CHECK(level(at) >= 0) << "switch " << at << " is not connected";
  }
}

bool SwitchNetwork::IsUp(int from, int to) const {
  if (level(from) != level(to)) return level(to) < level(from);
  return to < from;
}

void SwitchNetwork::BuildRoutes() {
  const size_t n = cables_.size();
  down_steps_.assign(n, std::vector<int>(n, -1));
  up_steps_.assign(n, std::vector<int>(n, -1));
  for (int to = 0; to < switch_count(); ++to) {
    // Backwards from the destination: over down links first, then over up
    // links from wherever that leads.
    std::deque<std::pair<int, bool>> queue = {{to, true}};
    down_steps_[to][to] = 0;
    while (!queue.empty()) {
      const auto [at, is_down] = queue.front();
      queue.pop_front();
      const int steps = (is_down ? down_steps_ : up_steps_)[at][to];
      int& up_steps = up_steps_[at][to];
      if (is_down && (up_steps < 0 || up_steps > steps)) {
        up_steps = steps;
        queue.emplace_front(at, false);
      }
      for (int before : cables_[at]) {
        const bool goes_down = !IsUp(before, at);
        if (goes_down != is_down) continue;
        int& known = (is_down ? down_steps_ : up_steps_)[before][to];
        if (known >= 0 && known <= steps + 1) continue;
        known = steps + 1;
        queue.emplace_back(before, is_down);
      }
    }
  }
}

int SwitchNetwork::LinkBetween(int from, int to) const {
  const std::vector<int>& next = cables_[from];
  const auto it = std::lower_bound(next.begin(), next.end(), to);
  return links_[from][it - next.begin()];
}

std::vector<int> SwitchNetwork::Route(int from, int to) const {
  std::vector<int> route = {2 * from};
  int at = switch_of(from);
  const int end = switch_of(to);
  bool may_go_up = true;
  while (at != end) {
    const int left = (may_go_up ? up_steps_ : down_steps_)[at][end];
    DOGGED_CHECK(left > 0) << "no way from switch " << at << " to " << end;
    for (int next : cables_[at]) {
      const bool up = IsUp(at, next);
      if (up && !may_go_up) continue;
      const auto& steps = up ? up_steps_ : down_steps_;
      if (steps[next][end] != left - 1) continue;
      route.push_back(LinkBetween(at, next));
      may_go_up = up;
      at = next;
      break;
    }
  }
  route.push_back(2 * to + 1);
  return route;
}

}  // namespace dogged
