// LabelStats: what an agent has said to others about one job, in counts that
// add up over agents. Plain data.
#ifndef DOGGED_KVSTORE_MESSAGES_LABEL_STATS_H_
#define DOGGED_KVSTORE_MESSAGES_LABEL_STATS_H_

#include <cstdint>

namespace dogged {

struct LabelStats {
  int64_t messages_sent = 0;
  int64_t bytes_sent = 0;
  int64_t bytes_resent = 0;  // of values, on demand or again
  // Bytes of values whose homes changed: counted by the former home, or by the
  // new one if that is gone.
  int64_t bytes_moved = 0;
  int64_t copy_bytes = 0;  // of values, sent or lent for safety alone
  // The most work of an agent that was in no whole cut, in milliseconds; over
  // agents the longest, not the sum. 0 where copies don't go in cuts.
  int64_t at_risk_ms = 0;
  // Multicasts started here; messages that this agent sent for multicasts of
  // all agents, relayed ones too.
  int64_t publications = 0;
  int64_t publication_messages = 0;
  int64_t publication_bytes = 0;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_MESSAGES_LABEL_STATS_H_
