#include "runtime/sim/node_table.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

constexpr absl::string_view kScheme = "sim:";

}  // namespace

SimNode* NodeTable::Random() {
  std::vector<SimNode*> live;
  for (const auto& node : nodes_) {
    if (node->agent != nullptr && !node->leaving) live.push_back(node.get());
  }
  if (live.empty()) return nullptr;
  return world_.rng.Pick(live);
}

int64_t NodeTable::LiveBytes(const SimNode& node) const {
  return node.live_bytes +
         (billed_ == &node ? Value::LiveBytes() - live_before_ : 0);
}

void NodeTable::Wake(SimNode& node) {
  if (billed_ == nullptr) Bill(node);
  if (node.woken || node.paused || node.agent == nullptr) return;
  node.woken = true;
  world_.queue.After(absl::ZeroDuration(), [this, &node] { run_(node); });
}

// A client hears of agents from those that it knows, so of members.
SimNode* NodeTable::RandomMember() {
  std::vector<SimNode*> members;
  for (const auto& node : nodes_) {
    if (node->agent != nullptr && !node->leaving &&
        node->agent->membership().view()->size() > 1) {
      members.push_back(node.get());
    }
  }
  return members.empty() ? Random() : world_.rng.Pick(members);
}

void NodeTable::Submit(SimNode& node, SubmissionId submission) {
  const absl::StatusOr<JobId> id = node.agent->Submit(
      world_.queue.now(), world_.encoded_job, submission, world_.options.job);
  DOGGED_CHECK(id.ok()) << id.status().ToString();
  Wake(node);
}

std::string NodeTable::AddressOf(int place) {
  return absl::StrCat(kScheme, place);
}

SimNode* NodeTable::At(absl::string_view address) const {
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

void NodeTable::Continue(SimNode& node) {
  node.paused = false;
  node.woken = false;
  for (const auto& answer : std::exchange(node.waiting, {})) answer();
  Wake(node);
}

void NodeTable::BeginEvent() {
  billed_ = nullptr;
  live_before_ = Value::LiveBytes();
}

void NodeTable::EndEvent() {
  if (billed_ == nullptr) return;
  billed_->live_bytes += Value::LiveBytes() - live_before_;
  world_.outcome.live_bytes_max =
      std::max(world_.outcome.live_bytes_max, billed_->live_bytes);
  billed_ = nullptr;
}

}  // namespace dogged
