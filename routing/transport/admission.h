// Admission: the port through which a transport has its connections admitted.
//
// A library that carries bytes believes whoever connects to its port. So no
// stranger reaches that port: before a transport connects, its agent asks the
// other one, over a channel that only members have, and that one lets this
// connection in, and no other. Used by the thread that uses the transport.
#ifndef DOGGED_ROUTING_TRANSPORT_ADMISSION_H_
#define DOGGED_ROUTING_TRANSPORT_ADMISSION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "runtime/base/ids.h"

namespace dogged {

// A connection that wants to be admitted by `to`.
struct AdmissionRequest {
  AgentId to;
  std::string words;  // for Admission::Admit there
};

class Admission {
 public:
  virtual ~Admission() = default;

  // Requests made since the last call; none where all may connect. Each one
  // wants a Settle().
  virtual std::vector<AdmissionRequest> TakeRequests() = 0;

  // `to` has admitted the connection, or can't be asked for now.
  virtual void Settle(AgentId to, bool is_admitted) = 0;

  // A member, heard from the numeric address `host` (SocketAddress::Host()),
  // asks with `words`: its connection may come within the next seconds.
  //
  // Errors: kInvalidArgument for words that are none, kNotFound if they are for
  // another incarnation, kResourceExhausted while too many are expected.
  virtual absl::Status Admit(absl::string_view host,
                             absl::string_view words) = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRANSPORT_ADMISSION_H_
