// View: one agent's list of live members, sorted, immutable. Two agents'
// views may differ for a while; equal digests mean equal members.
#ifndef DOGGED_ROUTING_MEMBERSHIP_VIEW_H_
#define DOGGED_ROUTING_MEMBERSHIP_VIEW_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "routing/topology/topology_id.h"
#include "runtime/base/codec.h"
#include "runtime/base/ids.h"
#include "runtime/base/wire_version.h"

namespace dogged {

// Member: the facts about an agent that never change during its incarnation.
struct Member {
  AgentId id;  // the incarnation
  TopologyId topology_id;
  std::string host;             // name of the computer
  std::string control_address;  // HOST:PORT of the control port
  std::string fabric_address;   // Transport::address()
  int32_t workers = 0;
  // Text that decides the bits of results beside the job; agents of equal text
  // give equal bits. Opaque here.
  std::string numeric_class;
  // Where agents of its host find its arena: SharedMemory::address().
  std::string arena;
  WireRange wire;    // that it speaks
  std::string more;  // fields of a later version, passed on as they came

  void EncodeTo(Encoder& encoder) const;
  // A malformed member marks the decoder as failed.
  static Member DecodeFrom(Decoder& decoder);
  friend bool operator==(const Member&, const Member&) = default;
};

class View {
 public:
  View() = default;
  // `members` in any order, with distinct IDs.
  explicit View(std::vector<Member> members);

  // In order of `id`.
  const std::vector<Member>& members() const { return members_; }
  int64_t size() const { return std::ssize(members_); }
  bool Contains(AgentId id) const { return Find(id) != nullptr; }
  // Null if there is none. Valid as long as the view.
  const Member* Find(AgentId id) const;
  ViewDigest digest() const { return digest_; }
  // Versions of the wire that all members speak; the newest one is what they
  // say to each other.
  const WireRange& wire() const { return wire_; }

 private:
  std::vector<Member> members_;
  ViewDigest digest_;
  WireRange wire_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_MEMBERSHIP_VIEW_H_
