#include "apps/dogged/run/agent_losses.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "absl/strings/str_cat.h"

namespace dogged {

std::vector<Loss> AgentLosses::Note(const std::vector<StatusReply>& replies,
                                    absl::Duration after) {
  // First all members are noted: an agent that saw a leaver's process end
  // before its words came takes it for dead, and others know better.
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      if (m.state == "alive") known_.insert(m.member.id);
      if (m.state == "left") left_.insert(m.member.id);
    }
  }
  for (size_t i = losses_.size(); i-- > 0;) {
    const bool answers =
        std::any_of(replies.begin(), replies.end(),
                    [&](const auto& reply) { return reply.self == lost_[i]; });
    const bool is_back = answers && missing_.contains(lost_[i]);
    if (!left_.contains(lost_[i]) && !is_back) continue;
    losses_.erase(losses_.begin() + static_cast<ptrdiff_t>(i));
    lost_.erase(lost_.begin() + static_cast<ptrdiff_t>(i));
  }
  const size_t before = losses_.size();
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      const AgentId id = m.member.id;
      if (m.state != "dead" || !known_.contains(id) || left_.contains(id) ||
          std::find(lost_.begin(), lost_.end(), id) != lost_.end()) {
        continue;
      }
      Lose(m.member.control_address, id, m.cause, after);
    }
  }
  return {losses_.begin() + static_cast<ptrdiff_t>(before), losses_.end()};
}

void AgentLosses::LoseAll(const std::string& cause, absl::Duration after) {
  for (const AgentId id : known_) {
    const bool is_lost =
        std::find(lost_.begin(), lost_.end(), id) != lost_.end();
    if (!is_lost && !left_.contains(id)) {
      missing_.insert(id);
      Lose(absl::StrCat("agent ", id.ToString()), id, cause, after);
    }
  }
}

void AgentLosses::Lose(const std::string& who, AgentId agent,
                       const std::string& cause, absl::Duration after) {
  losses_.push_back({.who = who, .after = after, .cause = cause});
  lost_.push_back(agent);
}

std::vector<std::string> AgentLosses::Unheard(
    const std::vector<StatusReply>& replies) {
  std::map<AgentId, std::string> silent;
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      const bool is_there = m.state == "alive" || m.state == "suspect";
      if (is_there) silent[m.member.id] = m.member.control_address;
    }
  }
  for (const StatusReply& reply : replies) {
    silent.erase(reply.self);
    for (const MemberStatus& m : reply.members) {
      if (m.state == "left" || m.state == "dead") silent.erase(m.member.id);
    }
  }
  std::vector<std::string> out;
  for (const auto& [id, address] : silent) out.push_back(address);
  return out;
}

int AgentLosses::left_count() const {
  return static_cast<int>(
      std::count_if(left_.begin(), left_.end(),
                    [this](AgentId id) { return known_.contains(id); }));
}

int AgentLosses::alive_count() const {
  return known_count() - left_count() -
         static_cast<int>(
             std::count_if(lost_.begin(), lost_.end(),
                           [this](AgentId id) { return known_.contains(id); }));
}

void AgentLosses::Replace(size_t position, const std::string& by) {
  if (losses_[position].replaced_by.empty()) {
    losses_[position].replaced_by = by;
  }
}

}  // namespace dogged
