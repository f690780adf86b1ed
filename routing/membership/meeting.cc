#include "routing/membership/meeting.h"

#include <algorithm>
#include <utility>

namespace dogged {

void MeetingSnapshot::EncodeTo(Encoder& encoder) const {
  encoder.PutId(from);
  encoder.PutId(view);
  news.EncodeTo(encoder);
  named.EncodeTo(encoder);
  encoder.PutBool(is_for_kin);
  encoder.PutVarint(kin.size());
  for (const AgentId id : kin) encoder.PutId(id);
}

MeetingSnapshot MeetingSnapshot::DecodeFrom(Decoder& decoder) {
  MeetingSnapshot out;
  out.from = decoder.GetId<AgentId>();
  out.view = decoder.GetId<ViewDigest>();
  out.news = GossipNews::DecodeFrom(decoder);
  out.named = GossipNews::DecodeFrom(decoder);
  if (decoder.remaining() == 0) return out;  // of an earlier release
  out.is_for_kin = decoder.GetBool();
  const int64_t count = decoder.GetCount(sizeof(AgentId));
  for (int64_t i = 0; i < count && decoder.ok(); ++i) {
    out.kin.push_back(decoder.GetId<AgentId>());
  }
  return out;
}

bool MeetingSnapshot::IsKin(absl::FunctionRef<bool(AgentId)> known) const {
  const auto knows = [known](const MemberFact& fact) { return known(fact.id); };
  return std::any_of(kin.begin(), kin.end(), known) ||
         std::any_of(news.facts.begin(), news.facts.end(), knows) ||
         std::any_of(named.facts.begin(), named.facts.end(), knows);
}

const MemberFact* MeetingSnapshot::FactOf(AgentId id) const {
  const auto it =
      std::find_if(news.facts.begin(), news.facts.end(),
                   [id](const MemberFact& fact) { return fact.id == id; });
  return it == news.facts.end() ? nullptr : &*it;
}

const Member* MeetingSnapshot::Sender() const {
  const MemberFact* const fact = FactOf(from);
  return fact == nullptr ? nullptr : &fact->member;
}

bool MeetingSnapshot::Outweighs(const View& ours) const {
  const int64_t size = std::count_if(
      news.facts.begin(), news.facts.end(),
      [](const MemberFact& fact) { return fact.state == MemberState::kAlive; });
  return std::make_pair(size, view) >
         std::make_pair(ours.size(), ours.digest());
}

}  // namespace dogged
