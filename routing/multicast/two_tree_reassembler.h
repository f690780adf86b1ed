// TwoTreeReassembler: joins bodies that came as two streams, each along a tree
// of its own (planner.h). A body whose other half doesn't come is dropped.
#ifndef DOGGED_ROUTING_MULTICAST_TWO_TREE_REASSEMBLER_H_
#define DOGGED_ROUTING_MULTICAST_TWO_TREE_REASSEMBLER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "routing/stream/stream.h"
#include "runtime/base/bytes.h"

namespace dogged {

class TwoTreeReassembler {
 public:
  // Takes a half, as `delivery.part` says. Appends the whole body once it has
  // both, or the tag when the agent said of either that it needs no bytes.
  //
  // Cost:   one copy of the body.
  void Add(absl::Time now, Delivery delivery,
           std::vector<Delivery>& deliveries);

  // Drops halves that came before `before`.
  void Expire(absl::Time before);

  int64_t held_count() const { return std::ssize(held_); }

 private:
  struct Half {
    Delivery delivery;
    absl::Time came;
  };
  std::map<StreamKey, Half> held_;  // by the key of the first half
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MULTICAST_TWO_TREE_REASSEMBLER_H_
