// FabricLink: a connection that carries messages one way.
//
// A message is preceded by 12 bytes, its head: u32 magic, u64 length,
// little-endian. The receiver has one receive posted at a time, for a message
// of any length; the provider leaves bytes to TCP until there is one. A long
// message keeps the buffer that it came to, a short one is copied: on the way
// no other copy is made. Pages of a buffer are taken as bytes fill them, and
// returned once only small messages come: else each connection of an agent at
// rest would hold the longest message that it has carried.
#ifndef DOGGED_ROUTING_FABRIC_FABRIC_LINK_H_
#define DOGGED_ROUTING_FABRIC_FABRIC_LINK_H_

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "routing/fabric/fabric_buffers.h"
#include "routing/fabric/fabric_domain.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"

namespace dogged {

class FabricLink;

// Context of an operation, which its completion points to. libfabric writes
// into `context`, which therefore stands first.
struct FabricOperation {
  void* context[8];  // a fi_context2
  FabricLink* link = nullptr;
};

class FabricLink {
 public:
  enum class Way { kOut, kIn };
  enum class Handed { kAll, kAgain, kBroken };
  struct Completed {
    // The length of a message that was sent.
    std::optional<int64_t> sent_bytes;
    // A message that has arrived, whole.
    std::optional<Bytes> message;
    // The bytes that arrived are no message: the link is of no use.
    bool is_sound = true;
  };
  struct Lost {
    int64_t messages = 0;
    int64_t bytes = 0;
  };

  // Messages go to `peer`, or come from it.
  FabricLink(AgentId peer, Way way) : peer_(peer), way_(way) {}

  AgentId peer() const { return peer_; }
  Way way() const { return way_; }
  fid_ep* endpoint() const { return endpoint_.get(); }
  void Open(FidPtr<fid_ep> endpoint) { endpoint_ = std::move(endpoint); }
  // Ends the connection; says what was not sent. The link must live until
  // libfabric has given back its operations.
  Lost Close();
  bool IsClosed() const { return endpoint_ == nullptr; }
  bool HasOperations() const { return operation_count_ > 0; }

  // Takes a message in two parts, for the next HandOver().
  void Add(Bytes head, Bytes body);
  // Hands messages to libfabric. kAgain: the rest later. kBroken: they can't
  // be sent by this link any more.
  Handed HandOver();
  // Messages that were added and not sent yet.
  int64_t unsent_count() const { return std::ssize(sending_); }

  // Posts a receive for the next message, with a buffer of `pool`. Errors:
  // libfabric's code.
  ssize_t Receive(BufferPool& pool);
  // Takes back `operation`, which has moved `bytes`; posts the next receive
  // after a message.
  Completed Complete(absl::Time now, const FabricOperation* operation,
                     int64_t bytes, const std::shared_ptr<BufferPool>& pool);
  // Takes back an operation that failed.
  void NoteFailed() { --operation_count_; }

 private:
  static constexpr int64_t kHeadBytes = 12;

  // A message on its way out.
  struct Outgoing : FabricOperation {
    Outgoing(Bytes head, Bytes body);
    int64_t bytes() const { return head.size() + body.size(); }

    const Bytes head;
    const Bytes body;
    std::array<char, kHeadBytes> link_head{};
    std::array<iovec, 3> pieces{};
    bool is_handed = false;
  };

  const AgentId peer_;
  const Way way_;
  FidPtr<fid_ep> endpoint_;
  int operation_count_ = 0;  // in libfabric's hands
  // In order; completions are, too.
  std::deque<std::unique_ptr<Outgoing>> sending_;
  FabricOperation receiving_;
  std::array<char, kHeadBytes> head_{};
  BufferPool::Buffer buffer_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_FABRIC_FABRIC_LINK_H_
