// The clients of a simulated cluster: each submits the job, and waits for its
// end.
#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/base/check.h"
#include "runtime/sim/cluster.h"
#include "runtime/sim/cluster_node.h"

namespace dogged {

void Cluster::Submit(Node& node, SubmissionId submission) {
  const absl::StatusOr<JobId> id =
      node.agent->Submit(queue_.now(), encoded_job_, submission, options_.job);
  DOGGED_CHECK(id.ok()) << id.status().ToString();
  Wake(node);
}

void Cluster::SetSupplier(Node& node, bool is_there) {
  if (options_.inputs == nullptr || node.agent == nullptr) return;
  node.agent->SetSupplier(job_id_, is_there);
  Wake(node);
}

void Cluster::SupplyInputs() {
  if (options_.inputs == nullptr) return;
  for (const auto& node : nodes_) {
    if (node->agent == nullptr || node->paused) continue;
    const bool is_contact = std::any_of(
        clients_.begin(), clients_.end(),
        [&](const Client& c) { return c.contact == node.get() && !c.is_done; });
    if (!is_contact) continue;
    for (const ChunkId& id : node->agent->TakeInputWishes(job_id_)) {
      const JobInput& input = options_.inputs->inputs[id.input];
      std::string bytes(input.grid.BytesOf(id.index), 0);
      input.CopyChunk(id.index, bytes.data());
      const absl::Status status = node->agent->Supply(job_id_, id, bytes);
      DOGGED_CHECK(status.ok()) << status.ToString();
    }
    Wake(*node);
  }
}

void Cluster::SubmitToAll() {
  std::vector<Node*> live;
  for (const auto& node : nodes_) {
    if (node->agent != nullptr) live.push_back(node.get());
  }
  for (Node* node : live) {
    if (std::ssize(live) >= options_.agents &&
        node->agent->membership().view()->size() == std::ssize(live)) {
      continue;
    }
    queue_.After(absl::Milliseconds(1), [this] { SubmitToAll(); });
    return;
  }
  Submit(*live.front(), clients_.front().submission);
  Begin();
}

void Cluster::Begin() {
  ScheduleFaults();
  queue_.After(absl::Milliseconds(1), [this] {
    if (!options_.client_stays) return AwaitDone();
    if (options_.second_client) AddSecondClient();
    PollClients();
  });
}

// The second client attaches while the job runs, and may stand still until long
// after the first one has gone.
void Cluster::AddSecondClient() {
  Rng drawn = Rng(options_.seed).Stream("second client");
  clients_.push_back({.submission = SubmissionId(2),
                      .rounds = Rounds(*relations_),
                      .stands = absl::Milliseconds(drawn.Below(5000)),
                      .reads_from = absl::InfiniteFuture()});
  Client& client = clients_.back();
  client.contact = RandomNode();
  if (client.contact != nullptr) {
    Submit(*client.contact, client.submission);
    SetSupplier(*client.contact, true);
  }
  ListResults(client);
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

void Cluster::ListResults(Client& client) {
  if (!client.rounds.HasEnded()) return;
  client.rounds.ForEachDemanded([&client](const Label& label) {
    client.missing.emplace(label, false);
    return true;
  });
}

void Cluster::PollClients() {
  SupplyInputs();
  // Agents that they have turned away from may still answer.
  for (const auto& node : nodes_) {
    if (node->agent == nullptr) continue;
    const int64_t live = Value::LiveBytes();
    for (auto& [label, value] : node->agent->TakeResults(job_id_)) {
      for (Client& client : clients_) {
        const auto asked = client.missing.find(label);
        if (asked == client.missing.end() || !asked->second) continue;
        client.missing.erase(asked);
        // Digest of the bytes as they came, not as announced.
        client.results[label] = Hash128(value.view());
        if (options_.trace == nullptr) continue;
        options_.trace({.kind = SimEvent::Kind::kResult,
                        .time = queue_.now(),
                        .agent = node->id,
                        .label = label,
                        .digest = client.results[label]});
      }
    }
    node->live_bytes += Value::LiveBytes() - live;
    live_before_ += Value::LiveBytes() - live;
  }
  for (Client& client : clients_) {
    if (client.is_done || queue_.now() < client.reads_from) continue;
    if (!PollClient(client)) return;
    if (!client.is_done) continue;
    // Clients that stand still do so from now on.
    for (Client& other : clients_) {
      other.reads_from = queue_.now() + other.stands;
    }
  }
  finished_ = std::all_of(clients_.begin(), clients_.end(),
                          [](const Client& client) { return client.is_done; });
  if (finished_) {
    outcome_.results = clients_.front().results;
    outcome_.later_results = clients_.back().results;
    return;
  }
  queue_.After(absl::Milliseconds(20), [this] { PollClients(); });
}

// Asks one agent for all results that it misses, and another one when that one
// is gone. False: the run is over.
bool Cluster::PollClient(Client& client) {
  if (client.contact != nullptr && client.contact->agent != nullptr) {
    for (const JobSummary& summary :
         client.contact->agent->Jobs({.job = job_id_})) {
      if (client.rounds.Raise(summary.record.round,
                              summary.record.is_last_round)) {
        ListResults(client);
      }
      if (summary.record.state == JobState::kFailed) {
        outcome_.status =
            absl::Status(summary.record.code, summary.record.message);
        finished_ = true;
        return false;
      }
    }
  }
  if (client.missing.empty() && client.rounds.HasEnded()) {
    client.is_done = true;
    SayDelivered(client);
    return true;
  }
  if (client.contact == nullptr || client.contact->agent == nullptr ||
      client.contact->leaving || client.contact->paused || IsStuck(client)) {
    if (client.contact != nullptr) SetSupplier(*client.contact, false);
    client.contact = RandomMember();
    for (auto& [label, asked] : client.missing) asked = false;
    if (client.contact != nullptr) {
      // The job may have died with the last contact before any other agent had
      // it.
      Submit(*client.contact, client.submission);
      SetSupplier(*client.contact, true);
    }
  }
  if (client.contact == nullptr) return true;
  std::vector<Label> labels;
  for (auto& [label, asked] : client.missing) {
    if (!asked) labels.push_back(label);
  }
  if (!labels.empty() &&
      client.contact->agent->Want(queue_.now(), job_id_, labels).ok()) {
    for (auto& [label, asked] : client.missing) asked = true;
    Wake(*client.contact);
  }
  return true;
}

// A client hears of agents from those that it knows, so of members.
Cluster::Node* Cluster::RandomMember() {
  std::vector<Node*> members;
  for (const auto& node : nodes_) {
    if (node->agent != nullptr && !node->leaving &&
        node->agent->membership().view()->size() > 1) {
      members.push_back(node.get());
    }
  }
  return members.empty() ? RandomNode() : rng_.Pick(members);
}

bool Cluster::IsStuck(Client& client) {
  constexpr absl::Duration kContactPatience = absl::Seconds(5);
  if (client.missing.size() != client.missing_before) {
    client.missing_before = client.missing.size();
    client.progressed = queue_.now();
  }
  if (queue_.now() - client.progressed < kContactPatience) return false;
  for (const auto& node : nodes_) {
    if (node->agent == nullptr) continue;
    for (const JobSummary& summary : node->agent->Jobs({.job = job_id_})) {
      if (summary.record.state != JobState::kDone) continue;
      client.progressed = queue_.now();
      return true;
    }
  }
  return false;
}

std::string Cluster::WhatIsMissing() const {
  std::vector<std::string> out;
  for (const Client& client : clients_) {
    if (client.missing.empty()) continue;
    out.push_back(
        absl::StrCat(client.missing.size(), " results are missing, as ",
                     job_->program.LabelText(client.missing.begin()->first)));
  }
  return out.empty() ? "a loop has not ended" : absl::StrJoin(out, "; ");
}

// As in `dogged run`: other clients may still want the results.
void Cluster::SayDelivered(const Client& client) {
  if (!options_.second_client || client.contact == nullptr ||
      client.contact->agent == nullptr) {
    return;
  }
  for (const JobSummary& summary :
       client.contact->agent->Jobs({.job = job_id_})) {
    if (summary.record.submission != client.submission) continue;
    JobRecord record = summary.record;
    record.state = JobState::kDone;
    record.result_digest = DigestOfDigests(client.results);
    record.is_delivered = true;
    client.contact->agent->Conclude(queue_.now(), record);
    Wake(*client.contact);
  }
}

}  // namespace dogged
