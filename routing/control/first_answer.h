// FirstAnswer: which of several addresses takes a connection first, without
// waiting for silent ones in turn: each is tried a moment after the one before,
// or at once when that fails (RFC 8305 does so with the addresses of a name).
#ifndef DOGGED_ROUTING_CONTROL_FIRST_ANSWER_H_
#define DOGGED_ROUTING_CONTROL_FIRST_ANSWER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace dogged {

struct FirstAnswerTimes {
  absl::Duration stagger = absl::Milliseconds(250);
  absl::Duration timeout = absl::Seconds(5);  // for all
};

// `addresses` in another order: the first one takes connections, and the last
// ones said nothing so far. Names among them are looked up one by one. Errors:
// kUnavailable, with words about each address, if none takes a connection.
absl::StatusOr<std::vector<std::string>> FirstAnswer(
    absl::Span<const std::string> addresses,
    const FirstAnswerTimes& times = FirstAnswerTimes());

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_FIRST_ANSWER_H_
