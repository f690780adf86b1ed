// How an agent gets the values of jobs that records name, and gives them to
// others.
#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "runtime/agent/agent.h"
#include "runtime/agent/placement_salts.h"

namespace dogged {
namespace {

// Offers of a job are said again after this time, to so many others.
constexpr absl::Duration kOfferInterval = absl::Milliseconds(200);
constexpr size_t kOffersAtOnce = 2;
// An offered job is dropped after this time if no record of it comes.
constexpr absl::Duration kOfferedTime = absl::Seconds(30);

}  // namespace

std::vector<AgentId> Agent::Others() const {
  std::vector<AgentId> out;
  for (const Member& member : membership_.view()->members()) {
    if (member.id != id()) out.push_back(member.id);
  }
  return out;
}

void Agent::RequestJobs(absl::Time now) {
  std::vector<AgentId> others;
  std::vector<JobId> nowhere;
  for (auto& [job, entry] : jobs_) {
    const bool is_over = entry.over_since <= now && !entry.is_needed_again;
    if (!entry.encoded.empty() || is_over) continue;
    if (others.empty()) others = Others();
    entry.pull.Tick(now, job, options_.limits, others, rng_, outbox_);
    if (index_.IsRunning(job) &&
        entry.pull.HasNobodySince(now - options_.limits.input_patience,
                                  others)) {
      nowhere.push_back(job);
    }
  }
  for (const JobId job : nowhere) {
    FailJob(now, job,
            absl::DataLossError("no agent has the program of this job any "
                                "more; run the same command again"));
  }
}

void Agent::OfferJobs(absl::Time now) {
  for (auto& [job, entry] : jobs_) {
    if (entry.untold.empty()) continue;
    const std::vector<AgentId> others = Others();
    if (others.empty() || now >= entry.told_by) {
      TellUntold(now, entry);
      continue;
    }
    if (now >= entry.next_offer) {
      entry.next_offer = now + kOfferInterval;
      Encoder body;
      body.PutU64(entry.hash.low);
      body.PutU64(entry.hash.high);
      const Bytes offer(body.Take());
      for (size_t i = 0; i < std::min(others.size(), kOffersAtOnce); ++i) {
        outbox_.Send(rng_.Pick(others),
                     static_cast<uint8_t>(AgentMessage::kJobOffer), job, offer);
      }
    }
    outbox_.WakeAt(std::min(entry.next_offer, entry.told_by));
  }
}

void Agent::TakeOffer(absl::Time now, AgentId from, JobId job,
                      const Bytes& body) {
  Decoder in(body.view());
  Digest hash;
  hash.low = in.GetU64();
  hash.high = in.GetU64();
  if (!in.Finish("offer of a job").ok() || JobId(hash.high) != job) {
    ++refused_count_;
    return;
  }
  JobEntry& entry = jobs_[job];
  entry.hash = hash;
  entry.offered_by = from;
  entry.offered_until = now + kOfferedTime;
  if (entry.encoded.empty()) {
    entry.pull.Prefer(now, from);
  } else {
    outbox_.Send(from, static_cast<uint8_t>(AgentMessage::kJobHeld), job, {});
  }
}

void Agent::TellUntold(absl::Time now, JobEntry& entry) {
  const std::vector<JobRecord> records = std::exchange(entry.untold, {});
  if (records.empty()) return;
  const auto homes = std::exchange(entry.untold_homes, std::nullopt);
  if (homes.has_value()) {
    membership_.PutRecord(now, HomesKey(entry.hash), homes->version,
                          homes->bytes, outbox_);
  }
  for (const JobRecord& record : records) {
    membership_.PutRecord(now, record.Key(), record.version(), record.Encode(),
                          outbox_);
    ApplyRecord(now, record);
  }
}

bool Agent::IsTold(JobId job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() || it->second.untold.empty();
}

// Drops offered jobs whose records never came.
void Agent::DropOffers(absl::Time now) {
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    const bool is_due = it->second.untold.empty() &&
                        index_.Find(it->first) == nullptr &&
                        now >= it->second.offered_until;
    it = is_due ? jobs_.erase(it) : std::next(it);
  }
}

void Agent::SendPart(AgentId to, JobId job, const Bytes& value,
                     const Bytes& wish) {
  if (value.empty()) {
    outbox_.Send(to, static_cast<uint8_t>(AgentMessage::kJobAbsent), job, {});
    return;
  }
  absl::StatusOr<Bytes> part = PartOf(value, wish.view());
  if (!part.ok()) {
    ++refused_count_;
    return;
  }
  outbox_.Send(to, static_cast<uint8_t>(AgentMessage::kJobValue), job,
               *std::move(part));
}

void Agent::TakePart(absl::Time now, AgentId from, JobEntry& entry,
                     const Bytes& part) {
  if (!entry.encoded.empty()) return;
  if (!entry.pull.TakePart(now, from, part.view()).ok()) {
    ++refused_count_;
    return;
  }
  if (!entry.pull.IsWhole()) return;
  std::string whole = entry.pull.Take();
  if (Hash128(whole) != entry.hash) {
    ++refused_count_;
    return;
  }
  entry.encoded = Bytes(std::move(whole));
  if (!entry.offered_by.IsNone()) {
    outbox_.Send(std::exchange(entry.offered_by, AgentId()),
                 static_cast<uint8_t>(AgentMessage::kJobHeld),
                 JobId(entry.hash.high), {});
  }
  ApplyAnyRecord(now, entry.hash);
}

void Agent::TakeInputs(const Digest& hash, JobEntry& entry, Job& job) {
  if (!InputChunks::IsNeededFor(job)) return;
  entry.inputs = std::make_unique<InputChunks>(
      InputChunks::Options{
          .self = id(),
          .id = JobId(hash.high),
          .hash = hash,
          .limits = options_.limits,
          .memory_bytes_max = options_.job_limits.memory_bytes_max,
          .store = values_.get(),
          .lending = lending_.get()},
      job);
  if (draining_) entry.inputs->HandOver();
  if (entry.has_supplier) entry.inputs->SetSupplier(true);
  job.chunk_source = entry.inputs->source();
}

void Agent::ReceiveInputs(absl::Time now, AgentId from, JobId job,
                          const Bytes& body) {
  const auto it = jobs_.find(job);
  if (it == jobs_.end() || it->second.inputs == nullptr) {
    Bytes answer = InputChunks::AnswerWithout(body.view());
    if (answer.empty()) return;
    outbox_.Send(from, InputChunks::kKind, job, std::move(answer));
    return;
  }
  if (!it->second.inputs->Receive(now, from, body.view(), outbox_).ok()) {
    ++refused_count_;
  }
}

void Agent::TickInputs(absl::Time now) {
  std::vector<AgentId> others;
  for (auto& [job, entry] : jobs_) {
    if (entry.inputs == nullptr) continue;
    if (others.empty()) others = Others();
    entry.inputs->Tick(now, others, outbox_);
  }
}

void Agent::SetSupplier(JobId job, bool is_there) {
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return;
  it->second.has_supplier = is_there;
  if (it->second.inputs != nullptr) it->second.inputs->SetSupplier(is_there);
}

std::vector<ChunkId> Agent::TakeInputWishes(JobId job) {
  const auto it = jobs_.find(job);
  if (it == jobs_.end() || it->second.inputs == nullptr) return {};
  return it->second.inputs->TakeWishes();
}

absl::Status Agent::Supply(JobId job, const ChunkId& chunk,
                           absl::string_view bytes) {
  const auto it = jobs_.find(job);
  if (it == jobs_.end() || it->second.inputs == nullptr) {
    return absl::NotFoundError("inputs of no job that runs here");
  }
  return it->second.inputs->Supply(chunk, bytes);
}

}  // namespace dogged
