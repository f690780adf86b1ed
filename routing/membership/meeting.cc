#include "routing/membership/meeting.h"

#include <algorithm>
#include <utility>

namespace dogged {

void MeetingSnapshot::EncodeTo(Encoder& encoder) const {
  encoder.PutId(from);
  encoder.PutId(view);
  news.EncodeTo(encoder);
  named.EncodeTo(encoder);
}

MeetingSnapshot MeetingSnapshot::DecodeFrom(Decoder& decoder) {
  MeetingSnapshot out;
  out.from = decoder.GetId<AgentId>();
  out.view = decoder.GetId<ViewDigest>();
  out.news = GossipNews::DecodeFrom(decoder);
  out.named = GossipNews::DecodeFrom(decoder);
  return out;
}

const Member* MeetingSnapshot::Sender() const {
  const auto it =
      std::find_if(news.facts.begin(), news.facts.end(),
                   [this](const MemberFact& fact) { return fact.id == from; });
  return it == news.facts.end() ? nullptr : &it->member;
}

bool MeetingSnapshot::Outweighs(const View& ours) const {
  const int64_t size = std::count_if(
      news.facts.begin(), news.facts.end(),
      [](const MemberFact& fact) { return fact.state == MemberState::kAlive; });
  return std::make_pair(size, view) >
         std::make_pair(ours.size(), ours.digest());
}

}  // namespace dogged
