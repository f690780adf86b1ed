// Halves: puts bodies together again that came as two streams, each along a
// tree of its own (planner.h). What lacks its other half for long is dropped.
#ifndef DOGGED_ROUTING_HALVES_H_
#define DOGGED_ROUTING_HALVES_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/time/time.h"
#include "routing/stream.h"
#include "runtime/base/bytes.h"

namespace dogged {

class Halves {
 public:
  // Takes a half, as `delivery.part` says; a whole body once it has both, or
  // the tag when the agent said of either that it needs no bytes.
  //
  // Cost:   one copy of the body.
  void Add(absl::Time now, Delivery delivery,
           std::vector<Delivery>& deliveries);

  // Drops those that came before `before`.
  void Expire(absl::Time before);

  int64_t held_count() const { return static_cast<int64_t>(held_.size()); }

 private:
  struct Half {
    Delivery delivery;
    absl::Time came;
  };
  std::map<StreamKey, Half> held_;  // by the key of the first half
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_HALVES_H_
