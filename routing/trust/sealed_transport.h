// SealedTransport: a transport whose messages only members of a cluster can
// forge, repeat or read. Stands before the transport to other hosts.
//
// Each incarnation has an ExchangeKey, whose public half travels with its
// address, in its member record. Two incarnations and a direction have a key of
// their own: from the secret of both halves and a key of the cluster, for both
// ids. So messages to or from an earlier incarnation are void, and what was
// recorded can't be read later with the cluster's key. Each message has a
// counter that its sender never used before, and counts once.
//
//   message: u32 magic "DGS1", u8 mode, u8 cipher, char[4] id of the cluster's
//            key, u64 counter, 32 bytes public half of the sender, the body
//            (encrypted if sealed), 16 bytes tag; little-endian.
//
// All but the body is associated data, with both ids. A message that does not
// open is dropped and counted. A relayed message is sealed anew at each hop.
#ifndef DOGGED_ROUTING_TRUST_SEALED_TRANSPORT_H_
#define DOGGED_ROUTING_TRUST_SEALED_TRANSPORT_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "routing/transport/transport.h"
#include "routing/trust/aead.h"
#include "routing/trust/exchange_key.h"
#include "routing/trust/key_ring.h"
#include "routing/trust/replay_window.h"
#include "routing/trust/wire_mode.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"

namespace dogged {

class SealedTransport : public Transport {
 public:
  static constexpr int64_t kHeaderBytes = 50;
  static constexpr int64_t kOverheadBytes = kHeaderBytes + Aead::kTagBytes;

  // The cluster's keys as they are now, not null.
  using Keys = std::function<std::shared_ptr<const KeyRing>()>;
  // `mode` is not kPlain.
  SealedTransport(AgentId self, std::unique_ptr<Transport> far, Keys keys,
                  WireMode mode, Aead::Cipher cipher = Aead::Fastest());

  void Send(AgentId to, Bytes message) override {
    SendParts(to, message, Bytes());
  }
  void SendParts(AgentId to, const Bytes& head, const Bytes& body) override;
  int64_t message_bytes_max(AgentId to) const override {
    return far_->message_bytes_max(to);
  }
  void Poll(std::vector<Arrival>& arrivals) override;
  void SetPeer(AgentId peer, absl::string_view fabric_address) override;
  void DropQueued(AgentId peer) override;
  void ForgetPeer(AgentId peer) override;
  // That of the far transport, kProtection, the mode, ':', the public half in
  // hex.
  std::string address() const override;
  int64_t queued_bytes(AgentId peer) const override {
    return far_->queued_bytes(peer);
  }
  int wait_fd() const override { return far_->wait_fd(); }
  bool PrepareToWait() override { return far_->PrepareToWait(); }
  void SetWaiting(bool is_waiting) override { far_->SetWaiting(is_waiting); }
  bool HasArrivals() const override { return far_->HasArrivals(); }
  int64_t dropped_count() const override {
    return unknown_count_ + far_->dropped_count();
  }
  // Messages that did not open: forged, repeated, of another incarnation, mode
  // or cluster.
  int64_t refused_count() const override { return refused_count_; }

 private:
  struct Header;
  // Takes keys that have changed.
  void Refresh();
  struct Peer {
    std::string public_half;  // empty: not told yet
    std::unique_ptr<Aead> seal;
    // Keys of what comes, by cluster's key and cipher.
    std::map<std::pair<std::string, uint8_t>, std::unique_ptr<Aead>> open;
    ReplayWindow window;
  };

  // The key of a direction; null if there is none for that half.
  std::unique_ptr<Aead> MakeAead(const Key& key, Aead::Cipher cipher,
                                 AgentId peer, absl::string_view public_half,
                                 Aead::Use use) const;
  // For an agent that is not among peers_: what it sent before counts as seen.
  ReplayWindow WindowOf(AgentId stranger) const;
  // The body; none if it does not open.
  std::optional<Bytes> Open(AgentId from, const Bytes& message);

  const AgentId self_;
  const std::unique_ptr<Transport> far_;
  const WireMode mode_;
  const Aead::Cipher cipher_;
  const ExchangeKey exchange_;
  const Keys keys_;
  std::shared_ptr<const KeyRing> ring_;
  std::map<AgentId, Peer> peers_;
  // Counters of forgotten peers up to which all were seen.
  std::map<AgentId, uint64_t> seen_;
  // Counter of the last message; for all peers and keys, so it never repeats.
  uint64_t counter_ = 0;
  int64_t refused_count_ = 0;
  int64_t unknown_count_ = 0;  // messages to peers whose half is not known
  std::vector<Arrival> arrived_;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_SEALED_TRANSPORT_H_
