#include "runtime/sim/clients.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "runtime/agent/agent.h"
#include "runtime/base/check.h"

namespace dogged {
namespace {

// After the end, and between two agents that are replaced: views settle, and
// copies are made.
constexpr absl::Duration kReplaceInterval = absl::Seconds(10);

}  // namespace

SimClients::SimClients(SimWorld& world, NodeTable& nodes, Incarnations& lives)
    : world_(world), nodes_(nodes), lives_(lives) {
  clients_.push_back(
      {.submission = world_.submission, .rounds = Rounds(world_.relations)});
  ListResults(clients_.front());
}

void SimClients::Begin() {
  if (!world_.options.client_stays) {
    SimClient& client = clients_.front();
    client.contact = nodes_.all().front().get();
    SetSupplier(*client.contact, true);
    return AwaitDone();
  }
  if (world_.options.second_client) AddSecondClient();
  PollClients();
}

void SimClients::SetSupplier(SimNode& node, bool is_there) {
  if (world_.options.inputs == nullptr || node.agent == nullptr) return;
  node.agent->SetSupplier(world_.job_id, is_there);
  nodes_.Wake(node);
}

void SimClients::SupplyInputs() {
  if (world_.options.inputs == nullptr) return;
  for (const auto& node : nodes_.all()) {
    if (node->agent == nullptr || node->paused) continue;
    const bool is_contact =
        std::any_of(clients_.begin(), clients_.end(), [&](const SimClient& c) {
          return c.contact == node.get() && !c.is_done;
        });
    if (!is_contact) continue;
    for (const ChunkId& id : node->agent->TakeInputWishes(world_.job_id)) {
      const JobInput& input = world_.options.inputs->inputs[id.input];
      std::string bytes(input.grid.BytesOf(id.index), 0);
      input.CopyChunk(id.index, bytes.data());
      const absl::Status status = node->agent->Supply(world_.job_id, id, bytes);
      DOGGED_CHECK(status.ok()) << status.ToString();
    }
    nodes_.Wake(*node);
  }
}

// The second client attaches while the job runs, and may stand still until long
// after the first one has gone.
void SimClients::AddSecondClient() {
  Rng drawn = Rng(world_.options.seed).Stream("second client");
  clients_.push_back({.submission = SubmissionId(2),
                      .rounds = Rounds(world_.relations),
                      .stands = absl::Milliseconds(drawn.Below(5000)),
                      .reads_from = absl::InfiniteFuture()});
  SimClient& client = clients_.back();
  client.contact = nodes_.Random();
  if (client.contact != nullptr) {
    nodes_.Submit(*client.contact, client.submission);
    SetSupplier(*client.contact, true);
  }
  ListResults(client);
}

void SimClients::AwaitDone() {
  SupplyInputs();
  bool all = nodes_.Random() != nullptr;
  for (const auto& node : nodes_.all()) {
    if (node->agent == nullptr || node->leaving) continue;
    bool is_known = false;
    for (const JobSummary& summary :
         node->agent->Jobs({.job = world_.job_id})) {
      world_.outcome.record = summary.record;
      is_known = true;
      all &= summary.record.state == JobState::kDone;
    }
    all &= is_known;
  }
  if (all) SetSupplier(*clients_.front().contact, false);
  if (all && world_.options.lost_after_end > 0) {
    asks_later_ = true;
    world_.queue.After(kReplaceInterval, [this] {
      for (int i = 0; i < world_.options.lost_after_end; ++i) {
        lives_.Crash(*nodes_.all()[i]);
      }
      PollClients();
    });
  } else if (all && world_.options.outage_after_end) {
    asks_later_ = true;
    // A job that ended a moment ago is on its way to the disks.
    world_.queue.After(absl::Milliseconds(100), [this] { lives_.Blackout(); });
    world_.queue.After(absl::Seconds(5), [this] { PollClients(); });
  } else if (all && world_.options.replaces_after_end) {
    asks_later_ = true;
    ReplaceFrom(0);
  } else if (all) {
    world_.is_over = true;
  } else {
    world_.queue.After(absl::Milliseconds(20), [this] { AwaitDone(); });
  }
}

void SimClients::ReplaceFrom(int founder) {
  if (founder == world_.options.agents) return PollClients();
  lives_.Crash(*nodes_.all()[founder]);
  lives_.Add();
  world_.queue.After(kReplaceInterval,
                     [this, founder] { ReplaceFrom(founder + 1); });
}

void SimClients::ListResults(SimClient& client) {
  if (!client.rounds.HasEnded()) return;
  client.rounds.ForEachDemanded([&client](const Label& label) {
    client.missing.emplace(label, false);
    return true;
  });
}

void SimClients::PollClients() {
  SupplyInputs();
  // Agents that they have turned away from may still answer.
  for (const auto& node : nodes_.all()) {
    if (node->agent == nullptr) continue;
    const int64_t live = Value::LiveBytes();
    for (auto& [label, value] : node->agent->TakeResults(world_.job_id)) {
      for (SimClient& client : clients_) {
        const auto asked = client.missing.find(label);
        if (asked == client.missing.end() || !asked->second) continue;
        client.missing.erase(asked);
        // Digest of the bytes as they came, not as announced.
        client.results[label] = Hash128(value.view());
        if (world_.options.trace == nullptr) continue;
        world_.options.trace({.kind = SimEvent::Kind::kResult,
                              .time = world_.queue.now(),
                              .agent = node->id,
                              .label = label,
                              .digest = client.results[label]});
      }
    }
    nodes_.BillApart(*node, Value::LiveBytes() - live);
  }
  for (SimClient& client : clients_) {
    if (client.is_done || world_.queue.now() < client.reads_from) continue;
    if (!PollClient(client)) return;
    if (!client.is_done) continue;
    // Clients that stand still do so from now on.
    for (SimClient& other : clients_) {
      other.reads_from = world_.queue.now() + other.stands;
    }
  }
  world_.is_over =
      std::all_of(clients_.begin(), clients_.end(),
                  [](const SimClient& client) { return client.is_done; });
  if (world_.is_over) {
    world_.outcome.results = clients_.front().results;
    world_.outcome.later_results = clients_.back().results;
    return;
  }
  world_.queue.After(absl::Milliseconds(20), [this] { PollClients(); });
}

// Asks one agent for all results that it misses, and another one when that one
// is gone. False: the run is over.
bool SimClients::PollClient(SimClient& client) {
  if (client.contact != nullptr && client.contact->agent != nullptr) {
    for (const JobSummary& summary :
         client.contact->agent->Jobs({.job = world_.job_id})) {
      if (client.rounds.Raise(summary.record.round,
                              summary.record.is_last_round)) {
        ListResults(client);
      }
      if (summary.record.state == JobState::kFailed) {
        world_.outcome.status =
            absl::Status(summary.record.code, summary.record.message);
        world_.is_over = true;
        return false;
      }
    }
  }
  if (asks_later_ && !client.missing.empty() && HearsOfLoss()) return false;
  if (client.missing.empty() && client.rounds.HasEnded()) {
    client.is_done = true;
    SayDelivered(client);
    return true;
  }
  if (client.contact == nullptr || client.contact->agent == nullptr ||
      client.contact->leaving || client.contact->paused || IsStuck(client)) {
    if (client.contact != nullptr) SetSupplier(*client.contact, false);
    client.contact = nodes_.RandomMember();
    for (auto& [label, asked] : client.missing) asked = false;
    if (client.contact != nullptr) {
      // The job may have died with the last contact before any other agent had
      // it.
      if (!asks_later_) {
        nodes_.Submit(*client.contact, client.submission);
        SetSupplier(*client.contact, true);
      }
    }
  }
  if (client.contact == nullptr) return true;
  std::vector<Label> labels;
  for (auto& [label, asked] : client.missing) {
    if (!asked) labels.push_back(label);
  }
  if (!labels.empty() &&
      client.contact->agent->Want(world_.queue.now(), world_.job_id, labels)
          .ok()) {
    for (auto& [label, asked] : client.missing) asked = true;
    nodes_.Wake(*client.contact);
  }
  return true;
}

// As in `dogged fetch`, which asks all agents.
bool SimClients::HearsOfLoss() {
  for (const auto& node : nodes_.all()) {
    if (node->agent == nullptr) continue;
    for (const JobSummary& summary :
         node->agent->Jobs({.job = world_.job_id})) {
      if (summary.note.empty()) continue;
      world_.outcome.status = absl::DataLossError(summary.note);
      world_.is_over = true;
    }
  }
  return world_.is_over;
}

bool SimClients::IsStuck(SimClient& client) {
  constexpr absl::Duration kContactPatience = absl::Seconds(5);
  if (client.missing.size() != client.missing_before) {
    client.missing_before = client.missing.size();
    client.progressed = world_.queue.now();
  }
  if (world_.queue.now() - client.progressed < kContactPatience) return false;
  for (const auto& node : nodes_.all()) {
    if (node->agent == nullptr) continue;
    for (const JobSummary& summary :
         node->agent->Jobs({.job = world_.job_id})) {
      if (summary.record.state != JobState::kDone) continue;
      client.progressed = world_.queue.now();
      return true;
    }
  }
  return false;
}

std::string SimClients::WhatIsMissing() const {
  std::vector<std::string> out;
  for (const SimClient& client : clients_) {
    if (client.missing.empty()) continue;
    out.push_back(absl::StrCat(
        client.missing.size(), " results are missing, as ",
        world_.job.program.LabelText(client.missing.begin()->first)));
  }
  return out.empty() ? "a loop has not ended" : absl::StrJoin(out, "; ");
}

// As in `dogged run`: other clients may still want the results.
void SimClients::SayDelivered(const SimClient& client) {
  if (!world_.options.second_client || client.contact == nullptr ||
      client.contact->agent == nullptr) {
    return;
  }
  for (const JobSummary& summary :
       client.contact->agent->Jobs({.job = world_.job_id})) {
    if (summary.record.submission != client.submission) continue;
    JobRecord record = summary.record;
    record.state = JobState::kDone;
    record.result_digest = DigestOfDigests(client.results);
    record.is_delivered = true;
    client.contact->agent->Conclude(world_.queue.now(), record);
    nodes_.Wake(*client.contact);
  }
}

}  // namespace dogged
