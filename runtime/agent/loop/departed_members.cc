#include "runtime/agent/loop/departed_members.h"

#include "runtime/base/codec.h"

namespace dogged {
namespace {

constexpr size_t kMembersMax = 1000;

}  // namespace

void DepartedMembers::Add(const MembershipEvent& event) {
  const bool died = event.kind == MembershipEvent::Kind::kDied;
  if (!died && event.kind != MembershipEvent::Kind::kLeft) return;
  Encoder encoder;
  MemberStatus{.member = event.member,
               .state = died ? "dead" : "left",
               .cause = died ? event.cause : ""}
      .EncodeTo(encoder);
  encoded_.push_back(memory_.CopyOf(encoder.view()));
  if (encoded_.size() > kMembersMax) encoded_.pop_front();
}

std::vector<MemberStatus> DepartedMembers::All() const {
  std::vector<MemberStatus> out;
  for (const std::pmr::string& encoded : encoded_) {
    Decoder decoder(encoded);
    out.push_back(MemberStatus::DecodeFrom(decoder));
  }
  return out;
}

}  // namespace dogged
