// JobMessage: what agents say to each other about tasks of one job, and about
// labels to search for. The envelope names the job. Every message is a hint, as
// those of kvstore/messages/label_messages.h are.
#ifndef DOGGED_RUNTIME_JOB_CONTEXT_JOB_MESSAGES_H_
#define DOGGED_RUNTIME_JOB_CONTEXT_JOB_MESSAGES_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kvstore/dictionary/label_state.h"
#include "routing/transport/envelope.h"
#include "runtime/base/bytes.h"
#include "runtime/base/label.h"
#include "runtime/graph/task.h"

namespace dogged {

enum class JobMessage : uint8_t {
  // A searcher: "is this label bound?" And the answer of its home.
  kLookup = kFirstFreeKind + 7,
  kAnswer = kFirstFreeKind + 8,
  // A searcher: "I run this task", again while it does. And whether no other
  // agent does.
  kClaim = kFirstFreeKind + 9,
  kClaimed = kFirstFreeKind + 10,
  // An idle agent: "I have room for so many tasks." And, some time later: "run
  // this task", in the form of a claim; the inputs that the sender has follow.
  kSteal = kFirstFreeKind + 13,
  kGranted = kFirstFreeKind + 14,
};

// Milliseconds since the end of the job: "I hold results of this job that are
// to stay, and you have no part in it." The agent begins one, to keep them.
inline constexpr uint8_t kKeepResults = kFirstFreeKind + 29;

struct LookupBody {
  Label label;
  // As in a demand: it was retired, and its consumer's output is not bound.
  bool insist = false;
};
struct AnswerBody {
  Label label;
  LabelState state = LabelState::kUnbound;
  std::optional<int64_t> newest;  // bound version of the label's row
};
struct ClaimBody {  // also kClaimed and kGranted
  Task task;
  Label wanted;  // the output for which it is to run
  bool granted = false;
};
struct StealBody {
  int64_t count = 0;
};

Bytes EncodeLookup(const LookupBody& body);
absl::StatusOr<LookupBody> DecodeLookup(absl::string_view body);
Bytes EncodeAnswer(const AnswerBody& body);
absl::StatusOr<AnswerBody> DecodeAnswer(absl::string_view body);
Bytes EncodeClaim(const ClaimBody& body);
absl::StatusOr<ClaimBody> DecodeClaim(absl::string_view body);
Bytes EncodeSteal(const StealBody& body);
absl::StatusOr<StealBody> DecodeSteal(absl::string_view body);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_CONTEXT_JOB_MESSAGES_H_
