// Aim: what a stranger on the network records, changes, repeats or makes up has
// no effect but to be counted, and tells nothing; members understand each other
// while their keys change. Method: the transport over one whose messages the
// test carries by hand.
#include "routing/trust/sealed_transport.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "routing/trust/hex.h"
#include "routing/trust/hkdf.h"
#include "runtime/base/random.h"

namespace dogged {
namespace {

struct Sent {
  AgentId from;
  AgentId to;
  std::string bytes;
};

// Its messages lie on `wire`; the test puts arrivals into `inbox`.
class HandCarried : public Transport {
 public:
  HandCarried(AgentId self, std::vector<Sent>& wire, std::deque<Arrival>& inbox)
      : self_(self), wire_(wire), inbox_(inbox) {}
  void Send(AgentId to, Bytes message) override {
    wire_.push_back({self_, to, std::string(message.view())});
  }
  void Poll(std::vector<Arrival>& arrivals) override {
    for (Arrival& arrival : inbox_) arrivals.push_back(std::move(arrival));
    inbox_.clear();
  }
  void SetPeer(AgentId /*peer*/, absl::string_view address) override {
    EXPECT_EQ(address, "10.0.0.1:7");
  }
  void ForgetPeer(AgentId /*peer*/) override {}
  std::string address() const override { return "10.0.0.1:7"; }
  int64_t queued_bytes(AgentId /*peer*/) const override { return 0; }

 private:
  const AgentId self_;
  std::vector<Sent>& wire_;
  std::deque<Arrival>& inbox_;
};

class Member {
 public:
  Member(uint64_t id, std::vector<Sent>& wire, const KeyRing& ring,
         WireMode mode = WireMode::kSealed,
         Aead::Cipher cipher = Aead::Cipher::kAes256Gcm)
      : id_(id),
        ring_(std::make_shared<const KeyRing>(ring)),
        transport_(
            id_, std::make_unique<HandCarried>(id_, wire, inbox_),
            [this] { return ring_; }, mode, cipher) {}
  void SetRing(const KeyRing& ring) {
    ring_ = std::make_shared<const KeyRing>(ring);
    std::vector<Arrival> none;
    transport_.Poll(none);
  }
  void Knows(const Member& other) {
    transport_.SetPeer(other.id_, other.transport_.address());
  }
  void Send(const Member& to, const std::string& text) {
    transport_.Send(to.id_, Bytes(text));
  }
  // Texts of it that get through, as coming from `from`.
  std::vector<std::string> Take(AgentId from, const std::string& bytes) {
    inbox_.push_back({from, Bytes(bytes)});
    std::vector<Arrival> arrivals;
    transport_.Poll(arrivals);
    std::vector<std::string> out;
    for (const Arrival& arrival : arrivals) {
      EXPECT_EQ(arrival.from, from);
      out.emplace_back(arrival.message.view());
    }
    return out;
  }
  std::vector<std::string> Take(const Sent& sent) {
    return Take(sent.from, sent.bytes);
  }
  AgentId id() const { return id_; }
  SealedTransport& transport() { return transport_; }

 private:
  const AgentId id_;
  std::shared_ptr<const KeyRing> ring_;
  std::deque<Arrival> inbox_;
  SealedTransport transport_;
};

using Texts = std::vector<std::string>;

KeyRing RingOf(const std::string& digit) {
  std::string hex;
  for (int i = 0; i < 64; ++i) hex += digit;
  return KeyRing(*Key::Parse(hex));
}

struct Pair {
  explicit Pair(WireMode mode = WireMode::kSealed,
                Aead::Cipher cipher = Aead::Cipher::kAes256Gcm)
      : a(1, wire, RingOf("1"), mode, cipher),
        b(2, wire, RingOf("1"), mode, cipher) {
    a.Knows(b);
    b.Knows(a);
  }
  // A message of a's as it is on the wire.
  Sent FromA(const std::string& text) {
    a.Send(b, text);
    return wire.back();
  }

  std::vector<Sent> wire;
  Member a;
  Member b;
};

TEST(SealedTransport, MembersUnderstandEachOther) {
  for (const WireMode mode : {WireMode::kSealed, WireMode::kSigned}) {
    for (const auto cipher :
         {Aead::Cipher::kAes256Gcm, Aead::Cipher::kChaCha20Poly1305}) {
      Pair pair(mode, cipher);
      for (const size_t size : {0, 1, 100, 33000}) {
        const std::string text(size, 'x');
        EXPECT_EQ(pair.b.Take(pair.FromA(text)), Texts{text});
        pair.b.Send(pair.a, text);
        EXPECT_EQ(pair.a.Take(pair.wire.back()), Texts{text});
        EXPECT_EQ(std::ssize(pair.wire.back().bytes),
                  static_cast<int64_t>(size) + SealedTransport::kOverheadBytes);
      }
      EXPECT_EQ(pair.b.transport().dropped_count(), 0);
    }
  }
  // Each has the cipher that it is fast with.
  std::vector<Sent> wire;
  Member a(1, wire, RingOf("1"), WireMode::kSealed, Aead::Cipher::kAes256Gcm);
  Member b(2, wire, RingOf("1"), WireMode::kSealed,
           Aead::Cipher::kChaCha20Poly1305);
  a.Knows(b);
  b.Knows(a);
  a.Send(b, "there");
  EXPECT_EQ(b.Take(wire.back()), Texts{"there"});
  b.Send(a, "and back");
  EXPECT_EQ(a.Take(wire.back()), Texts{"and back"});
}

TEST(SealedTransport, StrangersReadNothing) {
  Pair sealed(WireMode::kSealed);
  const std::string text = "phi(17)(3) = 3.14159";
  for (int i = 0; i < 3; ++i) (void)sealed.FromA(text);
  for (const Sent& sent : sealed.wire) {
    for (size_t at = 0; at + 8 <= text.size(); ++at) {
      EXPECT_EQ(sent.bytes.find(text.substr(at, 8)), std::string::npos);
    }
  }
  // Nor whether two messages are the same.
  EXPECT_NE(sealed.wire[0].bytes.substr(SealedTransport::kHeaderBytes),
            sealed.wire[1].bytes.substr(SealedTransport::kHeaderBytes));
  Pair signed_only(WireMode::kSigned);
  EXPECT_NE(signed_only.FromA(text).bytes.find(text), std::string::npos);
}

TEST(SealedTransport, EachChangedBitIsRefused) {
  for (const WireMode mode : {WireMode::kSealed, WireMode::kSigned}) {
    Pair pair(mode);
    const Sent sent = pair.FromA("value");
    for (size_t bit = 0; bit < 8 * sent.bytes.size(); ++bit) {
      std::string changed = sent.bytes;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
      EXPECT_EQ(pair.b.Take(sent.from, changed), Texts{}) << "bit " << bit;
    }
    for (size_t size = 0; size < sent.bytes.size(); ++size) {
      EXPECT_EQ(pair.b.Take(sent.from, sent.bytes.substr(0, size)), Texts{});
      EXPECT_EQ(pair.b.Take(sent.from, sent.bytes.substr(size + 1)), Texts{});
    }
    EXPECT_EQ(pair.b.Take(sent.from, sent.bytes + "x"), Texts{});
    EXPECT_EQ(pair.b.Take(sent), Texts{"value"});
  }
}

TEST(SealedTransport, WhatWasChangedDoesNotSpoilTheRest) {
  Pair pair;
  const Sent first = pair.FromA("first");
  const Sent second = pair.FromA("second");
  std::string changed = second.bytes;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  EXPECT_EQ(pair.b.Take(second.from, changed), Texts{});
  EXPECT_EQ(pair.b.Take(second), Texts{"second"});
  EXPECT_EQ(pair.b.Take(first), Texts{"first"});  // overtaken, not lost
  EXPECT_EQ(pair.b.transport().refused_count(), 1);
}

TEST(SealedTransport, RepeatedMessagesCountOnce) {
  Pair pair;
  std::vector<Sent> sent;
  for (int i = 0; i < 20; ++i) sent.push_back(pair.FromA(absl::StrCat(i)));
  std::reverse(sent.begin(), sent.end());
  for (const Sent& one : sent) EXPECT_EQ(pair.b.Take(one).size(), 1u);
  for (const Sent& one : sent) EXPECT_EQ(pair.b.Take(one), Texts{});
  EXPECT_EQ(pair.b.transport().refused_count(), 20);
  // Also by one that was forgotten meanwhile, and is known again.
  pair.b.transport().ForgetPeer(pair.a.id());
  for (const Sent& one : sent) EXPECT_EQ(pair.b.Take(one), Texts{});
  pair.b.Knows(pair.a);
  for (const Sent& one : sent) EXPECT_EQ(pair.b.Take(one), Texts{});
  EXPECT_EQ(pair.b.Take(pair.FromA("new")), Texts{"new"});
}

TEST(SealedTransport, MessagesOfOtherIncarnationsAreVoid) {
  Pair pair;
  const Sent sent = pair.FromA("for b");
  // Another member, the next incarnation of b, and another agent with b's id.
  for (const uint64_t id : {3, 4, 2}) {
    Member other(id, pair.wire, RingOf("1"));
    other.Knows(pair.a);
    EXPECT_EQ(other.Take(sent), Texts{}) << id;
  }
  // As if another had sent it.
  Member c(5, pair.wire, RingOf("1"));
  pair.b.Knows(c);
  EXPECT_EQ(pair.b.Take(c.id(), sent.bytes), Texts{});
  EXPECT_EQ(pair.b.Take(AgentId(99), sent.bytes), Texts{});
  // Nor does its own sender understand it.
  EXPECT_EQ(pair.a.Take(pair.b.id(), sent.bytes), Texts{});
  // A process with a's id and another public half.
  Member second_a(1, pair.wire, RingOf("1"));
  second_a.Knows(pair.b);
  second_a.Send(pair.b, "not a");
  EXPECT_EQ(pair.b.Take(pair.wire.back()), Texts{});
  EXPECT_EQ(pair.b.Take(sent), Texts{"for b"});
}

TEST(SealedTransport, ForeignKeysAndModesAreRefused) {
  Pair pair;
  Member stranger(1, pair.wire, RingOf("2"));
  stranger.Knows(pair.b);
  stranger.Send(pair.b, "hello");
  Member b(2, pair.wire, RingOf("1"));
  EXPECT_EQ(b.Take(pair.wire.back()), Texts{});
  // The id of a key is no secret: it may be another key's.
  std::string renamed = pair.wire.back().bytes;
  renamed.replace(6, Key::kIdDigits, RingOf("1").used().id());
  EXPECT_EQ(b.Take(stranger.id(), renamed), Texts{});
  Pair signed_only(WireMode::kSigned);
  EXPECT_EQ(b.Take(signed_only.FromA("seen by all")), Texts{});
  EXPECT_EQ(b.Take(AgentId(1), "DOGD plain"), Texts{});
  EXPECT_EQ(b.Take(AgentId(1), std::string(200, '\0')), Texts{});
  EXPECT_EQ(b.transport().refused_count(), 5);
}

TEST(SealedTransport, PlainPeersAreSentNothing) {
  Pair pair;
  pair.a.transport().SetPeer(AgentId(7), "10.0.0.1:7");
  pair.wire.clear();
  pair.a.transport().Send(AgentId(7), Bytes(std::string("secret")));
  pair.a.transport().Send(AgentId(8), Bytes(std::string("secret")));
  EXPECT_TRUE(pair.wire.empty());
  EXPECT_EQ(pair.a.transport().dropped_count(), 2);
}

// Also one that shares memory with agents of its host says so behind.
TEST(SealedTransport, AddressesMayGoOn) {
  Pair pair;
  Member c(3, pair.wire, RingOf("1"));
  pair.a.transport().SetPeer(c.id(), c.transport().address() + ";5;7;pid:fd");
  pair.a.Send(c, "there");
  EXPECT_EQ(c.Take(pair.wire.back()), Texts{"there"});
}

TEST(SealedTransport, AMemberIsKnownByItsMessage) {
  std::vector<Sent> wire;
  Member a(1, wire, RingOf("1"));
  Member b(2, wire, RingOf("1"));
  a.Knows(b);
  a.Send(b, "I am new");
  EXPECT_EQ(b.Take(wire.back()), Texts{"I am new"});
  EXPECT_EQ(b.Take(wire.back()), Texts{});
  b.Knows(a);
  EXPECT_EQ(b.Take(wire.back()), Texts{});
}

TEST(SealedTransport, KeysChangeWhileMessagesTravel) {
  Pair pair;
  const Key next = RingOf("2").used();
  KeyRing both = RingOf("1");
  ASSERT_TRUE(both.Add(next).ok());
  const Sent early = pair.FromA("early");
  pair.a.SetRing(both);
  pair.b.SetRing(both);
  EXPECT_EQ(pair.b.Take(early), Texts{"early"});
  EXPECT_EQ(pair.b.Take(early), Texts{});
  ASSERT_TRUE(both.Use(next.id()).ok());
  pair.a.SetRing(both);
  const Sent late = pair.FromA("late");
  EXPECT_EQ(pair.b.Take(late), Texts{"late"});
  pair.b.Send(pair.a, "still with the old one");
  EXPECT_EQ(pair.a.Take(pair.wire.back()), Texts{"still with the old one"});
  pair.a.SetRing(KeyRing(next));
  pair.b.Send(pair.a, "too late");
  EXPECT_EQ(pair.a.Take(pair.wire.back()), Texts{});
  pair.b.SetRing(KeyRing(next));
  pair.b.Send(pair.a, "new");
  EXPECT_EQ(pair.a.Take(pair.wire.back()), Texts{"new"});
  EXPECT_EQ(pair.b.Take(late), Texts{});
}

TEST(ReplayWindow, IsASetOfTheLastOnes) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    ReplayWindow window;
    std::set<uint64_t> seen;
    int64_t at = 0;
    for (int i = 0; i < 20000; ++i) {
      at += rng.Below(rng.Below(100) == 0 ? 10000 : 5);
      const int64_t back = rng.Below(rng.Below(2) == 0 ? 10 : 6000);
      const auto counter =
          static_cast<uint64_t>(std::max<int64_t>(1, at - back));
      const uint64_t highest = seen.empty() ? 0 : *seen.rbegin();
      const bool is_old = counter + ReplayWindow::kSize <= highest;
      EXPECT_EQ(window.IsNew(counter), !is_old && !seen.contains(counter));
      if (!window.IsNew(counter)) continue;
      window.Add(counter);
      seen.insert(counter);
    }
  }
  EXPECT_FALSE(ReplayWindow(7).IsNew(7));
  EXPECT_TRUE(ReplayWindow(7).IsNew(8));
  EXPECT_FALSE(ReplayWindow().IsNew(0));
}

TEST(Hex, PairsOfDigitsAreBytes) {
  EXPECT_EQ(BytesOfHex("00fFa7"), std::string("\0\xff\xa7", 3));
  for (const absl::string_view bad : {"0", "0g", "g0", "00 1", "0x00"}) {
    EXPECT_EQ(BytesOfHex(bad), "") << bad;
  }
}

// RFC 5869, appendices A.1 and A.3.
TEST(Hkdf, IsThatOfTheStandard) {
  const std::string secret(22, '\x0b');
  EXPECT_EQ(absl::BytesToHexString(
                Hkdf(BytesOfHex("000102030405060708090a0b0c"), secret,
                     BytesOfHex("f0f1f2f3f4f5f6f7f8f9"), 42)),
            "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf"
            "34007208d5b887185865");
  EXPECT_EQ(absl::BytesToHexString(Hkdf("", secret, "", 42)),
            "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
            "9d201395faa4b61a96c8");
}

TEST(ExchangeKey, BothSidesHaveOneSecret) {
  const ExchangeKey a;
  const ExchangeKey b;
  EXPECT_NE(a.public_half(), b.public_half());
  ASSERT_TRUE(a.SecretWith(b.public_half()).has_value());
  EXPECT_EQ(a.SecretWith(b.public_half()), b.SecretWith(a.public_half()));
  EXPECT_EQ(a.SecretWith(std::string(32, '\0')), std::nullopt);
  EXPECT_EQ(a.SecretWith("short"), std::nullopt);
}

}  // namespace
}  // namespace dogged
