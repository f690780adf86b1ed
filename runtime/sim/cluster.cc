#include "runtime/sim/cluster.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/agent/agent.h"
#include "runtime/base/check.h"
#include "runtime/job/job_run.h"

namespace dogged {
namespace {

// From the start of one agent to that of the next.
constexpr absl::Duration kStartInterval = absl::Milliseconds(3);

}  // namespace

Cluster::Cluster(const SimOptions& options, std::string encoded_job,
                 KernelLoader load_kernels)
    : world_(options, std::move(encoded_job), std::move(load_kernels)),
      nodes_(world_),
      contacts_(world_, nodes_),
      unequal_(world_, nodes_),
      lives_(world_, nodes_, contacts_, unequal_),
      clients_(world_, nodes_, lives_),
      faults_(world_, nodes_, lives_) {}

SimOutcome Cluster::Run() {
  const std::string context = absl::StrCat("seed ", world_.options.seed);
  SetCheckContext(context.c_str());
  SimNode& first = lives_.Add(nullptr, lives_.SicknessOf(0));
  if (!*world_.options.gathers_first) nodes_.Submit(first, world_.submission);
  for (int i = 1; i < world_.options.agents; ++i) {
    world_.queue.After(i * kStartInterval, [this, i] {
      lives_.Add(nullptr, lives_.SicknessOf(i));
    });
  }
  if (*world_.options.gathers_first) {
    SubmitToAll();
  } else {
    // Faults are for agents that have met.
    world_.queue.After((world_.options.agents + 1) * kStartInterval,
                       [this] { Begin(); });
  }
  // Long enough for one agent to do all of it several times.
  const absl::Time limit =
      world_.queue.now() + world_.options.time_max +
      4 * static_cast<double>(world_.outcome.tasks_needed) *
          world_.options.task_time;
  const absl::Time start = world_.queue.now();
  while (!world_.is_over && world_.queue.now() < limit) {
    nodes_.BeginEvent();
    if (!world_.queue.RunNext()) break;
    nodes_.EndEvent();
  }
  nodes_.BillNobody();
  if (world_.is_over && world_.outcome.status.ok() &&
      world_.options.heals_within > absl::ZeroDuration()) {
    AwaitOneView(world_.queue.now() + world_.options.heals_within);
  }
  if (!world_.is_over) {
    world_.outcome.status = absl::DeadlineExceededError(
        absl::StrCat(clients_.WhatIsMissing(), " after ",
                     absl::FormatDuration(world_.queue.now() - start)));
  }
  for (const auto& node : nodes_.all()) {
    lives_.CollectStats(*node);
    if (node->agent != nullptr && node->disk != nullptr) {
      world_.outcome.disk_bytes += node->disk->bytes;
    }
  }
  const SimClient& client = clients_.first();
  unequal_.Count(client.contact, client.results);
  const Rounds& rounds = client.rounds;
  if (rounds.IsLoop() && rounds.HasEnded()) {
    world_.outcome.tasks_needed = rounds.TaskCount();
  }
  world_.outcome.trace_digest = world_.network.trace_digest();
  world_.outcome.messages = world_.network.sent_count();
  world_.outcome.elapsed = world_.queue.now() - start;
  world_.outcome.undisturbed = world_.queue.now() - world_.disturbed;
  SetCheckContext("");
  return world_.outcome;
}

void Cluster::SubmitToAll() {
  std::vector<SimNode*> live;
  for (const auto& node : nodes_.all()) {
    if (node->agent != nullptr) live.push_back(node.get());
  }
  for (SimNode* node : live) {
    if (std::ssize(live) >= world_.options.agents &&
        node->agent->membership().view()->size() == std::ssize(live)) {
      continue;
    }
    world_.queue.After(absl::Milliseconds(1), [this] { SubmitToAll(); });
    return;
  }
  nodes_.Submit(*live.front(), world_.submission);
  Begin();
}

void Cluster::Begin() {
  // A client that goes does so once its submission was confirmed.
  const auto& submitter = nodes_.all().front();
  if (!world_.options.client_stays && world_.options.directories &&
      !submitter->agent->IsTold(world_.job_id)) {
    world_.queue.After(absl::Milliseconds(1), [this] { Begin(); });
    return;
  }
  faults_.ScheduleAll();
  world_.queue.After(absl::Milliseconds(1), [this] { clients_.Begin(); });
}

void Cluster::AwaitOneView(absl::Time limit) {
  world_.network.MendAll();
  for (const auto& node : nodes_.all()) {
    if (node->paused) nodes_.Continue(*node);
  }
  std::string difference;
  while (world_.queue.now() < limit && world_.queue.RunNext()) {
    nodes_.BillNobody();
    std::vector<const SimNode*> live;
    for (const auto& node : nodes_.all()) {
      if (node->agent != nullptr && !node->leaving) live.push_back(node.get());
    }
    difference.clear();
    for (const SimNode* node : live) {
      const auto view = node->agent->membership().view();
      const bool is_same = std::all_of(
          live.begin(), live.end(),
          [&](const SimNode* other) { return view->Contains(other->id); });
      if (!is_same || view->size() != std::ssize(live)) {
        difference = absl::StrCat("agent ", node->id.ToString(), " sees ",
                                  view->size(), " of ", live.size());
      }
    }
    if (difference.empty()) return;
  }
  world_.outcome.status = absl::DeadlineExceededError(
      absl::StrCat("no one view after all was mended: ", difference));
}

}  // namespace dogged
