// Reconciling: two agents find the records in which they differ, and send these
// to each other. If few of very many records differ, only the few travel, and
// some kilobytes of sums.
//
// A message carries sums over ranges of places. The answer describes the ranges
// whose sums differ: by sums over parts of them or, where there are few
// records, by their hashes. The answer to hashes carries the records that
// differ and the places of records that are wanted; the last message carries
// the latter. There is no state but the records themselves: each message is a
// hint, and may be lost, doubled or late.
//
// Each message has at most one answer, and each is bounded. Differences that
// did not fit are found by beginning again.
#ifndef DOGGED_ROUTING_MEMBERSHIP_RECONCILE_H_
#define DOGGED_ROUTING_MEMBERSHIP_RECONCILE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "routing/membership/record_set.h"
#include "runtime/base/bytes.h"

namespace dogged {

struct ReconcileMessage {
  // Sums of the sender's records in the 2^ways equal parts of `range`.
  struct Sums {
    RecordRange range;
    int ways = 0;
    std::vector<uint64_t> sums;
  };
  // Hashes of all records that the sender has in `range`, in order.
  struct Prints {
    RecordRange range;
    std::vector<RecordPrint> prints;
  };

  std::vector<Sums> sums;
  std::vector<Prints> prints;
  std::vector<uint64_t> wanted;  // places
  std::vector<std::pair<std::string, GossipRecord>> records;
  // Something was left out, in this message or in one before it.
  bool has_more = false;

  bool empty() const {
    return sums.empty() && prints.empty() && wanted.empty() && records.empty();
  }
  Bytes Encode() const;
  // Errors: kInvalidArgument for ranges, parts or counts that can't be, and for
  //         hashes out of order or out of their range.
  static absl::StatusOr<ReconcileMessage> Decode(absl::string_view body);
};

// The first message.
ReconcileMessage StartReconcile(const RecordSet& set);

// The answer to `heard`; empty if nothing differs. The caller first puts the
// records of `heard` into `set`.
ReconcileMessage AnswerReconcile(const RecordSet& set,
                                 const ReconcileMessage& heard);

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_RECONCILE_H_
