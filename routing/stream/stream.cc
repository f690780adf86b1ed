#include "routing/stream/stream.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// A stream that has not moved for so long keeps nothing else waiting.
constexpr absl::Duration kOwedTimeMax = absl::Seconds(5);

constexpr int64_t kWindowSegmentsMin = 4;
// After so many offers without an answer, those behind a child are offered
// the body directly.
constexpr int kOffersMax = 3;
// A segment that did not come is asked for again after so many later ones.
constexpr int64_t kReorderedMax = 4;
// Bytes that a stream has under way to far agents: so many for each second of a
// round trip, up to a bound.
constexpr double kFarBytesPerSecond = 20e6;
constexpr double kFarWindowBytes = 4 << 20;
constexpr int kRoundTripsPatience = 3;
constexpr size_t kFinishedMax = 4096;
constexpr int kDoublingsMax = 6;
// A child that has answered is reminded later: its "done" may be lost.
constexpr int kDoublingsHeard = 4;

absl::Duration Doubled(absl::Duration wait, int times) {
  return wait * (1 << std::min(times, kDoublingsMax));
}

}  // namespace

int64_t Streams::WindowOf(const Stream& stream) const {
  const double round_trip = absl::ToDoubleSeconds(least_round_trip_);
  const auto under_way = static_cast<int64_t>(
      std::min(kFarWindowBytes, round_trip * kFarBytesPerSecond));
  return std::clamp<int64_t>(std::max(limits_.stream_window_bytes, under_way) /
                                 stream.offer.segment_bytes,
                             kWindowSegmentsMin, StreamOffer::kCreditMax);
}

absl::Duration Streams::Retry() const {
  return std::max(limits_.stream_retry, kRoundTripsPatience * round_trip_);
}

// --- Sending -------------------------------------------------------------

void Streams::Start(Shipment shipment, Splitter split, Outbox& out) {
  const SplitBytes& body = shipment.body;
  const StreamKey key{self_, next_number_++};
  const auto it = streams_.try_emplace(key).first;
  Stream& stream = it->second;
  StreamOffer& offer = stream.offer;
  offer.key = key;
  offer.kind = shipment.kind;
  offer.plan = shipment.plan;
  offer.part = shipment.part;
  offer.total = body.size();
  offer.segment_bytes = limits_.multicast_segment_bytes;
  if (offer.segment_bytes == 0) {
    // The header of a piece counts too, or the packer would cut again.
    offer.segment_bytes =
        SegmentBytesFor(offer.plan, body.size(), std::ssize(shipment.targets),
                        std::min(limits_.multicast_segment_bytes_max,
                                 limits_.segment_bytes * 3 / 4));
  }
  offer.tag = std::move(shipment.tag);
  offer.credit = offer.tag.empty() ? WindowOf(stream) : 0;
  stream.job = shipment.job;
  for (int64_t at = 0; at < body.size(); at += offer.segment_bytes) {
    stream.pieces.push_back(
        body.Slice(at, std::min(offer.segment_bytes, body.size() - at)).Join());
  }
  stream.count = stream.have = stream.limit = std::ssize(stream.pieces);
  stream.touched = stream.active = now_;
  AddBranches(stream, split(offer.plan, 0, std::move(shipment.targets)),
              offer.credit, out);
  out.WakeAt(now_ + Retry());
  Settle(it, out);
}

void Streams::AddBranches(Stream& stream, const std::vector<Branch>& branches,
                          int64_t credit, Outbox& out) {
  for (const Branch& branch : branches) {
    if (branch.hop == self_) continue;
    Child& child = stream.children[branch.hop];
    if (child.done) child = Child();  // it has others to serve now
    child.targets.insert(child.targets.end(), branch.targets.begin(),
                         branch.targets.end());
    child.credit = credit;
    if (!child.heard) child.limit = std::min(stream.count, credit);
    child.offered = now_;
    bytes_owed_[branch.hop] += stream.offer.total;
    awaiting_.insert(child.targets.begin(), child.targets.end());
    Offer(stream, branch.hop, child, out);
  }
  // All offers before any bytes: the ways are laid in parallel.
  for (const Branch& branch : branches) {
    if (branch.hop == self_) continue;
    Pump(stream, branch.hop, stream.children[branch.hop], out);
  }
}

void Streams::Offer(const Stream& stream, AgentId to, const Child& child,
                    Outbox& out) {
  StreamOffer offer = stream.offer;
  offer.hops = stream.offer.hops + 1;
  offer.credit = child.credit;
  offer.targets = child.targets;
  out.Send(to, RoutingKind::kStreamOffer, stream.job, offer.Encode());
}

void Streams::Pump(const Stream& stream, AgentId to, Child& child,
                   Outbox& out) {
  while (!child.done && child.next < child.limit &&
         stream.HasPiece(child.next)) {
    const Bytes& piece = stream.pieces[child.next];
    out.Send(to, RoutingKind::kStreamSegment, stream.job,
             {StreamSegment::EncodeHead(stream.offer.key, child.next), piece});
    ++child.next;
  }
}

absl::Status Streams::ReceivePull(const Pass& pass, AgentId from,
                                  const Bytes& message) {
  now_ = pass.now;
  DOGGED_ASSIGN_OR_RETURN(const StreamPull pull, StreamPull::Decode(message));
  const auto it = streams_.find(pull.key);
  // Nothing of it is left here; the asker turns to the origin, then gives up.
  if (it == streams_.end()) return absl::OkStatus();
  Stream& stream = it->second;
  if (pull.have > stream.count || pull.limit > stream.count) {
    return absl::InvalidArgumentError(
        absl::StrCat("pull up to segment ", pull.limit, " of ", stream.count));
  }
  if (pull.done && !stream.children.contains(from)) return absl::OkStatus();
  stream.active = pass.now;
  // Any agent that asks is served, even if it had another parent before.
  const auto [at, is_new] = stream.children.try_emplace(from);
  Child& child = at->second;
  if (is_new) child.targets = {from};
  child.heard = true;
  child.offered = pass.now;
  child.done = pull.done;
  child.limit = std::max(child.limit, pull.limit);
  child.next = std::max(child.next, pull.have);
  for (int64_t index : pull.missing) {
    if (!stream.HasPiece(index)) continue;
    const Bytes& piece = stream.pieces[index];
    pass.out.Send(from, RoutingKind::kStreamSegment, stream.job,
                  {StreamSegment::EncodeHead(pull.key, index), piece});
  }
  Pump(stream, from, child, pass.out);
  // A mere relay asks for bytes once a child wants them.
  if (!stream.complete() && !stream.pulling && !child.done) {
    Pull(stream, Ask::kAnswer, pass.out);
  }
  Settle(it, pass.out);
  return absl::OkStatus();
}

// --- Receiving -----------------------------------------------------------

absl::Status Streams::ReceiveOffer(const Pass& pass, const Message& message,
                                   Splitter split,
                                   std::vector<Delivery>& deliveries) {
  now_ = pass.now;
  const AgentId from = message.head.source;
  DOGGED_ASSIGN_OR_RETURN(StreamOffer offer,
                          StreamOffer::Decode(message.body, limits_));
  const StreamKey key = offer.key;
  if (key.origin == self_) return absl::OkStatus();  // it has it
  std::vector<AgentId> others = std::exchange(offer.targets, {});
  const auto is_self = std::remove(others.begin(), others.end(), self_);
  const bool for_self = is_self != others.end();
  others.erase(is_self, others.end());
  const auto [it, is_new] = streams_.try_emplace(key);
  Stream& stream = it->second;
  if (!is_new && (offer.total != stream.offer.total ||
                  offer.segment_bytes != stream.offer.segment_bytes)) {
    return absl::InvalidArgumentError("a stream offered in two sizes");
  }
  if (is_new) {
    stream.job = message.head.job;
    stream.count =
        (offer.total + offer.segment_bytes - 1) / offer.segment_bytes;
    stream.touched = pass.now;
    stream.limit = std::min(stream.count, offer.credit);
    stream.pulling = offer.credit > 0;
    const auto before = finished_.find(key);
    stream.served = before != finished_.end() && before->second;
  }
  stream.active = pass.now;
  stream.offer = std::move(offer);
  if (is_new) stream.first_parent = from;
  AddParent(stream, from);
  if (for_self) Serve(stream, deliveries);
  // Targets that a child provides for already stay with it.
  for (const auto& [hop, child] : stream.children) {
    for (AgentId known : child.targets) {
      others.erase(std::remove(others.begin(), others.end(), known),
                   others.end());
    }
  }
  if (!others.empty()) {
    AddBranches(stream,
                split(stream.offer.plan, stream.offer.hops, std::move(others)),
                stream.offer.credit, pass.out);
  }
  if (Settle(it, pass.out)) return absl::OkStatus();
  if (stream.complete() && from != stream.first_parent) {
    SayDone(stream, from, pass.out);
    return absl::OkStatus();
  }
  // A mere relay waits until a child wants the body.
  if (!is_new || (stream.needed && !stream.pulling)) {
    Pull(stream, Ask::kAnswer, pass.out);
  }
  return absl::OkStatus();
}

void Streams::AddParent(Stream& stream, AgentId parent) {
  stream.parent = parent;
  if (parent != stream.first_parent) stream.other_parents.insert(parent);
}

// This agent is a destination.
void Streams::Serve(Stream& stream, std::vector<Delivery>& deliveries) {
  if (stream.served) return;
  stream.served = true;
  const StreamOffer& offer = stream.offer;
  if (!offer.tag.empty() && wants_ &&
      !wants_(offer.kind, stream.job, offer.tag)) {
    ++spared_count_;
    deliveries.push_back({offer.key.origin, offer.kind, stream.job, offer.tag,
                          /*tag_only=*/true, offer.key, offer.part});
    return;
  }
  stream.needed = true;
  if (stream.complete()) Deliver(stream, deliveries);
}

void Streams::Pull(Stream& stream, Ask ask, Outbox& out) const {
  StreamPull pull{.key = stream.offer.key, .have = stream.have};
  pull.limit = std::min(stream.count, stream.have + WindowOf(stream));
  if (ask == Ask::kCredit && pull.limit <= stream.limit) return;
  for (int64_t i = stream.have;
       ask == Ask::kMissing && i < std::ssize(stream.pieces) &&
       std::ssize(pull.missing) < StreamPull::kMissingMax;
       ++i) {
    if (!stream.HasPiece(i)) pull.missing.push_back(i);
  }
  // Nothing has come beyond: then all that had credit is lost or late. The
  // first few are asked for; if they come, those after them show as holes.
  if (ask == Ask::kMissing && pull.missing.empty()) {
    for (int64_t i = stream.have;
         i < std::min(stream.limit, stream.have + kReorderedMax + 1); ++i) {
      pull.missing.push_back(i);
    }
  }
  stream.limit = std::max(stream.limit, pull.limit);
  stream.pulling = true;
  out.Send(stream.parent, RoutingKind::kStreamPull, stream.job, pull.Encode());
}

void Streams::SayDone(const Stream& stream, AgentId to, Outbox& out) {
  const StreamPull pull{.key = stream.offer.key,
                        .have = stream.count,
                        .limit = stream.count,
                        .done = true};
  out.Send(to, RoutingKind::kStreamPull, stream.job, pull.Encode());
}

absl::Status Streams::ReceiveSegment(const Pass& pass, const Bytes& message,
                                     std::vector<Delivery>& deliveries) {
  now_ = pass.now;
  DOGGED_ASSIGN_OR_RETURN(const StreamSegment segment,
                          StreamSegment::Decode(message));
  const auto it = streams_.find(segment.key);
  if (it == streams_.end()) return absl::OkStatus();  // late, or too early
  Stream& stream = it->second;
  const int64_t last = stream.count - 1;
  const int64_t size =
      segment.index < last
          ? stream.offer.segment_bytes
          : stream.offer.total - last * stream.offer.segment_bytes;
  if (segment.index > last || segment.index >= stream.limit ||
      segment.piece.size() != size) {
    return absl::InvalidArgumentError(
        absl::StrCat("segment ", segment.index, " of ", segment.piece.size(),
                     " bytes, of ", stream.count));
  }
  if (stream.HasPiece(segment.index)) return absl::OkStatus();
  // A piece that had to be asked for tells nothing about the line's pace.
  if (stream.stalls == 0) {
    stream.gap = std::max(stream.gap, pass.now - stream.touched);
  }
  stream.touched = stream.active = pass.now;
  stream.stalls = 0;
  DOGGED_RETURN_IF_ERROR(AddPiece(stream, segment));
  while (stream.HasPiece(stream.have)) ++stream.have;
  for (auto& [hop, child] : stream.children) Pump(stream, hop, child, pass.out);
  if (stream.complete()) {
    Complete(it, pass.out, deliveries);
  } else if (segment.index >= stream.have + kReorderedMax &&
             stream.hole != stream.have) {
    stream.hole = stream.have;
    Pull(stream, Ask::kMissing, pass.out);
  } else if (2 * (stream.limit - stream.have) <= WindowOf(stream)) {
    Pull(stream, Ask::kCredit, pass.out);  // before it runs out
  }
  return absl::OkStatus();
}

absl::Status Streams::AddPiece(Stream& stream, const StreamSegment& segment) {
  if (std::ssize(stream.pieces) <= segment.index) {
    stream.pieces.resize(segment.index + 1);
  }
  Bytes& piece = stream.pieces[segment.index];
  if (stream.count == 1) {
    piece = segment.piece;
    return absl::OkStatus();
  }
  if (!stream.gathered.has_value()) {
    stream.gathered = GatheredBytes::Create(stream.offer.total);
  }
  if (!stream.gathered.has_value()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no memory for a stream of ", stream.offer.total, " bytes"));
  }
  piece = stream.gathered->Put(segment.index * stream.offer.segment_bytes,
                               segment.piece.view());
  return absl::OkStatus();
}

void Streams::Complete(Map::iterator it, Outbox& out,
                       std::vector<Delivery>& deliveries) {
  Stream& stream = it->second;
  if (stream.needed) Deliver(stream, deliveries);
  if (Settle(it, out)) return;
  for (AgentId parent : stream.other_parents) SayDone(stream, parent, out);
}

void Streams::Deliver(Stream& stream, std::vector<Delivery>& deliveries) {
  stream.needed = false;
  deliveries.push_back(
      {stream.offer.key.origin, stream.offer.kind, stream.job,
       stream.count == 1 ? stream.pieces[0] : stream.gathered->whole(),
       /*tag_only=*/false, stream.offer.key, stream.offer.part});
}

bool Streams::Settle(Map::iterator it, Outbox& out) {
  const Stream& stream = it->second;
  if (stream.needed) return false;
  for (const auto& [hop, child] : stream.children) {
    if (!child.done) return false;
  }
  if (!stream.first_parent.IsNone()) {
    SayDone(stream, stream.first_parent, out);
  }
  for (AgentId parent : stream.other_parents) SayDone(stream, parent, out);
  const auto [at, is_new] = finished_.try_emplace(it->first, false);
  at->second = at->second || stream.served;
  if (is_new) finished_order_.emplace_back(now_, it->first);
  if (finished_order_.size() > kFinishedMax) ForgetOldestFinished();
  streams_.erase(it);
  return true;
}

void Streams::ForgetOldestFinished() {
  finished_.erase(finished_order_.front().second);
  finished_order_.pop_front();
}

// --- Repair --------------------------------------------------------------

void Streams::Tick(const Pass& pass, const View& view, Splitter split) {
  now_ = pass.now;
  // A parent gives up an offer after this patience, too.
  while (!finished_order_.empty() &&
         now_ - finished_order_.front().first > 2 * limits_.stream_patience) {
    ForgetOldestFinished();
  }
  bytes_owed_.clear();
  awaiting_.clear();
  for (auto it = streams_.begin(); it != streams_.end();) {
    const auto at = it++;
    Stream& stream = at->second;
    MendChildren(stream, view, split, pass.out);
    if (Settle(at, pass.out)) continue;
    for (const auto& [hop, child] : stream.children) {
      if (!child.done && pass.now - stream.touched < kOwedTimeMax) {
        bytes_owed_[hop] += stream.offer.total;
        awaiting_.insert(child.targets.begin(), child.targets.end());
      }
    }
    if (!stream.complete() && stream.pulling) AskAgain(stream, view, pass.out);
    if (pass.now - stream.active > limits_.stream_patience) {
      ++expired_count_;
      streams_.erase(at);
    } else {
      pass.out.WakeAt(stream.active + limits_.stream_patience);
    }
  }
}

void Streams::MendChildren(Stream& stream, const View& view, Splitter split,
                           Outbox& out) {
  std::vector<AgentId> behind_dead;
  std::vector<Branch> direct;
  for (auto it = stream.children.begin(); it != stream.children.end();) {
    const auto at = it++;
    Child& child = at->second;
    if (child.done) continue;
    if (view.Contains(at->first)) {
      Remind(stream, at->first, child, direct, out);
      continue;
    }
    ++repaired_count_;
    for (AgentId target : child.targets) {
      if (target != at->first) behind_dead.push_back(target);
    }
    stream.children.erase(at);
  }
  // Targets behind the dead may have come far: they first tell the segments
  // that they have.
  if (!behind_dead.empty()) {
    AddBranches(
        stream,
        split(stream.offer.plan, stream.offer.hops, std::move(behind_dead)),
        /*credit=*/0, out);
  }
  if (!direct.empty()) AddBranches(stream, direct, /*credit=*/0, out);
}

void Streams::Remind(Stream& stream, AgentId to, Child& child,
                     std::vector<Branch>& direct, Outbox& out) {
  const auto due = [&] {
    return child.offered +
           Doubled(Retry(), child.heard ? kDoublingsHeard : child.offers);
  };
  if (due() <= now_) {
    ++child.offers;
    child.offered = now_;
    if (!child.heard && child.offers == kOffersMax + 1 &&
        child.targets.size() > 1) {
      ++repaired_count_;
      for (AgentId target : std::exchange(child.targets, {to})) {
        if (target != to) direct.push_back({target, {target}});
      }
    }
    Offer(stream, to, child, out);
  }
  out.WakeAt(due());
}

int64_t Streams::BytesOwed(AgentId child) const {
  const auto it = bytes_owed_.find(child);
  return it == bytes_owed_.end() ? 0 : it->second;
}

absl::Time Streams::StallAt(const Stream& stream) const {
  return std::max(stream.touched, stream.asked) +
         Doubled(std::max(Retry(), 4 * stream.gap), stream.stalls);
}

void Streams::AskAgain(Stream& stream, const View& view, Outbox& out) {
  const bool orphan = !view.Contains(stream.parent);
  if (StallAt(stream) <= now_ || (orphan && stream.stalls == 0)) {
    ++stream.stalls;
    ++asked_again_count_;
    stream.asked = now_;
    const AgentId before = stream.parent;
    if (orphan || stream.stalls > 1) AddParent(stream, stream.offer.key.origin);
    // A parent that is asked for the first time sends from `have` on by itself.
    Pull(stream, stream.parent == before ? Ask::kMissing : Ask::kAnswer, out);
  }
  out.WakeAt(StallAt(stream));
}

}  // namespace dogged
