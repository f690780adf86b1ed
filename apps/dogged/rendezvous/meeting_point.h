// MeetingPoint: a place where agents and clients find agents, as --join and
// --cluster name it: the address of an agent, a folder that all of them see, or
// a name whose records are agents. Plain data.
#ifndef DOGGED_APPS_DOGGED_RENDEZVOUS_MEETING_POINT_H_
#define DOGGED_APPS_DOGGED_RENDEZVOUS_MEETING_POINT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dogged {

struct MeetingPoint {
  enum class Kind {
    kAddress,  // HOST:PORT, or [IPV6]:PORT
    kFolder,   // file:DIR, see PoolFolder
    kName,     // dns:NAME:PORT, all of its A and AAAA records
  };
  Kind kind = Kind::kAddress;
  std::string text;  // HOST:PORT, DIR, or NAME:PORT

  // As --join takes it.
  std::string ToString() const;
  // The addresses there are not the same for ever.
  bool HasToBeAsked() const;
};

// `words`, each of which may be several, separated by commas. Errors, which
// name `flag`: kInvalidArgument for a word that is none of the three.
absl::StatusOr<std::vector<MeetingPoint>> ParseMeetingPoints(
    const std::vector<std::string>& words, absl::string_view flag);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_RENDEZVOUS_MEETING_POINT_H_
