#include "runtime/sim/node_contacts.h"

#include <iterator>
#include <memory>
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
  node.agent->AdoptRecords(world_.queue.now(),
                           std::exchange(node.left_records, {}));
  SetValueMemory(nullptr);
}

void NodeContacts::Dial(SimNode& node, const std::string& address) {
  const AgentId caller = node.id;
  const std::string snapshot =
      node.agent->Snapshot(node.contacts->IsRemembered(address));
  world_.queue.After(kConnectTime, [this, &node, caller, address, snapshot] {
    SimNode* callee = nodes_.At(address);
    const auto size = std::ssize(snapshot);
    const auto has_ended = std::make_shared<bool>(false);
    const auto end_after = [this, &node, caller, address, has_ended](
                               absl::Duration time,
                               const std::optional<std::string>& answer) {
      world_.queue.After(time,
                         [this, &node, caller, address, answer, has_ended] {
                           if (std::exchange(*has_ended, true)) return;
                           EndDial(node, caller, address, answer);
                         });
    };
    // A port that nobody listens at refuses at once.
    if (callee == nullptr) return end_after(kConnectTime, std::nullopt);
    if (!world_.network.Reaches(node.place, callee->place, size) ||
        !world_.network.Reaches(callee->place, node.place, size)) {
      return end_after(kDialTimeMax, std::nullopt);
    }
    const auto answer = [this, callee, snapshot, end_after] {
      if (callee->agent == nullptr) return;
      nodes_.Bill(*callee);
      auto admitted = callee->agent->Admit(world_.queue.now(), snapshot);
      nodes_.Wake(*callee);
      end_after(kConnectTime, admitted.ok()
                                  ? std::make_optional(*std::move(admitted))
                                  : std::nullopt);
    };
    if (!callee->paused) return answer();
    // The system takes the connection of a process that is stopped, which
    // answers first of all as it goes on, though perhaps to nobody.
    callee->waiting.push_back(answer);
    end_after(kDialTimeMax, std::nullopt);
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
