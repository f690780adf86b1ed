// DepartedMembers: the last members that have left or died, for `status`.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_DEPARTED_MEMBERS_H_
#define DOGGED_RUNTIME_AGENT_LOOP_DEPARTED_MEMBERS_H_

#include <deque>
#include <memory_resource>
#include <string>
#include <vector>

#include "routing/membership/membership.h"
#include "runtime/agent/loop/control.h"
#include "runtime/base/small_blocks.h"

namespace dogged {

class DepartedMembers {
 public:
  DepartedMembers() = default;
  DepartedMembers(const DepartedMembers&) = delete;
  DepartedMembers& operator=(const DepartedMembers&) = delete;

  // Takes the end of a member; other events are no business of this.
  void Add(const MembershipEvent& event);
  // Oldest first, without stats.
  std::vector<MemberStatus> All() const;

 private:
  SmallBlocks memory_;
  // Encoded, as they stay for long.
  std::deque<std::pmr::string> encoded_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_DEPARTED_MEMBERS_H_
