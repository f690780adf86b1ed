// Streams: large bodies on their way to many agents, in segments. A machine:
// no threads, no clock, never blocks.
//
// An offer runs down the tree first and lays the way. Segments follow, as many
// to each child as it has given credit for; a relay sends segment i on while
// i+1 arrives. A child gives credit as it receives, and says "done" once it and
// all behind it have the body: at once, and no bytes are sent, if they had it
// before. Until then the parent keeps the body.
//
// Repair: an agent whose child has died, or does not answer an offer, offers
// the stream to the targets behind that child another way. An agent that hears
// nothing for a while asks its parent again for missing segments, then the
// origin. If the origin is dead, an agent that needs the body asks by other
// means: a stream is a hint.
#ifndef DOGGED_ROUTING_STREAM_STREAM_H_
#define DOGGED_ROUTING_STREAM_STREAM_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory_resource>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "routing/membership/view.h"
#include "routing/plans/planner.h"
#include "routing/stream/stream_messages.h"
#include "routing/transport/envelope.h"
#include "routing/transport/gathered_bytes.h"
#include "routing/transport/outbox.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"
#include "runtime/base/limits.h"
#include "runtime/base/small_blocks.h"
#include "runtime/base/split_bytes.h"

namespace dogged {

// A body that reached this agent.
struct Delivery {
  AgentId origin;  // where it started, not the last hop
  uint8_t kind = 0;
  JobId job;
  Bytes body;
  // The agent has said that it needs no bytes: `body` is the tag.
  bool tag_only = false;
  // For a body that came as a stream.
  StreamKey stream;
  BodyPart part = BodyPart::kWhole;
};

class Streams {
 public:
  // How an agent of this many hops from the origin splits `targets`.
  using Splitter = absl::FunctionRef<std::vector<Branch>(
      MulticastPlan plan, int hops, std::vector<AgentId> targets)>;
  // Whether the agent lacks the body that `tag` describes.
  using Wants = std::function<bool(uint8_t kind, JobId job, const Bytes& tag)>;

  Streams(AgentId self, const Limits& limits) : self_(self), limits_(limits) {}

  // All bodies with a tag are wanted unless this says otherwise.
  void SetWants(Wants wants) { wants_ = std::move(wants); }

  // Round trip of the farthest agent: `least` without queues, for windows,
  // which would fill queues otherwise; and `usual`, for which an answer is
  // awaited.
  void NoteRoundTrips(absl::Duration least, absl::Duration usual) {
    least_round_trip_ = least;
    round_trip_ = usual;
  }

  // Shipment: a body to send, and its targets.
  struct Shipment {
    MulticastPlan plan = MulticastPlan::kFlat;
    std::vector<AgentId> targets;  // known, distinct, without this agent
    uint8_t kind = 0;
    JobId job;
    SplitBytes body;  // not empty
    // With a tag, a target that has the body takes no bytes, for the price of a
    // round trip per hop before the first byte.
    Bytes tag;
    BodyPart part = BodyPart::kWhole;
  };
  void Start(Shipment shipment, Splitter split, Outbox& out);

  // Take a message. Errors: kInvalidArgument for a message that is malformed or
  // contradicts earlier ones.
  absl::Status ReceiveOffer(const Pass& pass, const Message& message,
                            Splitter split, std::vector<Delivery>& deliveries);
  absl::Status ReceiveSegment(const Pass& pass, const Bytes& message,
                              std::vector<Delivery>& deliveries);
  absl::Status ReceivePull(const Pass& pass, AgentId from,
                           const Bytes& message);

  // Repairs streams whose agents died or stalled, forgets streams that have
  // waited too long, or been over for long.
  void Tick(const Pass& pass, const View& view, Splitter split);

  // Bytes of bodies that `child` may still need: it has not said "done".
  int64_t BytesOwed(AgentId child) const;
  // `target`, a child or an agent behind one, may still get a body that this
  // agent has sent on.
  bool IsAwaiting(AgentId target) const { return awaiting_.contains(target); }

  int64_t held_count() const { return std::ssize(streams_); }
  // Number of children given up, whose targets went another way.
  int64_t repaired_count() const { return repaired_count_; }
  // Times that a stalled stream was asked for again.
  int64_t asked_again_count() const { return asked_again_count_; }
  int64_t expired_count() const { return expired_count_; }
  // Streams that are over, and known still in case an offer comes twice.
  int64_t finished_count() const { return std::ssize(finished_); }
  // Bodies that were offered here and not taken: the agent had them.
  int64_t spared_count() const { return spared_count_; }

 private:
  struct Child {
    std::vector<AgentId> targets;
    int64_t credit = 0;  // as the offer said
    int64_t next = 0;    // the segment to send next
    int64_t limit = 0;   // up to where it has given credit
    bool heard = false;
    bool done = false;
    int offers = 1;
    absl::Time offered;  // or last heard of
  };
  struct Stream {
    StreamOffer offer;  // as it came; at the origin as it would have come
    JobId job;
    AgentId parent;  // the agent that it asks; none at the origin
    // The first agent to offer the stream hears "done" when all behind this
    // agent have the body. Later parents hear it when this agent has the body:
    // if they waited for the agents behind, two could wait for each other.
    AgentId first_parent;
    std::set<AgentId> other_parents;
    bool served = false;   // as a destination: has the body, or will have it
    bool needed = false;   // is a destination and lacks the body
    bool pulling = false;  // the parent was asked for segments
    std::vector<Bytes> pieces;
    // Where pieces lie that came, if there are several.
    std::optional<GatheredBytes> gathered;
    int64_t have = 0;   // all before this are there
    int64_t count = 0;  // of all segments
    int64_t limit = 0;  // up to where the parent has credit
    int64_t hole = -1;  // the one that was asked for last
    int stalls = 0;
    absl::Time touched;  // when the last new segment came
    absl::Time asked;    // when the parent was asked again
    absl::Time active;   // when the last message about it came
    absl::Duration gap;  // the longest between two segments
    std::map<AgentId, Child> children;

    bool complete() const { return have == count; }
    bool HasPiece(int64_t index) const {
      return index < std::ssize(pieces) && !pieces[index].empty();
    }
  };
  using Map = std::map<StreamKey, Stream>;  // iterators stay valid

  // Why a child asks its parent.
  enum class Ask {
    kCredit,   // if there is more credit to give
    kAnswer,   // in any case: the parent is new, or waits for a word
    kMissing,  // and asks for segments: holes, or the next one
  };

  int64_t WindowOf(const Stream& stream) const;
  absl::Duration Retry() const;
  // When to ask again, if nothing comes.
  absl::Time StallAt(const Stream& stream) const;
  // Offers to `branches`; the first `credit` segments go unasked.
  void AddBranches(Stream& stream, const std::vector<Branch>& branches,
                   int64_t credit, Outbox& out);
  static void Offer(const Stream& stream, AgentId to, const Child& child,
                    Outbox& out);
  static void Pump(const Stream& stream, AgentId to, Child& child, Outbox& out);
  void Pull(Stream& stream, Ask ask, Outbox& out) const;
  static void SayDone(const Stream& stream, AgentId to, Outbox& out);
  static void AddParent(Stream& stream, AgentId parent);
  static absl::Status AddPiece(Stream& stream, const StreamSegment& segment);
  // The stream has all of the body now.
  void Complete(Map::iterator it, Outbox& out,
                std::vector<Delivery>& deliveries);
  void Serve(Stream& stream, std::vector<Delivery>& deliveries);
  static void Deliver(Stream& stream, std::vector<Delivery>& deliveries);
  void ForgetOldestFinished();
  // Forgets the stream if nobody needs anything of it any more.
  bool Settle(Map::iterator it, Outbox& out);
  void MendChildren(Stream& stream, const View& view, Splitter split,
                    Outbox& out);
  // Offers again to a child that has been silent. If it never said a word, in
  // the end those behind it are appended to `direct`.
  void Remind(Stream& stream, AgentId to, Child& child,
              std::vector<Branch>& direct, Outbox& out);
  void AskAgain(Stream& stream, const View& view, Outbox& out);

  AgentId self_;
  Limits limits_;
  Wants wants_;
  Map streams_;
  // Times of the last Tick(), and of offers since.
  std::map<AgentId, int64_t> bytes_owed_;
  std::set<AgentId> awaiting_;
  absl::Time now_;  // of the last call
  absl::Duration least_round_trip_;
  absl::Duration round_trip_;
  uint64_t next_number_ = 1;
  // Streams that this agent is through with, and whether it was a destination
  // of them: for doubled offers. And since when, the oldest first.
  SmallBlocks finished_memory_;
  absl::btree_map<
      StreamKey, bool, std::less<StreamKey>,
      std::pmr::polymorphic_allocator<std::pair<const StreamKey, bool>>>
      finished_{&finished_memory_};
  std::pmr::deque<std::pair<absl::Time, StreamKey>> finished_order_{
      &finished_memory_};
  int64_t repaired_count_ = 0;
  int64_t asked_again_count_ = 0;
  int64_t expired_count_ = 0;
  int64_t spared_count_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_STREAM_STREAM_H_
