// DeferredSends: labels that agents have demanded and that wait, because as
// many bytes as they take at a time are queued for them. So a thousand results
// demanded at once are sent in turn, each once, and none is dropped for want of
// space.
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_KVSTORE_REPLICATION_DEFERRED_SENDS_H_
#define DOGGED_KVSTORE_REPLICATION_DEFERRED_SENDS_H_

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"

namespace dogged {

class DeferredSends {
 public:
  // `agent` is to get `label` once its turn has come: once, however often it is
  // added.
  void Add(AgentId agent, const Label& label) {
    List& list = lists_[agent];
    if (list.known.insert(label).second) list.labels.push_back(label);
  }
  bool Has(AgentId agent, const Label& label) const {
    const auto it = lists_.find(agent);
    return it != lists_.end() && it->second.known.contains(label);
  }
  // The oldest label of an agent that `may_have` it now; none if there is none.
  std::optional<std::pair<AgentId, Label>> Take(
      absl::FunctionRef<bool(AgentId)> may_have) {
    for (auto it = lists_.begin(); it != lists_.end(); ++it) {
      if (!may_have(it->first)) continue;
      List& list = it->second;
      std::pair<AgentId, Label> out{it->first, list.labels.front()};
      list.known.erase(out.second);
      list.labels.pop_front();
      if (list.labels.empty()) lists_.erase(it);
      return out;
    }
    return std::nullopt;
  }
  // `agent` has begun anew.
  void Forget(AgentId agent) { lists_.erase(agent); }

 private:
  struct List {
    std::deque<Label> labels;  // oldest first, never empty
    absl::flat_hash_set<Label> known;
  };
  std::map<AgentId, List> lists_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_REPLICATION_DEFERRED_SENDS_H_
