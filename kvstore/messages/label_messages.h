// LabelMessage: what agents say to each other about labels of one job. The
// envelope names the job; the bodies here name labels and their readers. Every
// message is a hint: it may be lost, doubled, late, or about a view that has
// passed.
//
// The first six kinds, kPublish to kStored, speak of one label or of many, one
// body after the other (message_batcher.h gathers them). A body that is
// malformed makes the whole message so.
#ifndef DOGGED_KVSTORE_MESSAGES_LABEL_MESSAGES_H_
#define DOGGED_KVSTORE_MESSAGES_LABEL_MESSAGES_H_

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
#include "runtime/base/reader.h"
#include "runtime/base/split_bytes.h"
#include "runtime/base/value.h"

namespace dogged {

enum class LabelMessage : uint8_t {
  // "This label is bound, here is the value." To the homes of its readers, to
  // its other replicas, to whoever waits.
  kPublish = kFirstFreeKind,
  // "I hold this label, with this digest." An agent that lacks it demands it;
  // consumers' homes that are done report so.
  kAnnounce = kFirstFreeKind + 1,
  // "This reader needs this label."
  kDemand = kFirstFreeKind + 2,
  // "What this reader makes is durable: it needs this label no more." Of a
  // label with many readers: "so are those of all whose home I am."
  kDone = kFirstFreeKind + 3,
  // "This label was dropped: all its readers were done." To holders of copies,
  // and as the answer to a demand that is not certain.
  kRetired = kFirstFreeKind + 4,
  // "I hold a copy of this label."
  kStored = kFirstFreeKind + 5,
  // "These rows are yours now; so far were they bound and retired", or "I have
  // handed over all". A hint that saves the new home from making what was made.
  kWatermarks = kFirstFreeKind + 6,
  // As kPublish; the value lies in the sender's arena, lent to the receiver.
  kLend = kFirstFreeKind + 11,
  // Empty: "I take part in this job from now on."
  kStarted = kFirstFreeKind + 12,
};

// The kind is about labels, so that one message may be about many.
inline bool IsAboutLabels(LabelMessage kind) {
  return LabelMessage::kPublish <= kind && kind <= LabelMessage::kStored;
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
// How far a demand goes, in that order.
enum class DemandKind : uint8_t {
  kFetch,  // only to have the value sent once it is there: nobody searches
  kGuess,  // the label is made, too, unless watermarks say that it was
  // The chain of demands begins at a result that is not bound, so the label is
  // needed whatever watermarks say.
  kCertain,
  // The asker was told that the label was retired, and needs it all the same.
  // Without this a late or doubled demand would compute history again.
  kInsistent,
};
inline DemandKind GuessOrCertain(bool is_certain) {
  return is_certain ? DemandKind::kCertain : DemandKind::kGuess;
}
struct DemandBody {
  bool IsCertain() const { return kind >= DemandKind::kCertain; }

  Label label;
  // None: the asker wants the value for itself (a copy, a client).
  std::optional<Reader> reader;
  // Steps from the result or reader where the search began.
  int32_t depth = 0;
  DemandKind kind = DemandKind::kGuess;
};
// Readers of one label: how many, each as often as it reads the label, and the
// sum of their hashes. An agent that has another set in mind will not agree.
struct ConsumerSet {
  uint64_t count = 0;
  uint64_t hash_sum = 0;

  void Add(const Reader& reader) {
    ++count;
    hash_sum += reader.Hash();
  }
  friend bool operator==(const ConsumerSet&, const ConsumerSet&) = default;
};
struct DoneBody {
  Label label;
  std::optional<Reader> reader;
  ConsumerSet all;  // without a reader: those whose home the sender is
};
struct RetiredBody {
  Label label;
  std::optional<Reader> reader;  // that the demand was for
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

// A body of the kinds about labels; and all bodies of a message, at least one.
Bytes EncodePublish(const Label& label, const Value& value);
// The same, sharing the data of a long value, which lives as long.
SplitBytes SharePublish(const Label& label, const Value& value);
// A long value may keep what `body` keeps (Value::Decode).
absl::StatusOr<std::vector<PublishBody>> DecodePublish(const Bytes& body);
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

}  // namespace dogged

#endif  // DOGGED_KVSTORE_MESSAGES_LABEL_MESSAGES_H_
