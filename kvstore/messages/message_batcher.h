// MessageBatcher: what an agent says to others about labels of one job,
// gathered over a pass of its loop: of many labels at once to the same agents,
// instead of a message for each. What is said of a label is some twenty bytes,
// and a message costs more than they do.
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_KVSTORE_MESSAGES_MESSAGE_BATCHER_H_
#define DOGGED_KVSTORE_MESSAGES_MESSAGE_BATCHER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "kvstore/messages/label_messages.h"
#include "runtime/base/ids.h"

namespace dogged {

class MessageBatcher {
 public:
  using Targets = absl::InlinedVector<AgentId, 2>;
  // A message: `bodies` is one or more, one after the other.
  struct Bulk {
    Targets targets;
    LabelMessage kind;
    std::string bodies;
  };

  // No bulk has more bytes.
  explicit MessageBatcher(int64_t bytes_max) : bytes_max_(bytes_max) {}

  // False, and nothing is added, if a message of this kind speaks of no labels
  // or the body is too long to share one.
  bool Add(absl::Span<const AgentId> targets, LabelMessage kind,
           absl::string_view body);
  // All, in the order of their first bodies.
  std::vector<Bulk> TakeAll();

 private:
  const int64_t bytes_max_;
  std::vector<Bulk> batcher_;
  // Those that have room, by their place in `batcher_`.
  absl::flat_hash_map<std::pair<LabelMessage, Targets>, size_t> open_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_MESSAGES_MESSAGE_BATCHER_H_
