#include "runtime/agent/agent.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/agent/placement_salts.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

constexpr auto kAnnounce = static_cast<uint8_t>(JobMessage::kAnnounce);

// Other agents hear of a job by then, even if none has told that it has the
// job.
constexpr absl::Duration kUntoldMax = absl::Seconds(3);
// Time after which messages that wait for room in a queue are tried again.
constexpr absl::Duration kBehindInterval = absl::Milliseconds(1);
constexpr absl::Duration kHousekeepingInterval = absl::Milliseconds(250);

// Bytes of values whose owner has gone that are copied at a time.
constexpr int64_t kOrphanBytes = 64 << 20;
constexpr absl::Duration kOrphanInterval = absl::Milliseconds(50);

}  // namespace

Agent::Agent(AgentOptions options, Transport& transport, Executor& executor,
             Background& background, JobTools tools)
    : options_(std::move(options)),
      transport_(transport),
      executor_(executor),
      background_(background),
      tools_(std::make_shared<const JobTools>(std::move(tools))),
      rng_(Rng(options_.seed).Stream("agent")),
      membership_(options_.self, options_.membership,
                  Rng(options_.seed).Stream("membership")),
      multicast_(options_.self.id, options_.plan, options_.limits),
      packer_(options_.self.id, options_.limits),
      unpacker_(options_.self.id, options_.limits),
      has_settled_(!options_.looks_for_others) {
  outbox_.wake_early = [this](AgentId to) { transport_.WakeEarly(to); };
  packer_.SetRelays([this](AgentId to) { return membership_.RelayTo(to); });
  multicast_.SetView(membership_.view());
  multicast_.SetWants([this](uint8_t, JobId job, const Bytes& tag) {
    const auto entry = jobs_.find(job);
    return entry == jobs_.end() || entry->second.run == nullptr ||
           entry->second.run->Lacks(tag.view());
  });
  if (options_.engine != nullptr) {
    values_ = std::make_unique<ValueStore>(*options_.engine);
    if (options_.keeps_values) values_->ScanJobs();
  }
  if (options_.shared_memory != nullptr) {
    lending_ = std::make_unique<Lending>(
        options_.self.id, *options_.shared_memory, options_.lending);
  }
}

Agent::~Agent() {
  for (const auto& [job, entry] : jobs_) {
    if (entry.kernels != nullptr) StopKernels(*entry.kernels);
  }
}

void Agent::RunOnce(absl::Time now) {
  outbox_.wake = absl::InfiniteFuture();
  arrivals_.clear();
  had_completions_ = false;
  transport_.Poll(arrivals_);
  messages_.clear();
  for (const Arrival& arrival : arrivals_) {
    unpacker_.Open(now, arrival, messages_);
  }
  // Messages to this agent itself join behind: a loop, for they may beget more.
  do {
    std::vector<Message> batch = std::exchange(messages_, {});
    for (const Message& message : batch) {
      membership_.Heard(now, message.head, outbox_);
      Dispatch(now, message.head.source, message.head.kind, message.head.job,
               message.body);
    }
    completions_.clear();
    executor_.Poll(completions_);
    had_completions_ |= !completions_.empty();
    for (Completion& completion : completions_) {
      auto it = jobs_.find(completion.job);
      if (it != jobs_.end() && it->second.run != nullptr) {
        it->second.run->OnCompletion(now, std::move(completion), outbox_);
      }
    }
    background_.Poll();
    TakeKernels();
    TakeDigests(now);
    PollValues(now);
    membership_.Tick(now, outbox_);
    HandleEvents(now);
    multicast_.Tick(now, outbox_);
    unpacker_.Tick(now);
    for (auto& [id, entry] : jobs_) {
      if (entry.run == nullptr) continue;
      entry.run->Tick(now, outbox_);
      if (!draining_) entry.run->Feed(now, outbox_);
    }
    TellRounds(now);
    TickInputs(now);
    TickLending(now);
    if (draining_ && !leaving_) TakeLeave(now);
    OfferJobs(now);
    RequestJobs(now);
    CheckTakers(now);
    for (auto& [id, entry] : jobs_) SortWanted(id, entry);
    ReportFailures(now);
    TellTroubles(now);
    RunHousekeeping(now);
    for (auto& [id, entry] : jobs_) {
      if (entry.run == nullptr) continue;
#ifndef NDEBUG
      entry.run->CheckInvariants();
#endif
      entry.run->SendBatches(outbox_);
    }
    packer_.Flush(membership_.view()->digest(), outbox_, transport_, messages_);
    if (packer_.IsBehind()) outbox_.WakeAt(now + kBehindInterval);
  } while (!messages_.empty());

  if (leaving_ && !gone_) EndLeave(now);
  outbox_.WakeAt(next_housekeeping_);
  next_wake_ = outbox_.wake;
}

void Agent::Dispatch(absl::Time now, AgentId from, uint8_t kind, JobId job,
                     const Bytes& body) {
  if (kind == static_cast<uint8_t>(RoutingKind::kRelay)) {
    return Count(packer_.Forward(body, transport_));
  }
  if (Multicast::IsMine(kind)) {
    std::vector<Delivery> deliveries;
    const Envelope head{.kind = kind, .source = from, .job = job};
    multicast_.Receive(now, {head, body}, outbox_, deliveries);
    for (const Delivery& d : deliveries) {
      // For an agent that needs no bytes it is an announcement of the origin.
      Dispatch(now, d.origin, d.tag_only ? kAnnounce : d.kind, d.job, d.body);
    }
    return;
  }
  if (kind < kFirstFreeKind) {
    membership_.Receive(now, from, kind, body, outbox_);
    // Later messages of this agent count on the view that it told of: an agent
    // that leaves hands over at once.
    if (membership_.view() != placed_view_) HandleEvents(now);
    return;
  }
  if (Lending::IsMine(kind)) return ReceiveLending(now, from, kind, body);
  if (kind == InputChunks::kKind) return ReceiveInputs(now, from, job, body);
  if (kind == static_cast<uint8_t>(AgentMessage::kJobOffer)) {
    return TakeOffer(now, from, job, body);
  }
  const bool is_demand =
      kind == static_cast<uint8_t>(JobMessage::kDemand) || kind == kKeepResults;
  auto it = jobs_.find(job);
  JobEntry* const found = it != jobs_.end() ? &it->second
                          : is_demand       ? FindEntry(now, job)
                                            : nullptr;
  if (found == nullptr) {  // its record has not come yet, or it is over
    if (kind == static_cast<uint8_t>(AgentMessage::kJobRequest)) {
      SendPart(from, job, {}, body);
    }
    return;
  }
  JobEntry& entry = *found;
  switch (static_cast<AgentMessage>(kind)) {
    case AgentMessage::kJobRequest:
      return SendPart(from, job, entry.encoded, body);
    case AgentMessage::kJobAbsent:
      return entry.pull.NoteAbsent(now, from);
    case AgentMessage::kJobValue:
      return TakePart(now, from, entry, body);
    case AgentMessage::kJobHeld:
      return TellUntold(now, entry);
    case AgentMessage::kJobOffer:
      break;  // dealt with above
  }
  if (entry.run == nullptr) {
    entry.is_needed_again |= is_demand && entry.is_done && !entry.is_delivered;
    return;
  }
  if (kind == static_cast<uint8_t>(JobMessage::kLend)) {
    ReceiveLoan(now, from, *entry.run, body);
    return;
  }
  Count(entry.run->Receive(now, from, kind, body.view(), outbox_));
}

void Agent::Count(const absl::Status& received) {
  if (!received.ok()) ++refused_count_;
}

void Agent::ReceiveLending(absl::Time now, AgentId from, uint8_t kind,
                           const Bytes& body) {
  if (lending_ == nullptr) return;
  Count(lending_->Receive(now, from, kind, body.view(), outbox_));
}

void Agent::ReceiveLoan(absl::Time now, AgentId from, JobRun& run,
                        const Bytes& body) {
  const absl::StatusOr<LendBody> lent = DecodeLend(body.view());
  if (!lent.ok() || lending_ == nullptr) {
    ++refused_count_;
    return;
  }
  // A refused loan counts as lost: a task that needs it asks again.
  const Value value = lending_->Borrow(from, lent->loan);
  if (value.IsNone()) return;
  Count(run.ReceiveLent(now, from, lent->label, value, outbox_));
}

void Agent::TickLending(absl::Time now) {
  if (lending_ == nullptr) return;
  lending_->Tick(now, outbox_);
  if (!lending_->HasOrphans() || now < next_orphans_) return;
  for (auto& [id, entry] : jobs_) {
    if (entry.run != nullptr) entry.run->CopyOrphans(kOrphanBytes);
    if (entry.inputs != nullptr) entry.inputs->CopyOrphans();
  }
  next_orphans_ = now + kOrphanInterval;
  outbox_.WakeAt(next_orphans_);
}

void Agent::HandleEvents(absl::Time now) {
  for (MembershipEvent& event : membership_.TakeEvents()) {
    switch (event.kind) {
      case MembershipEvent::Kind::kNamed:
      case MembershipEvent::Kind::kJoined:
        transport_.SetPeer(event.member.id, event.member.fabric_address);
        break;
      case MembershipEvent::Kind::kForgotten:
        transport_.ForgetPeer(event.member.id);
        packer_.Forget(event.member.id);
        break;
      case MembershipEvent::Kind::kDied:
        has_lost_ = true;
        has_lost_silent_ |= absl::StartsWith(event.cause, "silent");
        unpacker_.Forget(event.member.id);
        packer_.Forget(event.member.id);
        break;
      case MembershipEvent::Kind::kRecord: {
        const auto it = membership_.records().find(event.key);
        if (IsHomesKey(event.key)) {
          ApplySalts(now, event.key);
          break;
        }
        if (IsTroubleKey(event.key)) {
          ApplyTrouble(now, event.key);
          break;
        }
        const auto record = JobRecord::Decode(it->second.bytes.view());
        if (record.ok()) {
          ApplyRecord(now, *record);
        } else {
          ++refused_count_;
        }
        break;
      }
      case MembershipEvent::Kind::kLeft:
        for (auto& [id, entry] : jobs_) {
          if (entry.run == nullptr) continue;
          entry.leavers.insert(event.member.id);
          entry.run->ExpectHandover(now, event.member.id);
        }
        break;
      case MembershipEvent::Kind::kDeclaredDead:
        break;
    }
    events_.push_back(std::move(event));
  }
  if (membership_.view() == placed_view_) return;
  placed_view_ = membership_.view();
  multicast_.SetView(placed_view_);
  if (lending_ != nullptr) lending_->SetView(now, *placed_view_);
  for (auto& [id, entry] : jobs_) {
    if (entry.run != nullptr) Place(now, entry);
  }
}

std::vector<MembershipEvent> Agent::TakeEvents() {
  return std::exchange(events_, {});
}

void Agent::PeerDied(absl::Time now, AgentId peer, absl::string_view cause) {
  membership_.PeerDied(now, peer, cause, outbox_);
}

absl::StatusOr<JobId> Agent::Submit(absl::Time now, std::string encoded,
                                    SubmissionId submission,
                                    const JobOptions& options,
                                    uint64_t text_hash) {
  DOGGED_ASSIGN_OR_RETURN(const Job job, Job::Decode(encoded));
  JobRecord record{.hash = JobHash(encoded),
                   .submission = submission,
                   .name = job.program.name,
                   .text_hash = text_hash,
                   .options = options};
  for (const auto& [other, running] : index_.running()) {
    const auto known =
        FindRecord(JobRecord::KeyOf(index_.Find(other)->hash, running));
    if (known.has_value() && known->name == record.name &&
        known->text_hash != text_hash && known->text_hash != 0 &&
        text_hash != 0) {
      return absl::AlreadyExistsError(absl::StrCat(
          "another program ", record.name,
          ", with another text, runs here: ", known->hash.ToString(),
          "; wait for its end, cancel it, or give this file another name"));
    }
  }
  JobEntry& entry = jobs_[record.job()];
  entry.hash = record.hash;
  if (entry.encoded.empty()) entry.encoded = Bytes(std::move(encoded));
  auto homes = ProposeSalts(membership_.records(), record, job,
                            PlacementOf(job, record.hash).members);
  entry.untold.push_back(record);
  if (homes.has_value()) entry.untold_homes = std::move(homes);
  const bool is_known = index_.IsRunning(record.job());
  if (is_known || membership_.view()->size() < 2) {
    TellUntold(now, entry);
  } else if (entry.untold.size() == 1) {
    entry.told_by = now + kUntoldMax;
    entry.next_offer = now;
  }
  return record.job();
}

void Agent::ApplyRecord(absl::Time now, const JobRecord& record) {
  // A stale record never revives a job: the newest of each submission counts.
  index_.Note(record);
  const bool running = index_.IsRunning(record.job());
  // For a job that was over before it was heard of no entry is made.
  const auto found = running ? jobs_.try_emplace(record.job()).first
                             : jobs_.find(record.job());
  if (found == jobs_.end()) {
    if (values_ != nullptr) values_->EraseJob(record.hash);
    return;
  }
  JobEntry& entry = found->second;
  entry.hash = record.hash;
  entry.is_done = index_.Find(record.job())->done > 0;
  entry.is_delivered = index_.Find(record.job())->IsDelivered();
  entry.over_since =
      running ? absl::InfiniteFuture() : std::min(entry.over_since, now);
  if ((running || (entry.is_done && entry.is_needed_again)) &&
      entry.run == nullptr && !entry.encoded.empty()) {
    StartRun(now, entry, record);
  }
  if (entry.run != nullptr) {
    if (!entry.troubles.empty()) ReadTroubles(now, entry);
    RaiseRounds(entry.hash, *entry.run);
    entry.run->SetResultsDemanded(running);
    if (!running && !entry.is_done) {
      EndRun(entry);  // cancelled or failed: drops its values
    } else if (!running) {
      entry.run->ConcludeStorage();
      if (entry.inputs != nullptr && entry.is_delivered) {
        entry.inputs->Release();
      }
      if (entry.kernels != nullptr) RestKernels(*entry.kernels);
    }
  }
  if (!running && entry.run == nullptr && values_ != nullptr) {
    values_->EraseJob(record.hash);
  }
}

void Agent::PollValues(absl::Time now) {
  if (values_ == nullptr) return;
  std::vector<ValueStore::Event> events;
  values_->Poll(events);
  for (const ValueStore::Event& event : events) {
    const auto it = jobs_.find(JobId(event.job.high));
    if (event.label.array == InputChunks::kArrayOnDisk) {
      if (it != jobs_.end() && it->second.inputs != nullptr) {
        it->second.inputs->OnDisk(event);
      }
    } else if (it != jobs_.end() && it->second.run != nullptr) {
      it->second.run->OnDisk(now, event, outbox_);
      if (event.kind == ValueStore::Event::Kind::kScanned) {
        it->second.run->TellStart(outbox_);
      }
    }
  }
}

void Agent::RunHousekeeping(absl::Time now) {
  if (now < next_housekeeping_) return;
  next_housekeeping_ = now + kHousekeepingInterval;
  multicast_.NoteRoundTrips(membership_.LeastRoundTripMax(),
                            membership_.RoundTripMax());
  for (auto& [id, entry] : jobs_) {
    if (entry.run != nullptr) {
      entry.run->NoteRoundTrip(membership_.RoundTripMax());
    }
  }
  FinishJobs(now);
  ForgetJobs(now);
  DropOffers(now);
  PublishStats();
}

void Agent::PublishStats() {
  Encoder out;
  int64_t count = 0;
  for (const auto& [job, entry] : jobs_) count += entry.run != nullptr;
  out.PutVarint(static_cast<uint64_t>(count));
  for (const auto& [job, entry] : jobs_) {
    if (entry.run == nullptr) continue;
    out.PutId(job);
    entry.run->stats().Encode(out);
  }
  membership_.SetGossipPayload(Bytes(out.Take()));
}

std::vector<std::pair<JobId, JobStats>> Agent::StatsOf(AgentId agent) const {
  std::vector<std::pair<JobId, JobStats>> out;
  const Bytes blob = membership_.GossipPayloadOf(agent);
  const bool is_member = membership_.view()->Find(agent) != nullptr;
  Decoder in(blob.view());
  const int64_t count = in.GetCount(1);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    const JobId job = in.GetId<JobId>();
    const JobStats stats = JobStats::Decode(in);
    // An agent that left before the job began here did that in an earlier run.
    const auto known = jobs_.find(job);
    const bool left_this_run = known != jobs_.end() &&
                               known->second.run != nullptr &&
                               known->second.leavers.contains(agent);
    if (is_member || left_this_run) out.emplace_back(job, stats);
  }
  if (!in.ok()) out.clear();
  return out;
}

const JobRun* Agent::FindRun(JobId job) const {
  auto it = jobs_.find(job);
  return it == jobs_.end() ? nullptr : it->second.run.get();
}

int64_t Agent::dropped_count() const {
  return transport_.dropped_count() + packer_.dropped_count() +
         unpacker_.incomplete_count();
}

int64_t Agent::refused_count() const {
  return refused_count_ + unpacker_.refused_count() +
         multicast_.refused_count() + membership_.refused_count();
}

}  // namespace dogged
