// Deliveries: results that clients wait for, and frames on their way to them:
// lent, where a client maps this host's arenas, else as bytes.
//
// Each message wakes a client, on the processor of a worker as a rule. So of
// results that come one by one a client is told together, after kTogether at
// most; the last of those it waits for take the others along at once.
//
// A data structure: no sockets, no clock. Used by one thread at a time.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_DELIVERIES_H_
#define DOGGED_RUNTIME_AGENT_LOOP_DELIVERIES_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "kvstore/lending/lending.h"
#include "routing/control/control_socket.h"
#include "runtime/agent/loop/control.h"
#include "runtime/base/label.h"

namespace dogged {

class Deliveries {
 public:
  static constexpr absl::Duration kTogether = absl::Milliseconds(20);
  using Send = absl::FunctionRef<void(ConnectionId, const ValuesReply&)>;

  // Sets the test whether more may be sent to a client: results that it does
  // not take wait here, as values, not as frames. True by default.
  void SetRoom(std::function<bool(ConnectionId)> has_room) {
    has_room_ = std::move(has_room);
  }
  void Want(ConnectionId client, const WantRequest& request);
  // The connection of `client` has ended.
  void Forget(ConnectionId client);
  // Adds the value of `label` for all clients that wait for it. Full frames are
  // sent. `lending` may be null.
  void Add(JobId job, const Label& label, const Value& value,
           const Lending* lending, Send send);
  // Sends frames that are due.
  void SendDue(absl::Time now, Send send);
  absl::Time next_due() const { return next_due_; }
  // `client` has copied all that it was lent up to loan `number`.
  void TakeBack(ConnectionId client, uint64_t number);
  // Clients that wait or have borrowed; some of them more than once.
  std::vector<ConnectionId> Clients() const;

 private:
  // Borrower: values that a client has borrowed and not returned, oldest first.
  struct Borrower {
    std::deque<Value> held;
    int64_t bytes = 0;
    uint64_t returned = 0;  // how many loans are not in `held` any more
  };
  struct OutgoingMessage {
    ConnectionId client;
    bool may_borrow = false;
  };
  // Parcel: results gathered for a client's requests in a job.
  struct Parcel {
    ValuesReply reply;
    int64_t bytes = 0;                       // of the values in it
    int64_t messages = 0;                    // that have not been met
    absl::Time last = absl::InfinitePast();  // when one was sent
    bool is_held = false;                    // for want of room

    bool empty() const { return reply.values.empty() && reply.lent.empty(); }
    absl::Time due() const {
      return messages == 0 && !is_held ? absl::InfinitePast()
                                       : last + kTogether;
    }
  };

  // In frames, as far as there is room.
  void SendParcel(ConnectionId client, Parcel& parcel, Send send);
  // Puts into `reply` where `value` is, and holds it until it is returned.
  // False if it can't be lent.
  bool Lend(ConnectionId client, const Label& label, const Value& value,
            const Lending* lending, ValuesReply& reply);

  std::map<std::pair<JobId, Label>, std::vector<OutgoingMessage>> wanted_;
  std::map<std::pair<ConnectionId, JobId>, Parcel> parcels_;
  std::map<ConnectionId, Borrower> borrowers_;
  absl::Time next_due_ = absl::InfiniteFuture();
  std::function<bool(ConnectionId)> has_room_ = [](ConnectionId) {
    return true;
  };
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_DELIVERIES_H_
