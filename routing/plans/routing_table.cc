#include "routing/plans/routing_table.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/hash.h"

namespace dogged {
namespace {

constexpr int kRingSuccessors = 2;

// Larger is better.
uint64_t WeightOf(AgentId self, AgentId candidate) {
  return Mix64(self.value(), candidate.value());
}

void SortUnique(std::vector<AgentId>& agents) {
  std::sort(agents.begin(), agents.end());
  agents.erase(std::unique(agents.begin(), agents.end()), agents.end());
}

}  // namespace

RoutingTable::RoutingTable(AgentId self, const TopologyId& topology_id,
                           const View& view)
    : self_(self), topology_id_(topology_id) {
  column_count_ = topology_id.base();
  for (const Member& member : view.members()) {
    column_count_ = std::max(column_count_, member.topology_id.base());
  }
  entries_.resize(level_count() * column_count_);
  // The best candidate of each entry so far; looked up once, not per member.
  std::vector<const Member*> best(entries_.size(), nullptr);
  for (const Member& member : view.members()) {
    const int64_t slot = SlotOf(member);
    if (slot < 0) continue;
    const Member*& so_far = best[slot];
    if (so_far == nullptr || IsBetter(member, *so_far)) so_far = &member;
  }
  for (size_t i = 0; i < best.size(); ++i) {
    if (best[i] != nullptr) entries_[i] = best[i]->id;
  }
}

int64_t RoutingTable::SlotOf(const Member& member) const {
  if (member.id == self_) return -1;
  const int level = CommonPrefix(topology_id_, member.topology_id);
  if (level >= level_count() || level >= member.topology_id.size()) return -1;
  const int digit = member.topology_id.digit(level);
  DOGGED_CHECK(digit < column_count_) << "digit " << digit;
  return level * column_count_ + digit;
}

bool RoutingTable::IsBetter(const Member& candidate, const Member& than) const {
  return WeightOf(self_, candidate.id) > WeightOf(self_, than.id);
}

AgentId RoutingTable::entry(int level, int digit) const {
  if (level >= level_count() || digit >= column_count_) return AgentId();
  return entries_[level * column_count_ + digit];
}

std::vector<AgentId> RoutingTable::Neighbours() const {
  std::vector<AgentId> neighbours;
  for (AgentId id : entries_) {
    if (!id.IsNone()) neighbours.push_back(id);
  }
  SortUnique(neighbours);
  return neighbours;
}

std::string RoutingTable::ToString() const {
  std::string text = absl::StrCat("table of ", topology_id_.ToString(), "\n");
  for (int level = 0; level < level_count(); ++level) {
    absl::StrAppend(&text, level, ":");
    for (int digit = 0; digit < column_count_; ++digit) {
      const AgentId id = entry(level, digit);
      absl::StrAppend(&text, " ", id.IsNone() ? "-" : id.ToString());
    }
    absl::StrAppend(&text, "\n");
  }
  return text;
}

AgentId NextHop(const RoutingTable& table, const Member& target) {
  const int level = CommonPrefix(table.topology_id(), target.topology_id);
  if (level >= table.level_count() || level >= target.topology_id.size()) {
    return target.id;
  }
  const AgentId hop = table.entry(level, target.topology_id.digit(level));
  return hop.IsNone() ? target.id : hop;
}

std::vector<AgentId> LifeLinesOf(const RoutingTable& table, const View& view,
                                 int neighbours_max) {
  std::vector<AgentId> lines = table.Neighbours();
  // The best by weight, so that a change of the view moves few lines.
  if (std::ssize(lines) > neighbours_max) {
    std::sort(lines.begin(), lines.end(), [&](AgentId a, AgentId b) {
      return WeightOf(table.self(), a) > WeightOf(table.self(), b);
    });
    lines.resize(neighbours_max);
  }
  const std::vector<Member>& members = view.members();
  auto next = std::upper_bound(
      members.begin(), members.end(), table.self(),
      [](AgentId self, const Member& member) { return self < member.id; });
  for (int i = 0; i < kRingSuccessors && !members.empty(); ++i, ++next) {
    if (next == members.end()) next = members.begin();
    if (next->id == table.self()) break;
    lines.push_back(next->id);
  }
  SortUnique(lines);
  return lines;
}

}  // namespace dogged
