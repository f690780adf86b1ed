// MemberNews: agents that came to a cluster or took leave of it since it was
// last asked. Deaths are matters of AgentLosses, which knows more of them.
//
// A data structure. Used by one thread.
#ifndef DOGGED_APPS_DOGGED_REPORT_MEMBER_NEWS_H_
#define DOGGED_APPS_DOGGED_REPORT_MEMBER_NEWS_H_

#include <set>
#include <string>
#include <vector>

#include "runtime/agent/loop/control.h"
#include "runtime/base/ids.h"

namespace dogged {

class MemberNews {
 public:
  struct News {
    std::string address;
    bool has_left = false;  // else it joined
  };
  // Agents that the first call finds are no news.
  std::vector<News> Note(const std::vector<StatusReply>& replies);

 private:
  bool is_first_ = true;
  std::set<AgentId> came_;
  std::set<AgentId> left_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_MEMBER_NEWS_H_
