// MessageBatcher: joins an agent's messages about labels of one job, over a
// pass of its loop: a message about many labels to the same agents, instead of
// a message for each. The body for a label has some twenty bytes, and a message
// costs more than they do.
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
  // A message: `bodies` is one or more, concatenated.
  struct Bulk {
    Targets targets;
    LabelMessage kind;
    std::string bodies;
  };

  // No batch has more than `bytes_max` bytes.
  explicit MessageBatcher(int64_t bytes_max) : bytes_max_(bytes_max) {}

  // False, and nothing is added, if a message of this kind is not about labels
  // or the body is too long to share a message.
  bool Add(absl::Span<const AgentId> targets, LabelMessage kind,
           absl::string_view body);
  // All, in the order of their first bodies.
  std::vector<Bulk> TakeAll();

 private:
  const int64_t bytes_max_;
  std::vector<Bulk> batcher_;
  // Batches with room, by their place in `batcher_`.
  absl::flat_hash_map<std::pair<LabelMessage, Targets>, size_t> open_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_MESSAGES_MESSAGE_BATCHER_H_
