// Messages between agents about a job. The envelope names the job; the bodies
// here name labels and tasks. Every message is a hint: it may be lost, doubled,
// late, or about a view that has passed.
//
// The first six kinds, kPublish to kStored, are about labels: one or many, as
// concatenated bodies (message_batcher.h joins them). A malformed body makes
// the whole message so.
#ifndef DOGGED_RUNTIME_JOB_MESSAGES_H_
#define DOGGED_RUNTIME_JOB_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kvstore/dictionary/digest_log.h"
#include "kvstore/lending/loan.h"
#include "routing/transport/envelope.h"
#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/task.h"
#include "runtime/search/walk.h"

namespace dogged {

enum class JobMessage : uint8_t {
  // "This label is bound, here is the value." To the homes of its consumers, to
  // its other replicas, to waiters.
  kPublish = kFirstFreeKind,
  // "I hold this label, with this digest." An agent that lacks it demands it;
  // consumers' homes that are done report so.
  kAnnounce = kFirstFreeKind + 1,
  // "This task needs this label."
  kDemand = kFirstFreeKind + 2,
  // "This task's outputs are durable: it needs this label no more." For a
  // high-fanout label: "and so are the outputs of all consumers at home here."
  kDone = kFirstFreeKind + 3,
  // "This label was dropped: all its consumers were done." To holders of
  // copies, and as the answer to a demand that is not certain.
  kRetired = kFirstFreeKind + 4,
  // "I hold a copy of this label."
  kStored = kFirstFreeKind + 5,
  // "These rows are yours now; so far were they bound and retired", or "I have
  // handed over all". A hint that saves the new home from running done tasks.
  kWatermarks = kFirstFreeKind + 6,
  // A searcher: "is this label bound?" And the answer of its home.
  kLookup = kFirstFreeKind + 7,
  kAnswer = kFirstFreeKind + 8,
  // A searcher: "I run this task", again while it does. And whether no other
  // agent does.
  kClaim = kFirstFreeKind + 9,
  kClaimed = kFirstFreeKind + 10,
  // As kPublish; the value lies in the sender's arena, lent to the receiver.
  kLend = kFirstFreeKind + 11,
  // Empty: "I take part in this job from now on."
  kStarted = kFirstFreeKind + 12,
  // An idle agent: "I have room for so many tasks." And, some time later: "run
  // this task", in the form of a claim; the inputs that the sender has follow.
  kSteal = kFirstFreeKind + 13,
  kGranted = kFirstFreeKind + 14,
};

// Empty: "I leave, and hold results of this job, which is over, that no client
// has fetched." An agent without a part in the job begins one, to keep them.
inline constexpr uint8_t kKeepResults = kFirstFreeKind + 29;

// The kind is about labels, so that one message may be about many.
inline bool IsAboutLabels(JobMessage kind) {
  return kind <= JobMessage::kStored;
}

struct PublishBody {
  Label label;
  Value value;
};
struct LendBody {
  Label label;
  Loan loan;
};
struct AnnounceBody {  // also kStored
  Label label;
  Digest digest;
};
struct DemandBody {
  Label label;
  // None: the asker wants the value for itself (a copy, a client).
  std::optional<Task> task;
  // Steps from the result or task where the search began.
  int32_t depth = 0;
  // The chain of demands begins at a result that is not bound, so the label is
  // needed whatever watermarks say.
  bool certain = false;
  // The asker was told that the label was retired, and needs it all the same.
  // Without this a late or doubled demand would compute history again.
  bool insist = false;
  // Do not search, only send the value once it is there.
  bool lazy = false;
};
// ConsumerSet: consumers of a label as their number, each as often as it reads
// the label, and the sum of their hashes. Different sets compare unequal.
struct ConsumerSet {
  uint64_t count = 0;
  uint64_t hash_sum = 0;

  void Add(const Task& task) {
    ++count;
    hash_sum += task.Hash();
  }
  friend bool operator==(const ConsumerSet&, const ConsumerSet&) = default;
};
struct DoneBody {
  Label label;
  std::optional<Task> task;
  ConsumerSet all;  // without a task: at home at the sender
};
struct RetiredBody {
  Label label;
  std::optional<Task> task;  // that the demand was for
};

// Rows are labels with zero at their version index.
struct WatermarksBody {
  std::vector<std::pair<Label, int64_t>> done;
  std::vector<std::pair<Label, int64_t>> retired;
  // Digests of labels of these rows, also of dropped ones, see DigestLog.
  std::vector<RowDigests> digests;
  // The sender has handed over all labels that moved from it to the receiver.
  bool handover_complete = false;
};

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

// A body of the kinds about labels; and all bodies of a message, at least one.
Bytes EncodePublish(const Label& label, const Value& value);
absl::StatusOr<std::vector<PublishBody>> DecodePublish(absl::string_view body);
Bytes EncodeAnnounce(const AnnounceBody& body);
absl::StatusOr<std::vector<AnnounceBody>> DecodeAnnounce(
    absl::string_view body);
Bytes EncodeDemand(const DemandBody& body);
absl::StatusOr<std::vector<DemandBody>> DecodeDemand(absl::string_view body);
Bytes EncodeDone(const DoneBody& body);
absl::StatusOr<std::vector<DoneBody>> DecodeDone(absl::string_view body);
Bytes EncodeRetired(const RetiredBody& body);
absl::StatusOr<std::vector<RetiredBody>> DecodeRetired(absl::string_view body);

Bytes EncodeLend(const LendBody& body);
absl::StatusOr<LendBody> DecodeLend(absl::string_view body);
Bytes EncodeWatermarks(const WatermarksBody& body);
absl::StatusOr<WatermarksBody> DecodeWatermarks(absl::string_view body);
Bytes EncodeLookup(const LookupBody& body);
absl::StatusOr<LookupBody> DecodeLookup(absl::string_view body);
Bytes EncodeAnswer(const AnswerBody& body);
absl::StatusOr<AnswerBody> DecodeAnswer(absl::string_view body);
Bytes EncodeClaim(const ClaimBody& body);
absl::StatusOr<ClaimBody> DecodeClaim(absl::string_view body);
Bytes EncodeSteal(const StealBody& body);
absl::StatusOr<StealBody> DecodeSteal(absl::string_view body);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_MESSAGES_H_
