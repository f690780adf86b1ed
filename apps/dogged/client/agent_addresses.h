// AgentAddresses: the control ports of agents that a client knows, and which of
// them were silent of late. An agent that did not answer is left alone for a
// while, so that a client does not spend its time with one that is stopped.
//
// Used by one thread.
#ifndef DOGGED_APPS_DOGGED_CLIENT_AGENT_ADDRESSES_H_
#define DOGGED_APPS_DOGGED_CLIENT_AGENT_ADDRESSES_H_

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "runtime/base/clock.h"

namespace dogged {

class AgentAddresses {
 public:
  // `named` by a user; `clock` outlives this.
  AgentAddresses(std::vector<std::string> named, Clock& clock)
      : clock_(clock),
        addresses_(std::move(named)),
        named_count_(addresses_.size()) {}
  AgentAddresses(const AgentAddresses&) = delete;
  AgentAddresses& operator=(const AgentAddresses&) = delete;

  // These instead of all that were known: as if named.
  void Replace(std::vector<std::string> named);
  // Unless it is known.
  void Add(std::string address);
  // In the order in which they came to be known.
  const std::vector<std::string>& all() const { return addresses_; }
  // No other one than those that were named is known.
  bool AreAllNamed() const { return addresses_.size() == named_count_; }
  // All, those of silent agents last.
  std::vector<std::string> SilentLast() const;

  bool IsSilent(const std::string& address) const;
  void NoteSilence(const std::string& address);
  void NoteAnswer(const std::string& address) { silent_until_.erase(address); }

 private:
  Clock& clock_;
  std::vector<std::string> addresses_;
  size_t named_count_;  // in front
  // By address, when one that did not answer is asked again.
  std::map<std::string, absl::Time> silent_until_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_AGENT_ADDRESSES_H_
