#include "apps/dogged/report/member_news.h"

namespace dogged {

std::vector<MemberNews::News> MemberNews::Note(
    const std::vector<StatusReply>& replies) {
  std::vector<News> out;
  if (replies.empty()) return out;
  for (const StatusReply& reply : replies) {
    for (const MemberStatus& m : reply.members) {
      const std::string& address = m.member.control_address;
      if (m.state == "alive" && came_.insert(m.member.id).second) {
        out.push_back({.address = address, .has_left = false});
      }
      if (m.state == "left" && left_.insert(m.member.id).second &&
          came_.contains(m.member.id)) {
        out.push_back({.address = address, .has_left = true});
      }
    }
  }
  if (is_first_) out.clear();
  is_first_ = false;
  return out;
}

}  // namespace dogged
