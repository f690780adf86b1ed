// JoinSources: where the addresses come from at which an agent looks for other
// agents (contacts.h): --join, lines of its input, and meeting points.
//
// Used by the thread that runs the loop.
#ifndef DOGGED_APPS_DOGGED_AGENT_JOIN_SOURCES_H_
#define DOGGED_APPS_DOGGED_AGENT_JOIN_SOURCES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "apps/dogged/rendezvous/meeting_point.h"
#include "apps/dogged/rendezvous/rendezvous.h"
#include "routing/membership/contacts.h"
#include "routing/trust/key_file.h"
#include "runtime/base/ids.h"

namespace dogged {

// As --join: addresses come line by line on the input.
inline constexpr absl::string_view kJoinsInput = "-";

// The points of --join but for kJoinsInput. Errors: as ParseMeetingPoints().
absl::StatusOr<std::vector<MeetingPoint>> JoinPoints(
    const std::vector<std::string>& words);

class JoinSources {
 public:
  JoinSources() = default;
  JoinSources(const JoinSources&) = delete;
  JoinSources& operator=(const JoinSources&) = delete;

  // Agents that this one can trust.
  struct Trust {
    KeyFile* keys = nullptr;       // of theirs; null: none; outlives this
    bool has_certificate = false;  // which those with other keys may take
  };
  // Begins to look. `words` of --join, well-formed. `wake` is called from any
  // thread when Refresh() has something to do. Errors: kResourceExhausted
  // without threads.
  absl::Status Begin(const std::vector<std::string>& words, const Trust& trust,
                     std::function<void()> wake, uint64_t seed);
  // The agent is this incarnation now, and others find it at `address`.
  void Enter(AgentId agent, const std::string& address);
  // Puts news of points into the contacts. Costs next to nothing without any.
  void Refresh();

  bool reads_input() const { return reads_input_; }
  // Waits for lines of the input, whose addresses become contacts. False if the
  // input has ended, or if this process is told to leave.
  bool ReadInput();

  Contacts& contacts() { return contacts_; }
  bool has_any() const {
    return contacts_.size() > 0 || rendezvous_ != nullptr;
  }

 private:
  std::vector<std::string> TakeLines();
  std::vector<std::string> NextLines();

  Contacts contacts_{{}};
  std::unique_ptr<Rendezvous> rendezvous_;  // null: no point has to be asked
  KeyFile* keys_ = nullptr;
  // As of the last Enter().
  AgentId agent_;
  std::string address_;
  std::shared_ptr<const KeyRing> ring_;

  bool reads_input_ = false;
  bool input_has_ended_ = false;
  std::string input_;  // that was not handed out
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_AGENT_JOIN_SOURCES_H_
