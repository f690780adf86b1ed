// Aim: messages of an outbox come out of the unpacker, whole, once per arrival,
// in few packets; garbage is counted and nothing else. Method: a transport that
// keeps its packets; the test hands them on whole, doubled, reordered, lost or
// damaged from a seed.
#include "routing/transport/packing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "routing/transport/gathered_bytes.h"
#include "runtime/base/random.h"
#include "runtime/base/value_memory.h"

namespace dogged {
namespace {

const AgentId kHere(11);
const AgentId kThere(22);
const absl::Time kNow = absl::UnixEpoch();

class KeepingTransport : public Transport {
 public:
  void Send(AgentId to, Bytes message) override {
    sent.push_back({to, std::move(message)});
  }
  void Poll(std::vector<Arrival>&) override {}
  void SetPeer(AgentId, absl::string_view) override {}
  void ForgetPeer(AgentId) override {}
  std::string address() const override { return ""; }
  int64_t queued_bytes(AgentId) const override {
    int64_t bytes = 0;
    for (const Arrival& packet : sent) bytes += packet.message.size();
    return is_slow ? bytes : 0;
  }
  bool is_slow = false;       // messages are under way until taken
  std::vector<Arrival> sent;  // `from` is the target here
};

std::vector<Message> OpenAll(Unpacker& unpacker,
                             const std::vector<Arrival>& sent) {
  std::vector<Message> messages;
  for (const Arrival& packet : sent) {
    unpacker.Open(kNow, {kHere, packet.message}, messages);
  }
  return messages;
}

TEST(Envelope, HasTheseBytes) {
  // The wire format is fixed: 56 bytes, little-endian, then the body.
  Envelope head;
  head.kind = 0x20;
  head.source = AgentId(0x0102030405060708);
  head.target = AgentId(0x1112131415161718);
  head.view = ViewDigest(0x2122232425262728);
  head.job = JobId(0x3132333435363738);
  std::string bytes;
  AppendMessage(head, "ab", "c", bytes);
  EXPECT_EQ(absl::BytesToHexString(bytes.substr(0, 48)),
            "444f4744"
            "01"
            "20"
            "0000"
            "0807060504030201"
            "1817161514131211"
            "2827262524232221"
            "3837363534333231"
            "0300000000000000");
  EXPECT_EQ(bytes.size(), Envelope::kBytes + 3);
  EXPECT_EQ(bytes.substr(56), "abc");
  Bytes rest(bytes);
  absl::StatusOr<Message> message = TakeMessage(rest);
  ASSERT_TRUE(message.ok());
  EXPECT_TRUE(rest.empty());
  EXPECT_EQ(message->head.job, head.job);
  EXPECT_EQ(message->head.target, head.target);
  EXPECT_EQ(message->body.view(), "abc");
}

TEST(Envelope, RefusesEveryChangedByte) {
  std::string good;
  AppendMessage({.source = kHere, .target = kThere}, "body", "", good);
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ (1 << bit));
      Bytes rest(bad);
      EXPECT_FALSE(TakeMessage(rest).ok()) << "byte " << i << " bit " << bit;
    }
  }
  for (size_t size = 0; size < good.size(); ++size) {
    Bytes rest(good.substr(0, size));
    EXPECT_FALSE(TakeMessage(rest).ok()) << size;
  }
}

TEST(Packer, SmallMessagesToOneAgentTravelTogether) {
  Limits limits;
  limits.segment_bytes = 1000;
  Packer packer(kHere, limits);
  KeepingTransport transport;
  Outbox out;
  const AgentId other(33);
  for (int i = 0; i < 10; ++i) {
    out.Send(i % 2 == 0 ? kThere : other, 20, JobId(5),
             Bytes(absl::StrCat("m", i)));
  }
  out.Send(kHere, 21, JobId(), Bytes(std::string("to myself")));
  std::vector<Message> to_self;
  packer.Flush(ViewDigest(9), out, transport, to_self);
  EXPECT_TRUE(out.messages.empty());
  EXPECT_EQ(transport.sent.size(), 2);
  EXPECT_EQ(packer.messages_sent(), 10);
  ASSERT_EQ(to_self.size(), 1);
  EXPECT_EQ(to_self[0].body.view(), "to myself");

  Unpacker unpacker(kThere, limits);
  const std::vector<Message> messages = OpenAll(unpacker, transport.sent);
  ASSERT_EQ(messages.size(), 5);
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(messages[i].body.view(), absl::StrCat("m", 2 * i));
    EXPECT_EQ(messages[i].head.source, kHere);
    EXPECT_EQ(messages[i].head.view, ViewDigest(9));
    EXPECT_EQ(messages[i].head.job, JobId(5));
  }
  EXPECT_EQ(unpacker.misdirected_count(), 5);  // those for the other
}

TEST(Packer, PacketsAreBounded) {
  Limits limits;
  limits.segment_bytes = 500;
  Packer packer(kHere, limits);
  KeepingTransport transport;
  Outbox out;
  for (int size = 0; size < 3000; size += 37) {
    out.Send(kThere, 20, JobId(), Bytes(std::string(size, 'x')));
  }
  std::vector<Message> to_self;
  packer.Flush(ViewDigest(), out, transport, to_self);
  for (const Arrival& packet : transport.sent) {
    EXPECT_LE(packet.message.size(),
              500 + Envelope::kBytes + SegmentHeader::kBytes);
  }
}

TEST(Packing, SurvivesDoublesReorderingAndDamage) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Rng rng(seed);
    Limits limits;
    limits.segment_bytes = 16 + rng.Below(400);
    Packer packer(kHere, limits);
    Unpacker unpacker(kThere, limits);
    KeepingTransport transport;
    std::map<std::string, int> expected;
    Outbox out;
    for (int i = 0; i < 20; ++i) {
      std::string body = absl::StrCat(i, ":");
      const int64_t size = rng.Below(2000);
      while (std::ssize(body) < size) {
        body.push_back(static_cast<char>(rng.Next()));
      }
      ++expected[body];
      out.Send(kThere, 20, JobId(), Bytes(body));
    }
    std::vector<Message> to_self;
    packer.Flush(ViewDigest(), out, transport, to_self);
    std::vector<Arrival> packets;
    for (const Arrival& packet : transport.sent) {
      packets.push_back(packet);
      if (rng.Chance(0.2)) packets.push_back(packet);
      if (rng.Chance(0.2)) {  // and a damaged copy
        std::string bad(packet.message.view());
        bad[rng.Below(packet.message.size())] ^= 4;
        packets.push_back({kThere, Bytes(bad)});
      }
    }
    for (size_t i = packets.size() - 1; i > 0; --i) {
      std::swap(packets[i], packets[rng.Below(static_cast<int64_t>(i) + 1)]);
    }
    std::map<std::string, int> got;
    for (const Message& message : OpenAll(unpacker, packets)) {
      ++got[std::string(message.body.view())];
    }
    // All of them, and nothing that was not sent.
    EXPECT_EQ(got.size(), expected.size());
    for (const auto& [body, count] : expected) EXPECT_GE(got[body], count);
  }
}

Bytes SegmentOf(uint64_t id, int64_t offset, int64_t total,
                const std::string& piece) {
  Encoder encoder;
  SegmentHeader{id, offset, total}.EncodeTo(encoder);
  encoder.PutRaw(piece);
  return Bytes(encoder.Take());
}

TEST(Reassembler, HalvesExpireAndAreBounded) {
  Reassembler reassembler(
      {.held_bytes_max = 1000, .patience = absl::Seconds(5)});
  for (uint64_t id = 1; id <= 50; ++id) {
    auto whole = reassembler.Add(kNow + absl::Seconds(id), kHere,
                                 SegmentOf(id, 0, 200, std::string(100, 'a')));
    ASSERT_TRUE(whole.ok());
    EXPECT_FALSE(whole->has_value());
    EXPECT_LE(reassembler.held_bytes(), 1000);
  }
  EXPECT_GT(reassembler.expired_count(), 40);
  // The newest is still there.
  auto whole = reassembler.Add(kNow + absl::Seconds(50), kHere,
                               SegmentOf(50, 100, 200, std::string(100, 'b')));
  ASSERT_TRUE(whole.ok());
  ASSERT_TRUE(whole->has_value());
  EXPECT_EQ((*whole)->view(), std::string(100, 'a') + std::string(100, 'b'));
  reassembler.Expire(kNow + absl::Seconds(100));
  EXPECT_EQ(reassembler.held_count(), 0);
  EXPECT_EQ(reassembler.held_bytes(), 0);
}

TEST(Reassembler, RefusesContradictions) {
  Reassembler reassembler({.message_bytes_max = 1000});
  const auto refused = [&](const Bytes& segment) {
    return !reassembler.Add(kNow, kHere, segment).ok();
  };
  EXPECT_TRUE(refused(Bytes(std::string("short"))));
  EXPECT_TRUE(refused(SegmentOf(1, 0, 2000, "abc")));  // too long
  EXPECT_TRUE(refused(SegmentOf(1, 99, 100, "abc")));  // beyond the end
  EXPECT_TRUE(refused(SegmentOf(1, -1, 100, "abc")));
  EXPECT_TRUE(refused(SegmentOf(1, 0, 100, "")));  // says nothing
  EXPECT_FALSE(refused(SegmentOf(2, 0, 10, "abcde")));
  EXPECT_TRUE(refused(SegmentOf(2, 5, 11, "fghij")));  // another total
  EXPECT_FALSE(refused(SegmentOf(3, 0, 10, "abcdef")));
  EXPECT_TRUE(refused(SegmentOf(3, 5, 10, "fghij")));  // overlap
  EXPECT_FALSE(refused(SegmentOf(3, 0, 10, "abcdef")));
  EXPECT_TRUE(refused(SegmentOf(3, 5, 10, "fghi")));  // overlap and gap
  EXPECT_EQ(reassembler.held_count(), 0);
  // Senders are kept apart, and can be forgotten.
  EXPECT_FALSE(refused(SegmentOf(4, 0, 10, "abcde")));
  auto other = reassembler.Add(kNow, kThere, SegmentOf(4, 5, 10, "fghij"));
  EXPECT_FALSE(other->has_value());
  reassembler.Forget(kHere);
  EXPECT_EQ(reassembler.held_count(), 1);
}

// A body that is far longer than what may wait for an agent.
TEST(Packer, LongBodiesGoAsTheyAreTaken) {
  Limits limits;
  limits.segment_bytes = 100;
  limits.outbox_bytes_max = 2000;
  Packer packer(kHere, limits);
  Unpacker unpacker(kThere, limits);
  KeepingTransport transport;
  transport.is_slow = true;
  std::string body(50'000, 'x');
  for (size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 31);
  Outbox out;
  out.Send(kThere, 20, JobId(5), Bytes(body));
  std::vector<Message> to_self;
  std::vector<Message> got;
  int rounds = 0;
  do {
    out.Send(kThere, 21, JobId(5), Bytes(std::string("short")));
    packer.Flush(ViewDigest(9), out, transport, to_self);
    EXPECT_LE(transport.queued_bytes(kThere), limits.outbox_bytes_max);
    for (const Message& message : OpenAll(unpacker, transport.sent)) {
      got.push_back(message);
    }
    transport.sent.clear();
    ++rounds;
  } while (packer.IsBehind() && rounds < 1000);
  ASSERT_EQ(std::ssize(got), rounds + 1);
  EXPECT_GT(rounds, 10);
  EXPECT_EQ(got[0].body.view(), "short");  // they don't wait behind it
  int whole = 0;
  for (const Message& message : got) whole += message.body.view() == body;
  EXPECT_EQ(whole, 1);
  EXPECT_EQ(packer.dropped_count(), 0);
  EXPECT_EQ(packer.waiting_bytes(kThere), 0);
}

TEST(Packer, CountsWhatItDoesNotSend) {
  Limits limits;
  limits.segment_bytes = 100;
  limits.outbox_bytes_max = 2000;
  Packer packer(kHere, limits);
  KeepingTransport transport;
  transport.is_slow = true;
  Outbox out;
  for (int i = 0; i < 3; ++i) {
    out.Send(kThere, 20, JobId(5), Bytes(std::string(5000, 'x')));
  }
  std::vector<Message> to_self;
  packer.Flush(ViewDigest(9), out, transport, to_self);
  EXPECT_TRUE(packer.IsBehind());
  EXPECT_EQ(packer.dropped_count(), 2);
  packer.Forget(kThere);
  EXPECT_FALSE(packer.IsBehind());
  EXPECT_EQ(packer.dropped_count(), 3);
}

// Memory in which nothing is written, so that the system gives no pages.
class CountedMemory : public ValueMemory {
 public:
  CountedMemory() { SetValueMemory(this); }
  ~CountedMemory() override { SetValueMemory(nullptr); }
  void* Take(int64_t bytes) override {
    taken += bytes;
    return std::aligned_alloc(64, static_cast<size_t>(bytes));
  }
  void Give(void* data, int64_t bytes) override {
    taken -= bytes;
    std::free(data);
  }
  int64_t taken = 0;
};

TEST(GatheredBytes, TakeLittleMemoryForWhatIsOnlyClaimed) {
  constexpr int64_t kBytes = 10 << 20;
  CountedMemory memory;
  {
    std::vector<GatheredBytes> claimed;
    for (int i = 0; i < 100; ++i) {
      claimed.push_back(*GatheredBytes::Create(kBytes));
    }
    EXPECT_GE(memory.taken, 200 << 20);
    EXPECT_LE(memory.taken, 256 << 20);
    const int64_t before = memory.taken;
    // Bytes that came count no more.
    const std::string body(kBytes, 'x');
    const Bytes whole = claimed[0].Put(0, body);
    EXPECT_EQ(whole.view(), body);
    claimed.push_back(*GatheredBytes::Create(kBytes));
    EXPECT_GT(memory.taken, before);
  }
  EXPECT_EQ(memory.taken, 0);
  // Nor does what is given up.
  const auto again = GatheredBytes::Create(200 << 20);
  EXPECT_GE(memory.taken, 200 << 20);
}

}  // namespace
}  // namespace dogged
