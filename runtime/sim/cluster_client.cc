// The client of a simulated cluster: it submits the job, and waits for its end.
#include <iterator>
#include <vector>

#include "runtime/base/check.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/cluster_node.h"

namespace dogged {

void Cluster::Submit(Node& node) {
  const absl::StatusOr<JobId> id = node.agent->Submit(
      queue_.now(), encoded_job_, SubmissionId(1), options_.job);
  DOGGED_CHECK(id.ok()) << id.status().ToString();
  Wake(node);
}

void Cluster::SubmitToAll() {
  std::vector<Node*> live;
  for (const auto& node : nodes_) {
    if (node->agent != nullptr) live.push_back(node.get());
  }
  for (Node* node : live) {
    if (node->agent->membership().view()->size() == std::ssize(live)) continue;
    queue_.After(absl::Milliseconds(1), [this] { SubmitToAll(); });
    return;
  }
  Submit(*live.front());
  Begin();
}

void Cluster::Begin() {
  ScheduleFaults();
  queue_.After(absl::Milliseconds(1), [this] {
    if (options_.client_stays) {
      PollClient();
    } else {
      AwaitDone();
    }
  });
}

void Cluster::AwaitDone() {
  bool all = true;
  for (const auto& node : nodes_) {
    if (node->agent == nullptr || node->leaving) continue;
    for (const JobSummary& summary : node->agent->Jobs({.job = job_id_})) {
      outcome_.record = summary.record;
      all &= summary.record.state == JobState::kDone;
    }
    all &= node->agent->FindRun(job_id_) != nullptr;
  }
  if (all) {
    finished_ = true;
  } else {
    queue_.After(absl::Milliseconds(20), [this] { AwaitDone(); });
  }
}

void Cluster::ListResults() {
  if (!rounds_->HasEnded()) return;
  rounds_->ForEachDemanded([this](const Label& label) {
    missing_.emplace(label, false);
    return true;
  });
}

// The client: asks one agent for all results that it misses, and another one
// when that one is gone.
void Cluster::PollClient() {
  // Agents that it has turned away from may still answer.
  for (const auto& node : nodes_) {
    if (node->agent == nullptr) continue;
    const int64_t live = Value::LiveBytes();
    for (auto& [label, value] : node->agent->TakeWanted(job_id_)) {
      if (missing_.erase(label) == 0) continue;
      // What the bytes are now, not what they were said to be.
      outcome_.results[label] = Hash128(value.view());
    }
    node->live_bytes += Value::LiveBytes() - live;
    live_before_ += Value::LiveBytes() - live;
  }
  if (contact_ != nullptr && contact_->agent != nullptr) {
    for (const JobSummary& summary : contact_->agent->Jobs({.job = job_id_})) {
      if (rounds_->Raise(summary.record.round, summary.record.is_last_round)) {
        ListResults();
      }
      if (summary.record.state == JobState::kFailed) {
        outcome_.status =
            absl::Status(summary.record.code, summary.record.message);
        finished_ = true;
        return;
      }
    }
  }
  if (missing_.empty() && rounds_->HasEnded()) {
    finished_ = true;
    return;
  }
  if (contact_ == nullptr || contact_->agent == nullptr || contact_->leaving ||
      contact_->paused) {
    contact_ = RandomNode();
    for (auto& [label, asked] : missing_) asked = false;
    if (contact_ != nullptr) {
      // The job may have died with the last one before anybody else had it.
      Submit(*contact_);
    }
  }
  if (contact_ != nullptr) {
    std::vector<Label> labels;
    for (auto& [label, asked] : missing_) {
      if (!asked) labels.push_back(label);
    }
    if (!labels.empty() &&
        contact_->agent->Want(queue_.now(), job_id_, labels).ok()) {
      for (auto& [label, asked] : missing_) asked = true;
      Wake(*contact_);
    }
  }
  queue_.After(absl::Milliseconds(20), [this] { PollClient(); });
}

}  // namespace dogged
