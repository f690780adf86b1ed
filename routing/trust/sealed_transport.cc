#include "routing/trust/sealed_transport.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "routing/trust/hex.h"
#include "routing/trust/hkdf.h"
#include "runtime/base/check.h"
#include "runtime/base/codec.h"

namespace dogged {
namespace {

constexpr absl::string_view kSealMagic = "DGS1";
std::shared_ptr<char[]> Uninitialized(int64_t size) {
  return std::make_shared_for_overwrite<char[]>(static_cast<size_t>(size));
}

// Both ids, which no message carries here: the far transport does.
std::string Direction(AgentId source, AgentId target) {
  Encoder encoder;
  encoder.PutId(source);
  encoder.PutId(target);
  return encoder.Take();
}

}  // namespace

struct SealedTransport::Header {
  uint8_t mode = 0;
  uint8_t cipher = 0;
  std::string key_id;
  uint64_t counter = 0;
  absl::string_view public_half;

  std::string Encode() const {
    Encoder encoder;
    encoder.PutRaw(kSealMagic);
    encoder.PutU8(mode);
    encoder.PutU8(cipher);
    encoder.PutRaw(key_id);
    encoder.PutU64(counter);
    encoder.PutRaw(public_half);
    return encoder.Take();
  }
  // `bytes` has kHeaderBytes. None for other magic.
  static std::optional<Header> Decode(absl::string_view bytes) {
    if (bytes.substr(0, kSealMagic.size()) != kSealMagic) return std::nullopt;
    Decoder decoder(bytes.substr(kSealMagic.size()));
    Header header;
    header.mode = decoder.GetU8();
    header.cipher = decoder.GetU8();
    const size_t at = kSealMagic.size() + 2;
    header.key_id = std::string(bytes.substr(at, Key::kIdDigits));
    Decoder rest(bytes.substr(at + Key::kIdDigits));
    header.counter = rest.GetU64();
    header.public_half = bytes.substr(bytes.size() - ExchangeKey::kBytes);
    return header;
  }
};

SealedTransport::SealedTransport(AgentId self, std::unique_ptr<Transport> far,
                                 Keys keys, WireMode mode, Aead::Cipher cipher)
    : self_(self),
      far_(std::move(far)),
      mode_(mode),
      cipher_(cipher),
      keys_(std::move(keys)),
      ring_(keys_()) {
  DOGGED_CHECK(mode != WireMode::kPlain);
}

std::string SealedTransport::address() const {
  return absl::StrCat(far_->address(), std::string(1, kProtection),
                      WireModeText(mode_), ":",
                      absl::BytesToHexString(exchange_.public_half()));
}

void SealedTransport::Refresh() {
  std::shared_ptr<const KeyRing> ring = keys_();
  if (ring == ring_) return;
  ring_ = std::move(ring);
  for (auto& [id, peer] : peers_) {
    peer.seal = nullptr;
    peer.open.clear();
  }
}

std::unique_ptr<Aead> SealedTransport::MakeAead(const Key& key,
                                                Aead::Cipher cipher,
                                                AgentId peer,
                                                absl::string_view public_half,
                                                Aead::Use use) const {
  std::optional<std::string> secret = exchange_.SecretWith(public_half);
  if (!secret.has_value()) return nullptr;
  const bool seals = use == Aead::Use::kSeal;
  const absl::string_view own = exchange_.public_half();
  std::string salt = key.Derive("dogged data 1", Aead::kKeyBytes);
  std::string direction =
      Hkdf(salt, *secret,
           absl::StrCat(seals ? Direction(self_, peer) : Direction(peer, self_),
                        seals ? own : public_half, seals ? public_half : own,
                        std::string(1, static_cast<char>(cipher))),
           Aead::kKeyBytes);
  auto aead = std::make_unique<Aead>(cipher, direction, use);
  Wipe(*secret);
  Wipe(salt);
  Wipe(direction);
  return aead;
}

ReplayWindow SealedTransport::WindowOf(AgentId stranger) const {
  const auto forgotten = seen_.find(stranger);
  return ReplayWindow(forgotten == seen_.end() ? 0 : forgotten->second);
}

void SealedTransport::SetPeer(AgentId peer, absl::string_view fabric_address) {
  fabric_address = fabric_address.substr(0, fabric_address.find(kOtherWay));
  const size_t at = fabric_address.find(kProtection);
  far_->SetPeer(peer, fabric_address.substr(0, at));
  std::string half;
  // Peers with another protection get nothing from here; agents that
  // meet are told so.
  if (ProtectionOf(fabric_address) == WireModeText(mode_)) {
    half = BytesOfHex(fabric_address.substr(fabric_address.find(':', at) + 1));
  }
  auto [entry, is_new] = peers_.try_emplace(peer);
  Peer& known = entry->second;
  if (is_new) known.window = WindowOf(peer);
  if (known.public_half == half) return;
  known.public_half = half;
  known.seal = nullptr;
  known.open.clear();
}

void SealedTransport::DropQueued(AgentId peer) { far_->DropQueued(peer); }

void SealedTransport::ForgetPeer(AgentId peer) {
  far_->ForgetPeer(peer);
  const auto entry = peers_.find(peer);
  if (entry == peers_.end()) return;
  seen_[peer] = entry->second.window.highest();
  peers_.erase(entry);
}

void SealedTransport::SendParts(AgentId to, const Bytes& head,
                                const Bytes& body) {
  const auto entry = peers_.find(to);
  if (entry != peers_.end() && entry->second.seal == nullptr) {
    entry->second.seal = MakeAead(ring_->used(), cipher_, to,
                                  entry->second.public_half, Aead::Use::kSeal);
  }
  if (entry == peers_.end() || entry->second.seal == nullptr) {
    ++unknown_count_;
    return;
  }
  const std::string header =
      Header{
          .mode = static_cast<uint8_t>(mode_),
          .cipher = static_cast<uint8_t>(cipher_),
          .key_id = ring_->used().id(),
          .counter = ++counter_,
          .public_half = exchange_.public_half(),
      }
          .Encode();
  const std::string direction = Direction(self_, to);
  const int64_t size = head.size() + body.size() + kOverheadBytes;
  const std::shared_ptr<char[]> sealed = Uninitialized(size);
  char* const text = sealed.get() + kHeaderBytes;
  char* const tag = text + head.size() + body.size();
  std::memcpy(sealed.get(), header.data(), header.size());
  Aead& seal = *entry->second.seal;
  if (mode_ == WireMode::kSealed) {
    seal.Seal(counter_, {{header, direction}}, {{head.view(), body.view()}},
              text, tag);
  } else {
    std::copy_n(head.data(), head.size(), text);
    std::copy_n(body.data(), body.size(), text + head.size());
    seal.Seal(counter_, {{header, direction, head.view(), body.view()}}, {},
              nullptr, tag);
  }
  far_->Send(to, Bytes(sealed, absl::string_view(sealed.get(),
                                                 static_cast<size_t>(size))));
}

std::optional<Bytes> SealedTransport::Open(AgentId from, const Bytes& message) {
  if (message.size() < kOverheadBytes) return std::nullopt;
  const absl::string_view all = message.view();
  const absl::string_view encoded = all.substr(0, kHeaderBytes);
  const std::optional<Header> header = Header::Decode(encoded);
  if (!header.has_value() || header->mode != static_cast<uint8_t>(mode_) ||
      !Aead::IsCipher(header->cipher)) {
    return std::nullopt;
  }
  const Key* const key = ring_->Find(header->key_id);
  if (key == nullptr) return std::nullopt;
  // A member that this one has not heard of yet is known by its message.
  Peer stranger;
  const auto entry = peers_.find(from);
  Peer& peer = entry == peers_.end() ? stranger : entry->second;
  if (entry == peers_.end()) {
    peer.window = WindowOf(from);
  } else if (peer.public_half != header->public_half) {
    return std::nullopt;
  }
  if (!peer.window.IsNew(header->counter)) return std::nullopt;
  const std::pair<std::string, uint8_t> which{header->key_id, header->cipher};
  const auto cached = peer.open.find(which);
  std::unique_ptr<Aead> made;
  if (cached == peer.open.end()) {
    made = MakeAead(*key, static_cast<Aead::Cipher>(header->cipher), from,
                    header->public_half, Aead::Use::kOpen);
    if (made == nullptr) return std::nullopt;
  }
  Aead& open = made != nullptr ? *made : *cached->second;
  const std::string direction = Direction(from, self_);
  const absl::string_view body =
      all.substr(kHeaderBytes, all.size() - kOverheadBytes);
  const absl::string_view tag = all.substr(all.size() - Aead::kTagBytes);
  Bytes out;
  if (mode_ == WireMode::kSealed) {
    const std::shared_ptr<char[]> text = Uninitialized(std::ssize(body));
    if (!open.Open(header->counter, {{encoded, direction}}, body, tag,
                   text.get())) {
      return std::nullopt;
    }
    out = Bytes(text, absl::string_view(text.get(), body.size()));
  } else {
    if (!open.Open(header->counter, {{encoded, direction, body}}, "", tag,
                   nullptr)) {
      return std::nullopt;
    }
    out = message.Slice(kHeaderBytes, std::ssize(body));
  }
  // Only now is the sender known to be a member.
  Peer& member =
      entry == peers_.end()
          ? peers_.try_emplace(from, std::move(stranger)).first->second
          : peer;
  member.public_half = std::string(header->public_half);
  member.window.Add(header->counter);
  if (made != nullptr) member.open.emplace(which, std::move(made));
  return out;
}

void SealedTransport::Poll(std::vector<Arrival>& arrivals) {
  Refresh();
  far_->Poll(arrived_);
  for (Arrival& arrival : arrived_) {
    std::optional<Bytes> message = Open(arrival.from, arrival.message);
    if (!message.has_value()) {
      ++refused_count_;
      continue;
    }
    arrivals.push_back({arrival.from, *std::move(message)});
  }
  arrived_.clear();
}

}  // namespace dogged
