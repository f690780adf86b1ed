#include "routing/multicast/multicast.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/codec.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// The view and the table, as planners at this agent see them.
class ViewScene : public PlanScene {
 public:
  ViewScene(const View& view, const RoutingTable& table, bool at_source)
      : view_(view), table_(table), at_source_(at_source) {}
  AgentId self() const override { return table_.self(); }
  const TopologyId* IdOf(AgentId agent) const override {
    const Member* member = view_.Find(agent);
    return member == nullptr ? nullptr : &member->topology_id;
  }
  AgentId NextHopTo(AgentId target) const override {
    return NextHop(table_, *view_.Find(target));
  }
  bool at_source() const override { return at_source_; }

 private:
  const View& view_;
  const RoutingTable& table_;
  bool at_source_;
};

int64_t HostCount(const View& view) {
  std::set<absl::string_view> hosts;
  for (const Member& member : view.members()) hosts.insert(member.host);
  return std::ssize(hosts);
}

}  // namespace

// Header of a body that travels whole; then follow the destinations (u64 each,
// their count as varint), then the body.
struct Multicast::Header {
  AgentId origin;
  uint8_t kind = 0;
  MulticastPlan plan = MulticastPlan::kFlat;
  int hops = 0;  // messages so far on the way from the origin

  void EncodeTo(Encoder& encoder) const {
    encoder.PutId(origin);
    encoder.PutU8(kind);
    encoder.PutU8(static_cast<uint8_t>(plan));
    encoder.PutVarint(static_cast<uint64_t>(hops));
  }
  static Header DecodeFrom(Decoder& decoder) {
    constexpr uint64_t kHopsMost = 1 << 20;
    Header header;
    header.origin = decoder.GetId<AgentId>();
    header.kind = decoder.GetU8();
    const uint8_t plan = decoder.GetU8();
    const uint64_t hops = decoder.GetVarint();
    if (plan == 0 || plan >= kMulticastPlanCount || hops > kHopsMost) {
      decoder.Fail();
      return header;
    }
    header.plan = static_cast<MulticastPlan>(plan);
    header.hops = static_cast<int>(hops);
    return header;
  }
};

Multicast::Multicast(AgentId self, MulticastPlan plan, const Limits& limits)
    : self_(self),
      plan_(plan),
      limits_(limits),
      view_(std::make_shared<const View>()),
      streams_(self, limits) {}

void Multicast::SetView(std::shared_ptr<const View> view) {
  const bool changed = view->digest() != view_->digest();
  view_ = std::move(view);
  const Member* self = view_->Find(self_);
  if (!changed) return;
  // An agent that has left has no place among the members to plan from.
  table_ = self == nullptr ? RoutingTable()
                           : RoutingTable(self_, self->topology_id, *view_);
  host_count_ = HostCount(*view_);
}

std::vector<Branch> Multicast::Split(MulticastPlan plan, int hops,
                                     std::vector<AgentId> targets) {
  const auto is_unknown = [this](AgentId id) { return !view_->Contains(id); };
  const auto unknown =
      std::remove_if(targets.begin(), targets.end(), is_unknown);
  unknown_count_ += targets.end() - unknown;
  targets.erase(unknown, targets.end());
  // By the other plans the list itself gets shorter at every hop.
  if (plan == MulticastPlan::kPrefix && hops >= limits_.hops_max) {
    ++hop_limit_count_;
    plan = MulticastPlan::kFlat;
  }
  // An agent that is no member, or has left, has no table.
  if (table_.self() != self_) plan = MulticastPlan::kFlat;
  return PlannerOf(plan).Split(
      ViewScene(*view_, table_, /*at_source=*/hops == 0), targets);
}

void Multicast::Start(absl::Span<const AgentId> targets, uint8_t kind,
                      JobId job, const SplitBytes& body, Outbox& out,
                      const Bytes& tag) {
  std::vector<AgentId> others(targets.begin(), targets.end());
  std::sort(others.begin(), others.end());
  others.erase(std::unique(others.begin(), others.end()), others.end());
  const auto is_out = [this](AgentId id) {
    if (id == self_) return true;
    unknown_count_ += !view_->Contains(id);
    return !view_->Contains(id);
  };
  others.erase(std::remove_if(others.begin(), others.end(), is_out),
               others.end());
  if (others.empty()) return;
  const size_t first = out.messages.size();
  ++traffic_[job].publications;
  const auto count = std::ssize(others);
  MulticastPlan plan = plan_;
  if (plan == MulticastPlan::kAuto) {
    plan = ChoosePlan(body.size(), count, host_count_);
  }
  // A tagged body is offered first, so it is a stream for one destination too.
  const bool is_small =
      body.size() <= (count == 1 && tag.empty() ? limits_.segment_bytes
                                                : limits_.stream_bytes_min);
  if (is_small) {
    Order(plan, 0, others);
    ForwardWhole({self_, kind, plan, 0}, std::move(others), job, body, out);
  } else {
    StartStreams({plan, std::move(others), kind, job, body, tag}, out);
  }
  CountFrom(first, out);
}

void Multicast::Order(MulticastPlan plan, int tree,
                      std::vector<AgentId>& targets) const {
  if (table_.self() != self_) return;
  PlannerOf(plan).Order(ViewScene(*view_, table_, /*at_source=*/true), tree,
                        targets);
}

void Multicast::StartStreams(const Streams::Shipment& shipment, Outbox& out) {
  const auto split = [this](MulticastPlan plan, int hops,
                            std::vector<AgentId> list) {
    return Split(plan, hops, std::move(list));
  };
  const int trees = PlannerOf(shipment.plan).tree_count();
  for (int tree = 0; tree < trees; ++tree) {
    Streams::Shipment part = shipment;
    Order(part.plan, tree, part.targets);
    if (trees == 2) {
      const int64_t middle = part.body.size() / 2;
      part.part = tree == 0 ? BodyPart::kFirst : BodyPart::kSecond;
      part.body = tree == 0
                      ? part.body.Slice(0, middle)
                      : part.body.Slice(middle, part.body.size() - middle);
    }
    streams_.Start(std::move(part), split, out);
  }
}

void Multicast::ForwardWhole(const Header& header, std::vector<AgentId> targets,
                             JobId job, const SplitBytes& body, Outbox& out) {
  Header next = header;
  ++next.hops;
  for (const Branch& branch :
       Split(header.plan, header.hops, std::move(targets))) {
    Encoder encoder;
    next.EncodeTo(encoder);
    encoder.PutVarint(branch.targets.size());
    for (AgentId id : branch.targets) encoder.PutId(id);
    encoder.PutRaw(body.head.view());
    // A short body must not keep the packet alive that it came in.
    const bool is_short = body.rest.size() <= limits_.stream_bytes_min;
    if (is_short) encoder.PutRaw(body.rest.view());
    out.Send(branch.hop, RoutingKind::kMulticast, job,
             {Bytes(encoder.Take()), is_short ? Bytes() : body.rest});
  }
}

absl::Status Multicast::ReceiveWhole(JobId job, const Bytes& message,
                                     Outbox& out,
                                     std::vector<Delivery>& deliveries) {
  Decoder decoder(message.view());
  const Header header = Header::DecodeFrom(decoder);
  const int64_t count = decoder.GetCount(8);
  std::vector<AgentId> others;
  bool for_self = false;
  for (int64_t i = 0; i < count; ++i) {
    const auto id = decoder.GetId<AgentId>();
    if (id == self_) {
      for_self = true;
    } else {
      others.push_back(id);
    }
  }
  DOGGED_RETURN_IF_ERROR(decoder.status("multicast"));
  if (count == 0) return absl::InvalidArgumentError("multicast to nobody");
  const Bytes body =
      message.Slice(message.size() - decoder.remaining(), decoder.remaining());
  if (!others.empty()) {
    ++forwarded_count_;
    ForwardWhole(header, std::move(others), job, body, out);
  }
  if (for_self) deliveries.push_back({header.origin, header.kind, job, body});
  return absl::OkStatus();
}

void Multicast::Receive(const Pass& pass, const Message& message,
                        std::vector<Delivery>& deliveries) {
  const size_t first = pass.out.messages.size();
  const auto split = [this](MulticastPlan plan, int hops,
                            std::vector<AgentId> list) {
    return Split(plan, hops, std::move(list));
  };
  absl::Status status;
  const size_t delivered = deliveries.size();
  switch (static_cast<RoutingKind>(message.head.kind)) {
    case RoutingKind::kMulticast:
      status =
          ReceiveWhole(message.head.job, message.body, pass.out, deliveries);
      break;
    case RoutingKind::kStreamOffer:
      status = streams_.ReceiveOffer(pass, message, split, deliveries);
      break;
    case RoutingKind::kStreamSegment:
      status = streams_.ReceiveSegment(pass, message.body, deliveries);
      break;
    case RoutingKind::kStreamPull:
      status = streams_.ReceivePull(pass, message.head.source, message.body);
      break;
    default:
      status = absl::InvalidArgumentError("no multicast");
  }
  if (!status.ok()) ++refused_count_;
  if (deliveries.size() > delivered &&
      deliveries.back().part != BodyPart::kWhole) {
    Delivery half = std::move(deliveries.back());
    deliveries.pop_back();
    two_trees_.Add(pass.now, std::move(half), deliveries);
  }
  CountFrom(first, pass.out);
}

void Multicast::Tick(const Pass& pass) {
  const size_t first = pass.out.messages.size();
  two_trees_.Expire(pass.now - limits_.stream_patience);
  streams_.Tick(
      pass, *view_,
      [this](MulticastPlan plan, int hops, std::vector<AgentId> list) {
        return Split(plan, hops, std::move(list));
      });
  CountFrom(first, pass.out);
}

void Multicast::CountFrom(size_t first, const Outbox& out) {
  for (size_t i = first; i < out.messages.size(); ++i) {
    MulticastTraffic& traffic = traffic_[out.messages[i].job];
    ++traffic.messages;
    traffic.bytes += out.messages[i].body.size();
  }
}

}  // namespace dogged
