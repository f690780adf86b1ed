// What agents say to each other about one job. The envelope names the job;
// the bodies here name labels and tasks. Every message is a hint: it may be
// lost, doubled, late, or about a view that has passed.
//
// The first six kinds, kPublish to kStored, speak of labels: of one or of many,
// one body after the other (bulks.h gathers them). One that is malformed makes
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
#include "runtime/job/search/walk.h"

namespace dogged {

enum class JobMessage : uint8_t {
  // "This label is bound, here is the value." To the homes of its consumers,
  // to its other replicas, to whoever waits.
  kPublish = kFirstFreeKind,
  // "I hold this label, with this digest." Whoever lacks it demands it; who
  // is through with it says so.
  kAnnounce = kFirstFreeKind + 1,
  // "This task needs this label."
  kDemand = kFirstFreeKind + 2,
  // "This task's outputs are durable: it needs this label no more." Of a label
  // with many consumers: "so are those of all whose home I am."
  kDone = kFirstFreeKind + 3,
  // "This label was dropped: all its consumers were done." To holders of
  // copies, and as the answer to a demand that is not certain.
  kRetired = kFirstFreeKind + 4,
  // "I hold a copy of this label."
  kStored = kFirstFreeKind + 5,
  // "These rows are yours now; so far were they bound and retired", or "I have
  // handed over all". A hint that saves the new home from running what is done.
  kWatermarks = kFirstFreeKind + 6,
  // A searcher: "is this label bound?" And what its home says.
  kLookup = kFirstFreeKind + 7,
  kAnswer = kFirstFreeKind + 8,
  // A searcher: "I run this task", again while it does. And whether nobody
  // else does.
  kClaim = kFirstFreeKind + 9,
  kClaimed = kFirstFreeKind + 10,
  // As kPublish; the value lies in the sender's arena, lent to the receiver.
  kLend = kFirstFreeKind + 11,
  // Empty: "I take part in this job from now on."
  kStarted = kFirstFreeKind + 12,
  // An idle agent: "I have room for so many tasks." And, some time later: "run
  // this one", in the form of a claim; what the sender has of its inputs
  // follows.
  kSteal = kFirstFreeKind + 13,
  kGranted = kFirstFreeKind + 14,
};

// Empty: "I leave, and hold results of this job, which is over, that no client
// has fetched." Whoever has no part in it begins one, to keep them.
inline constexpr uint8_t kKeepResults = kFirstFreeKind + 29;

// Of labels, so that one message may speak of many.
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
  // needed whatever done-watermarks say.
  bool certain = false;
  // The asker was told that the label was retired, and needs it all the same.
  // Without this a late or doubled demand would compute history again.
  bool insist = false;
  // Do not search, only send the value once it is there.
  bool lazy = false;
};
// Consumers of one label: how many, each as often as it reads the label, and
// the sum of their hashes. Whoever has another set in mind will not agree.
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
  ConsumerSet all;  // without a task: those whose home the sender is
};
struct RetiredBody {
  Label label;
  std::optional<Task> task;  // the one that the demand was for
};

// Rows are labels with zero at their version index.
struct WatermarksBody {
  std::vector<std::pair<Label, int64_t>> done;
  std::vector<std::pair<Label, int64_t>> retired;
  // Of labels of these rows, also of those that were dropped, see DigestLog.
  std::vector<RowDigests> digests;
  // The sender has handed over all that was its own and is the receiver's now.
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

// One body of the kinds that speak of labels; and all that a message of them
// holds, at least one.
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
