#include "routing/membership/view.h"

#include <algorithm>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/base/hash.h"

namespace dogged {

void Member::EncodeTo(Encoder& encoder) const {
  encoder.PutId(id);
  encoder.PutVarint(static_cast<uint64_t>(topology_id.base()));
  encoder.PutString(topology_id.digits());
  encoder.PutString(host);
  encoder.PutString(control_address);
  encoder.PutString(fabric_address);
  encoder.PutVarint(static_cast<uint64_t>(workers));
  encoder.PutString(numeric_class);
  encoder.PutString(arena);
  // A member stands amid others: what it gains later goes into this string.
  Encoder grows;
  wire.EncodeTo(grows);
  grows.PutRaw(more);
  if (more.empty()) PutOpenEnd(grows);
  encoder.PutString(grows.view());
}

Member Member::DecodeFrom(Decoder& decoder) {
  Member member;
  member.id = decoder.GetId<AgentId>();
  const uint64_t base = decoder.GetVarint();
  absl::StatusOr<TopologyId> topology_id = TopologyId::FromDigits(
      static_cast<int>(std::min<uint64_t>(base, TopologyId::kBaseMax + 1)),
      decoder.GetString());
  if (!topology_id.ok() || member.id.IsNone()) {
    decoder.Fail();
    return {};
  }
  member.topology_id = *std::move(topology_id);
  member.host = std::string(decoder.GetString());
  member.control_address = std::string(decoder.GetString());
  member.fabric_address = std::string(decoder.GetString());
  member.workers =
      static_cast<int32_t>(std::min<uint64_t>(decoder.GetVarint(), INT32_MAX));
  member.numeric_class = std::string(decoder.GetString());
  member.arena = std::string(decoder.GetString());
  Decoder grows(decoder.GetString());
  member.wire = WireRange::DecodeFrom(grows);
  if (!grows.ok()) decoder.Fail();
  member.more = std::string(grows.GetRaw(grows.remaining()));
  return member;
}

View::View(std::vector<Member> members) : members_(std::move(members)) {
  std::sort(members_.begin(), members_.end(),
            [](const Member& a, const Member& b) { return a.id < b.id; });
  if (!members_.empty()) wire_ = members_[0].wire;
  uint64_t digest = members_.size();
  for (size_t i = 0; i < members_.size(); ++i) {
    DOGGED_CHECK(i == 0 || members_[i - 1].id < members_[i].id)
        << "agent " << members_[i].id.ToString() << " twice in a view";
    digest = Mix64(digest, members_[i].id.value());
    wire_ = wire_.Common(members_[i].wire);
  }
  digest_ = ViewDigest(digest);
}

const Member* View::Find(AgentId id) const {
  auto it = std::lower_bound(
      members_.begin(), members_.end(), id,
      [](const Member& member, AgentId key) { return member.id < key; });
  return it != members_.end() && it->id == id ? &*it : nullptr;
}

}  // namespace dogged
