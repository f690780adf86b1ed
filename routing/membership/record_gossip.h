// RecordGossip: the records that membership gossips, and how two agents find
// those that differ (reconcile.h). Newer versions are taken in as they come;
// the bytes that are sent to find differences have a bound between two gossips,
// whatever is doubled or made up.
//
// A machine: no threads, clocks or sockets. Used by one thread.
#ifndef DOGGED_ROUTING_MEMBERSHIP_RECORD_GOSSIP_H_
#define DOGGED_ROUTING_MEMBERSHIP_RECORD_GOSSIP_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "routing/membership/gossip_codec.h"
#include "routing/membership/record_set.h"
#include "routing/transport/outbox.h"
#include "runtime/base/ids.h"

namespace dogged {

struct ReconcileMessage;

class RecordGossip {
 public:
  explicit RecordGossip(int64_t bytes_max) : bytes_max_(bytes_max) {}
  RecordGossip(const RecordGossip&) = delete;
  RecordGossip& operator=(const RecordGossip&) = delete;

  const RecordSet& set() const { return records_; }
  // Records that are new, or newer, are appended to `fresh`.
  void Merge(std::vector<std::pair<std::string, GossipRecord>> records,
             GossipNews& fresh);
  // A gossip: as many bytes may be sent again.
  void Refill() { bytes_left_ = bytes_max_; }
  // Sends sums or hashes of records, to find missing ones.
  void Start(AgentId to, Outbox& out);
  // Answers what `to` has said; false if there is nothing to say.
  bool Answer(AgentId to, const ReconcileMessage& heard, Outbox& out);

 private:
  void Send(AgentId to, const ReconcileMessage& message, Outbox& out);

  const int64_t bytes_max_;
  RecordSet records_;       // written by Merge() alone
  int64_t bytes_left_ = 0;  // that may be sent until the next gossip
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_RECORD_GOSSIP_H_
