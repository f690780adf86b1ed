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

std::string MeetingSnapshot::AddressOfSender() const {
  std::string address;
  for (const MemberFact& fact : news.facts) {
    if (fact.id == from) address = fact.member.control_address;
  }
  return address;
}

bool MeetingSnapshot::Outweighs(const View& ours) const {
  const int64_t size = std::count_if(
      news.facts.begin(), news.facts.end(),
      [](const MemberFact& fact) { return fact.state == MemberState::kAlive; });
  return std::make_pair(size, view) >
         std::make_pair(ours.size(), ours.digest());
}

}  // namespace dogged
