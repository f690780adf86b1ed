// How processes of a simulated cluster find each other: as real ones do, by
// addresses that they were given or have heard of, over connections that the
// network cuts like all else.
#include <algorithm>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/cluster_node.h"

namespace dogged {
namespace {

constexpr absl::Duration kConnectTime = absl::Milliseconds(1);
constexpr absl::Duration kDialTimeMax = absl::Seconds(3);
constexpr absl::string_view kScheme = "sim:";

}  // namespace

std::string Cluster::AddressOf(int place) {
  return absl::StrCat(kScheme, place);
}

Cluster::Node* Cluster::NodeAt(absl::string_view address) {
  int place = -1;
  if (!absl::ConsumePrefix(&address, kScheme) ||
      !absl::SimpleAtoi(address, &place)) {
    return nullptr;
  }
  for (const auto& node : nodes_) {
    if (node->place == place && node->agent != nullptr) return node.get();
  }
  return nullptr;
}

void Cluster::NoteEvents(Node& node) {
  for (const MembershipEvent& event : node.agent->TakeEvents()) {
    const std::string& address = event.member.control_address;
    switch (event.kind) {
      case MembershipEvent::Kind::kJoined:
        node.contacts->Add(address);
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

void Cluster::KeepContacts(Node& node) {
  for (const std::string& address :
       node.contacts->TakeDue(queue_.now(), *node.agent->membership().view(),
                              AddressOf(node.place))) {
    Dial(node, address);
  }
  if (node.contacts->HasSettled(queue_.now())) node.agent->NoteSettled();
  if (!node.left.has_value()) return;
  if (!node.contacts->HasSettled(queue_.now())) {
    queue_.At(node.contacts->settles_at(), [this, &node] { Wake(node); });
    return;
  }
  const CarriedOver left = *std::exchange(node.left, std::nullopt);
  Submit(node, clients_.front().submission);
  SetValueMemory(node.arena);
  node.agent->AdoptCarriedOver(queue_.now(), job_id_, left);
  SetValueMemory(nullptr);
}

void Cluster::Dial(Node& node, const std::string& address) {
  const AgentId caller = node.id;
  const std::string snapshot = node.agent->Snapshot();
  queue_.After(kConnectTime, [this, &node, caller, address, snapshot] {
    Node* callee = NodeAt(address);
    const auto size = std::ssize(snapshot);
    const bool connects = callee != nullptr && !callee->paused &&
                          network_.Reaches(node.place, callee->place, size) &&
                          network_.Reaches(callee->place, node.place, size);
    std::optional<std::string> answer;
    if (connects) {
      Bill(*callee);
      auto admitted = callee->agent->Admit(queue_.now(), snapshot);
      if (admitted.ok()) answer = *std::move(admitted);
      Wake(*callee);
    }
    // A port that nobody listens at refuses at once.
    const bool is_quick = connects || callee == nullptr;
    queue_.After(is_quick ? kConnectTime : kDialTimeMax,
                 [this, &node, caller, address, answer] {
                   EndDial(node, caller, address, answer);
                 });
  });
}

void Cluster::EndDial(Node& node, AgentId caller, const std::string& address,
                      const std::optional<std::string>& answer) {
  if (node.agent == nullptr || node.id != caller) return;
  Bill(node);
  AgentId met;
  if (answer.has_value()) {
    met = node.agent->Join(queue_.now(), *answer, address).value_or(AgentId());
  }
  if (met.IsNone()) {
    node.contacts->NoteFailure(queue_.now(), address);
  } else {
    node.contacts->NoteAnswer(address, met, met == node.id);
  }
  Wake(node);
}

void Cluster::AwaitOneView(absl::Time limit) {
  network_.MendAll();
  for (const auto& node : nodes_) {
    if (!node->paused) continue;
    node->paused = false;
    node->woken = false;
    Wake(*node);
  }
  std::string difference;
  while (queue_.now() < limit && queue_.RunNext()) {
    billed_ = nullptr;
    std::vector<const Node*> live;
    for (const auto& node : nodes_) {
      if (node->agent != nullptr && !node->leaving) live.push_back(node.get());
    }
    difference.clear();
    for (const Node* node : live) {
      const auto view = node->agent->membership().view();
      const bool is_same = std::all_of(
          live.begin(), live.end(),
          [&](const Node* other) { return view->Contains(other->id); });
      if (!is_same || view->size() != std::ssize(live)) {
        difference = absl::StrCat("agent ", node->id.ToString(), " sees ",
                                  view->size(), " of ", live.size());
      }
    }
    if (difference.empty()) return;
  }
  outcome_.status = absl::DeadlineExceededError(
      absl::StrCat("no one view after all was mended: ", difference));
}

}  // namespace dogged
