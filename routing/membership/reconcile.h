// Reconciling: how two agents whose records differ find the ones that do, and
// give them to each other. Of a few that differ among very many only these
// travel, and some kilobytes of sums.
//
// A message says sums over ranges of places; the answer, for the ranges where
// the other's differ, sums over parts of them or, where there are few records,
// their hashes; the answer to those, the records that differ here and the
// places of those that are wanted; the last one brings these. There is no other
// state than the records themselves: each message is a hint, and may be lost,
// doubled or late.
//
// Each message has at most one answer, and each is bounded. What is left out
// for that is found by beginning again.
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
  // Of the sender's records in the 2^ways equal parts of `range`.
  struct Sums {
    RecordRange range;
    int ways = 0;
    std::vector<uint64_t> sums;
  };
  // All that the sender has in `range`, in order.
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

// What to say to it; empty if there is nothing to say. The records in `heard`
// are for the caller to put in before.
ReconcileMessage AnswerReconcile(const RecordSet& set,
                                 const ReconcileMessage& heard);

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_RECONCILE_H_
