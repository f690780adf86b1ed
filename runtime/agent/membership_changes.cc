#include "runtime/agent/membership_changes.h"

#include "runtime/agent/records/placement_salts.h"
#include "runtime/agent/records/troubles.h"
#include "runtime/job/job_run.h"

namespace dogged {

void MembershipChanges::Handle(absl::Time now) {
  for (MembershipEvent& event : agent_.membership.TakeEvents()) {
    switch (event.kind) {
      case MembershipEvent::Kind::kNamed:
      case MembershipEvent::Kind::kJoined:
        mailbox_.SetPeer(event.member);
        break;
      case MembershipEvent::Kind::kForgotten:
        mailbox_.ForgetPeer(event.member.id);
        break;
      case MembershipEvent::Kind::kDied:
        takers_.NoteLoss(event.cause);
        mailbox_.DropQueued(event.member.id);
        break;
      case MembershipEvent::Kind::kRecord:
        ApplyRecord(now, event.key);
        break;
      case MembershipEvent::Kind::kLeft:
        for (auto& [id, entry] : table_) {
          if (entry.run == nullptr) continue;
          entry.leavers.insert(event.member.id);
          entry.run->ExpectHandover(now, event.member.id);
        }
        break;
      case MembershipEvent::Kind::kDeclaredDead:
        break;
    }
    events_.push_back(std::move(event));
  }
  if (agent_.membership.view() != placed_view_) PlaceRuns(now);
}

void MembershipChanges::ApplyRecord(absl::Time now, const std::string& key) {
  if (IsHomesKey(key)) return takers_.ApplySalts(now, key);
  if (IsTroubleKey(key)) return takers_.ApplyTrouble(now, key);
  const auto record =
      JobRecord::Decode(agent_.membership.records().Find(key)->bytes());
  agent_.Count(record.status());
  if (record.ok()) lifecycle_.Apply(now, *record);
}

void MembershipChanges::PlaceRuns(absl::Time now) {
  placed_view_ = agent_.membership.view();
  agent_.multicast.SetView(placed_view_);
  if (agent_.lending != nullptr) agent_.lending->SetView(now, *placed_view_);
  for (auto& [id, entry] : table_) {
    if (entry.run != nullptr) takers_.Place(now, entry);
  }
}

}  // namespace dogged
