#include "runtime/agent/loop/submissions.h"

#include <string>

#include "absl/algorithm/container.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Clients are told of an end by then, however slow the disk is.
constexpr absl::Duration kEndingMax = absl::Seconds(1);

}  // namespace

absl::Status Submissions::Take(absl::Time now, ConnectionId client,
                               absl::string_view body) {
  DOGGED_ASSIGN_OR_RETURN(const SubmitRequest request,
                          SubmitRequest::Decode(body));
  DOGGED_ASSIGN_OR_RETURN(
      const JobId job,
      agent_.Submit(now, std::string(request.job), request.submission,
                    request.options, request.text_hash));
  Forget(client);
  if (request.supplies) {
    suppliers_[client] = job;
    agent_.SetSupplier(job, true);
  }
  unconfirmed_.emplace_back(client, job);
  return absl::OkStatus();
}

absl::Status Submissions::TakeChunk(ConnectionId client,
                                    absl::string_view body) {
  const auto part = ChunkPart::Decode(body);
  absl::Status taken = part.status();
  if (part.ok()) taken = agent_.Supply(part->job, part->chunk, part->bytes);
  if (taken.ok() || absl::IsNotFound(taken)) return absl::OkStatus();
  Forget(client);
  return taken;
}

absl::Status Submissions::Conclude(absl::Time now, ConnectionId client,
                                   absl::string_view body) {
  DOGGED_ASSIGN_OR_RETURN(JobRecord record, JobRecord::Decode(body));
  agent_.Conclude(now, record);
  endings_.push_back({.client = client,
                      .record = std::move(record),
                      .limit = now + kEndingMax});
  return absl::OkStatus();
}

void Submissions::SendDue(absl::Time now, Send send) {
  std::erase_if(endings_, [&](const Ending& ending) {
    if (now < ending.limit && !agent_.IsEndKept(ending.record)) return false;
    send(ending.client, ControlType::kConcluded, {});
    return true;
  });
  std::erase_if(unconfirmed_, [&](const auto& one) {
    const auto& [client, job] = one;
    if (!agent_.IsTold(job)) return false;
    send(client, ControlType::kSubmitted, EncodeId(job));
    return true;
  });
  for (const auto& [client, job] : suppliers_) {
    // A client that waits for the answer to its submission hears nothing else.
    const bool is_confirmed = absl::c_none_of(
        unconfirmed_,
        [id = client](const auto& one) { return one.first == id; });
    if (!is_confirmed) continue;
    ChunksWanted wanted{.job = job, .chunks = agent_.TakeInputWishes(job)};
    if (wanted.chunks.empty()) continue;
    send(client, ControlType::kChunksWanted, wanted.Encode());
  }
}

void Submissions::Forget(ConnectionId client) {
  const auto it = suppliers_.find(client);
  if (it == suppliers_.end()) return;
  const JobId job = it->second;
  suppliers_.erase(it);
  agent_.SetSupplier(job, false);
  // Another client of the job is asked for the chunks asked of this one.
  for (const auto& [other, its_job] : suppliers_) {
    if (its_job == job) agent_.SetSupplier(job, true);
  }
}

}  // namespace dogged
