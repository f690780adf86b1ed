// DialRefusals: agents that refuse this one for its key, in the log: a line for
// each address when it begins, then seldomer and seldomer, with a count, and no
// more than some a minute over all. A machine: its owner writes the lines.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_DIAL_REFUSALS_H_
#define DOGGED_RUNTIME_AGENT_LOOP_DIAL_REFUSALS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace dogged {

class DialRefusals {
 public:
  // `address` has refused in these words. The line that is due, if one is.
  std::optional<std::string> Add(absl::Time now, const std::string& address,
                                 const std::string& words);

 private:
  struct Refusal {
    std::string words;
    absl::Time due = absl::InfinitePast();  // the next line
    absl::Duration interval;
    int64_t unsaid = 0;
  };

  // Forgets addresses that refused long ago.
  void Prune(absl::Time now);

  std::map<std::string, Refusal> refusals_;
  absl::Time minute_ends_ = absl::InfinitePast();
  int lines_ = 0;  // in this minute
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_DIAL_REFUSALS_H_
