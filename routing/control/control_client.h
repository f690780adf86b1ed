// ControlClient: the command line's side of the control port
// (control_socket.h), plain or with keys. It blocks, for as long as it is told;
// time in which this process was stopped does not count.
#ifndef DOGGED_ROUTING_CONTROL_CONTROL_CLIENT_H_
#define DOGGED_ROUTING_CONTROL_CONTROL_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "routing/control/polled_deadlines.h"
#include "routing/control/secure_channel.h"
#include "routing/trust/key_ring.h"
#include "runtime/base/bytes.h"

namespace dogged {

struct ControlFrame {
  uint8_t type = 0;
  Bytes body;
};

// A connection to an agent, as a client has it.
class ControlCaller {
 public:
  virtual ~ControlCaller() = default;

  // Errors: kUnavailable if the connection broke, kPermissionDenied if the
  // agent refuses it for its key, kUnimplemented if they have no version of the
  // wire in common, kDeadlineExceeded; after any of them the caller is of no
  // more use.
  virtual absl::Status Send(uint8_t type, absl::string_view body,
                            absl::Duration timeout) = 0;
  // The next frame. Errors as of Send, but after kDeadlineExceeded it may be
  // called again; kInvalidArgument for bytes that are no frame.
  virtual absl::StatusOr<ControlFrame> Receive(absl::Duration timeout) = 0;
  // Send, then Receive.
  virtual absl::StatusOr<ControlFrame> Call(uint8_t type,
                                            absl::string_view body,
                                            absl::Duration timeout) = 0;
};

class ControlClient : public ControlCaller {
 public:
  // With the keys `ring`, with certificates, both, or neither where they are
  // null. Errors: kInvalidArgument for a malformed address; kUnavailable,
  // naming the address, if nobody answers there within `timeout`;
  // kPermissionDenied, with the ids of both ends' keys, if they have none in
  // common, or with the names of a certificate that is not a member's. An agent
  // that does not take ours says so to the first frame.
  static absl::StatusOr<std::unique_ptr<ControlClient>> Connect(
      absl::string_view address, absl::Duration timeout,
      std::shared_ptr<const KeyRing> ring = nullptr,
      std::shared_ptr<const Certificates> certificates = nullptr);
  ~ControlClient() override;
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  absl::Status Send(uint8_t type, absl::string_view body,
                    absl::Duration timeout) override;
  absl::StatusOr<ControlFrame> Receive(absl::Duration timeout) override;
  absl::StatusOr<ControlFrame> Call(uint8_t type, absl::string_view body,
                                    absl::Duration timeout) override;
  const std::string& address() const { return address_; }

 private:
  ControlClient(int fd, std::string address)
      : fd_(fd), address_(std::move(address)) {}
  absl::Status Secure(std::shared_ptr<const KeyRing> ring,
                      std::shared_ptr<const Certificates> certificates,
                      PolledPatience& patience);
  // As Send() and Receive().
  absl::Status SendWithin(uint8_t type, absl::string_view body,
                          PolledPatience& patience);
  absl::StatusOr<ControlFrame> ReceiveWithin(PolledPatience& patience);
  // Sends what the channel has sealed.
  absl::Status SendSealed(PolledPatience& patience);
  // How many bytes the frame that has begun to come still lacks; 0 while nobody
  // knows. Makes room for all of it, and no more.
  size_t MissingBytes();
  // Takes what is there, or waits for it.
  absl::Status TakeSome(PolledPatience& patience);
  // Its words, if the frame is a Refusal, or a hello of too far a version.
  absl::Status RefusalOf(const ControlFrame& frame) const;
  // A send failed: because of a refusal, perhaps.
  absl::Status Broken(int error);
  // The frame at the front of received_, if it is all there. Errors: as
  // Receive().
  absl::StatusOr<ControlFrame> TakeFrame(bool& is_partial);
  // The same behind hellos.
  absl::StatusOr<ControlFrame> NextFrame(bool& is_partial);
  // The body, of so many bytes, of the frame at the front of received_, which
  // loses that frame. A large body is not copied, nor is its memory kept.
  Bytes TakeBody(int64_t bytes);

  int fd_;
  std::string address_;
  std::string received_;
  std::string hello_;                       // goes before the first frame
  std::unique_ptr<SecureChannel> channel_;  // null: it is plain
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_CONTROL_CONTROL_CLIENT_H_
