#include "runtime/sim/node_contacts.h"

#include <iterator>
#include <utility>

#include "absl/time/time.h"
#include "runtime/base/value_memory.h"

namespace dogged {
namespace {

constexpr absl::Duration kConnectTime = absl::Milliseconds(1);
constexpr absl::Duration kDialTimeMax = absl::Seconds(3);

}  // namespace

void NodeContacts::NoteEvents(SimNode& node) {
  for (const MembershipEvent& event : node.agent->TakeEvents()) {
    const std::string& address = event.member.control_address;
    switch (event.kind) {
      case MembershipEvent::Kind::kJoined:
        node.contacts->Add(address, event.member.id);
        break;
      case MembershipEvent::Kind::kLeft:
        node.contacts->Remove(address);
        break;
      case MembershipEvent::Kind::kDeclaredDead:
        node.contacts->Prefer(address);
        break;
      case MembershipEvent::Kind::kNamed:
      case MembershipEvent::Kind::kDied:
      case MembershipEvent::Kind::kForgotten:
      case MembershipEvent::Kind::kRecord:
        break;
    }
  }
}

void NodeContacts::Keep(SimNode& node) {
  for (const std::string& address : node.contacts->TakeDue(
           world_.queue.now(), *node.agent->membership().view(),
           NodeTable::AddressOf(node.place))) {
    Dial(node, address);
  }
  if (node.contacts->HasSettled(world_.queue.now())) node.agent->NoteSettled();
  if (!node.left.has_value()) return;
  if (!node.contacts->HasSettled(world_.queue.now())) {
    world_.queue.At(node.contacts->settles_at(),
                    [this, &node] { nodes_.Wake(node); });
    return;
  }
  const CarriedOver left = *std::exchange(node.left, std::nullopt);
  nodes_.Submit(node, world_.submission);
  SetValueMemory(node.arena);
  node.agent->AdoptCarriedOver(world_.queue.now(), world_.job_id, left);
  SetValueMemory(nullptr);
}

void NodeContacts::Dial(SimNode& node, const std::string& address) {
  const AgentId caller = node.id;
  const std::string snapshot =
      node.agent->Snapshot(node.contacts->IsRemembered(address));
  world_.queue.After(kConnectTime, [this, &node, caller, address, snapshot] {
    SimNode* callee = nodes_.At(address);
    const auto size = std::ssize(snapshot);
    const bool connects =
        callee != nullptr && !callee->paused &&
        world_.network.Reaches(node.place, callee->place, size) &&
        world_.network.Reaches(callee->place, node.place, size);
    std::optional<std::string> answer;
    if (connects) {
      nodes_.Bill(*callee);
      auto admitted = callee->agent->Admit(world_.queue.now(), snapshot);
      if (admitted.ok()) answer = *std::move(admitted);
      nodes_.Wake(*callee);
    }
    // A port that nobody listens at refuses at once.
    const bool is_quick = connects || callee == nullptr;
    world_.queue.After(is_quick ? kConnectTime : kDialTimeMax,
                       [this, &node, caller, address, answer] {
                         EndDial(node, caller, address, answer);
                       });
  });
}

void NodeContacts::EndDial(SimNode& node, AgentId caller,
                           const std::string& address,
                           const std::optional<std::string>& answer) {
  if (node.agent == nullptr || node.id != caller) return;
  nodes_.Bill(node);
  AgentId met;
  if (answer.has_value()) {
    met = node.agent->Join(world_.queue.now(), *answer, address)
              .value_or(AgentId());
  }
  if (met.IsNone()) {
    node.contacts->NoteFailure(world_.queue.now(), address);
  } else {
    node.contacts->NoteAnswer(address, met, met == node.id);
  }
  nodes_.Wake(node);
}

}  // namespace dogged
