#include "runtime/agent/agent.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/job/inputs/input_chunks.h"
#include "runtime/job/job_run.h"

namespace dogged {
namespace {

constexpr auto kAnnounce = static_cast<uint8_t>(LabelMessage::kAnnounce);

constexpr absl::Duration kHousekeepingInterval = absl::Milliseconds(250);

}  // namespace

Agent::Agent(AgentOptions options, Transport& transport, Executor& executor,
             Background& background, JobTools tools)
    : context_(std::move(options), executor, background, std::move(tools)),
      mailbox_(context_, transport),
      records_(context_),
      journal_(
          context_.options.keeps_values ? context_.options.engine : nullptr,
          context_.options.wall_time, records_),
      table_(records_),
      takers_(context_, records_, table_),
      stats_(context_, table_),
      kernels_(context_, table_),
      inputs_(context_, table_),
      lifecycle_(context_, {mailbox_, records_, journal_, table_, takers_,
                            kernels_, inputs_}),
      exchange_(context_, {records_, journal_, table_, takers_, lifecycle_}),
      completion_(context_, records_, table_, takers_, stats_, lifecycle_),
      loans_(context_, table_),
      changes_(context_, mailbox_, table_, takers_, lifecycle_),
      keepers_(context_, records_, table_, takers_, stats_),
      departure_(context_, table_, takers_, stats_, keepers_),
      reports_(context_, records_, journal_, table_) {
  context_.multicast.SetWants([this](uint8_t, JobId job, const Bytes& tag) {
    const JobRun* const run = table_.FindRun(job);
    return run == nullptr || run->Lacks(tag.view());
  });
}

void Agent::RunOnce(absl::Time now) {
  Outbox& outbox = context_.outbox;
  outbox.wake = absl::InfiniteFuture();
  had_news_ = mailbox_.Poll(now);
  // Messages to this agent itself join behind: a loop, for they may beget more.
  do {
    for (const Message& message : mailbox_.Take()) {
      context_.membership.Heard({now, outbox}, message.head);
      Dispatch(now, message.head.source, message.head.kind, message.head.job,
               message.body);
    }
    TakeCompletions(now);
    context_.background.Poll();
    kernels_.TakeMade();
    completion_.TakeDigests(now);
    PollValues(now);
    context_.membership.Tick({now, outbox});
    changes_.Handle(now);
    context_.multicast.Tick({now, outbox});
    mailbox_.Tick(now);
    TickRuns(now);
    lifecycle_.TellRounds(now);
    inputs_.Tick(now);
    loans_.Tick(now);
    if (departure_.TakeLeave(now)) changes_.HandleOwnLeave(now);
    exchange_.AdoptStored(now);
    exchange_.OfferJobs(now);
    exchange_.RequestJobs(now);
    kernels_.CheckDue(now);
    for (const auto& [job, why] : takers_.TakeUnservable(now)) {
      lifecycle_.Fail(now, job, why);
    }
    completion_.SortResults();
    lifecycle_.ReportFailures(now);
    takers_.TellTroubles(now);
    RunHousekeeping(now);
    for (auto& [id, entry] : table_) {
      if (entry.run == nullptr) continue;
#ifndef NDEBUG
      entry.run->CheckInvariants();
#endif
      entry.run->SendBatches(outbox);
    }
    mailbox_.Flush(now);
  } while (mailbox_.HasMessages());

  departure_.End(now);
  outbox.WakeAt(next_housekeeping_);
  next_wake_ = outbox.wake;
}

void Agent::Dispatch(absl::Time now, AgentId from, uint8_t kind, JobId job,
                     const Bytes& body) {
  Outbox& outbox = context_.outbox;
  if (kind == static_cast<uint8_t>(RoutingKind::kRelay)) {
    return context_.Count(mailbox_.Forward(body));
  }
  if (Multicast::IsMine(kind)) {
    std::vector<Delivery> deliveries;
    const Envelope head{.kind = kind, .source = from, .job = job};
    context_.multicast.Receive({now, outbox}, {head, body}, deliveries);
    for (const Delivery& d : deliveries) {
      // An agent that needs no bytes takes it as word of who has them.
      Dispatch(now, d.origin, d.tag_only ? kAnnounce : d.kind, d.job, d.body);
    }
    return;
  }
  if (kind < kFirstFreeKind) {
    context_.membership.Receive({now, outbox}, from, kind, body);
    return changes_.HandleNewView(now);
  }
  if (kind > kLastKind) {
    return context_.Count(absl::InvalidArgumentError(
        absl::StrCat("no message of kind ", static_cast<int>(kind))));
  }
  if (Lending::IsMine(kind)) return loans_.Receive(now, from, kind, body);
  if (kind == InputChunks::kKind) return inputs_.Receive(now, from, job, body);
  if (kind == static_cast<uint8_t>(AgentMessage::kJobOffer)) {
    return exchange_.TakeOffer(now, from, job, body);
  }
  if (kind == kKeepResults) {
    return lifecycle_.NoteKeepResults(now, job, body.view());
  }
  const bool is_demand = kind == static_cast<uint8_t>(LabelMessage::kDemand);
  JobEntry* const entry =
      is_demand ? table_.FindNamed(now, job) : table_.Find(job);
  if (entry != nullptr) {
    DispatchToJob(now, from, kind, *entry, body);
  } else if (kind == static_cast<uint8_t>(AgentMessage::kJobRequest)) {
    // Its record has not come yet, or it is over.
    exchange_.SendPart(from, job, {}, body);
  }
}

void Agent::DispatchToJob(absl::Time now, AgentId from, uint8_t kind,
                          JobEntry& entry, const Bytes& body) {
  switch (static_cast<AgentMessage>(kind)) {
    case AgentMessage::kJobRequest:
      return exchange_.SendPart(from, JobId(entry.hash.high), entry.encoded,
                                body);
    case AgentMessage::kJobAbsent:
      return entry.pull.NoteAbsent(now, from);
    case AgentMessage::kJobValue:
      return exchange_.TakePart(now, from, entry, body);
    case AgentMessage::kJobHeld:
      return exchange_.TellUntold(now, entry);
    case AgentMessage::kJobOffer:
      break;  // dealt with above
  }
  if (entry.run == nullptr) {
    if (kind != static_cast<uint8_t>(LabelMessage::kDemand)) return;
    lifecycle_.NoteDemand(entry);
    // Its results were dropped, and the job itself is still here.
    if (!entry.encoded.empty()) lifecycle_.ApplyAny(now, entry.hash);
    return;
  }
  if (kind == static_cast<uint8_t>(LabelMessage::kLend)) {
    return loans_.ReceiveLoan(now, from, *entry.run, body);
  }
  context_.Count(entry.run->Receive({now, context_.outbox}, from, kind, body));
}

void Agent::TakeCompletions(absl::Time now) {
  std::vector<Completion> completions;
  context_.executor.Poll(completions);
  had_news_ |= !completions.empty();
  for (Completion& completion : completions) {
    if (JobRun* const run = table_.FindRun(completion.job)) {
      run->OnCompletion({now, context_.outbox}, std::move(completion));
    }
  }
}

void Agent::PollValues(absl::Time now) {
  if (context_.values == nullptr) return;
  std::vector<ValueStore::Event> events;
  context_.values->Poll(events);
  for (const EngineReply& reply : context_.values->TakeOthers()) {
    journal_.Take(reply);
  }
  for (const ValueStore::Event& event : events) {
    JobEntry* const entry = table_.Find(JobId(event.job.high));
    if (entry == nullptr) continue;
    if (event.label.array == InputChunks::kArrayOnDisk) {
      if (entry->inputs != nullptr) entry->inputs->OnDisk(event);
    } else if (entry->run != nullptr) {
      entry->run->OnDisk({now, context_.outbox}, event);
      if (event.kind == ValueStore::Event::Kind::kScanned) {
        entry->run->TellStart(context_.outbox);
      }
    }
  }
}

void Agent::TickRuns(absl::Time now) {
  for (auto& [id, entry] : table_) {
    if (entry.run == nullptr) continue;
    entry.run->Tick({now, context_.outbox});
    if (!context_.IsDraining()) entry.run->Feed({now, context_.outbox});
  }
}

void Agent::RunHousekeeping(absl::Time now) {
  if (now < next_housekeeping_) return;
  next_housekeeping_ = now + kHousekeepingInterval;
  const Membership& membership = context_.membership;
  context_.multicast.NoteRoundTrips(membership.LeastRoundTripMax(),
                                    membership.RoundTripMax());
  for (auto& [id, entry] : table_) {
    if (entry.run != nullptr) {
      entry.run->NoteRoundTrip(membership.RoundTripMax());
    }
  }
  completion_.FinishJobs(now);
  lifecycle_.ForgetJobs(now);
  keepers_.Tick(now);
  exchange_.DropOffers(now);
  stats_.Publish();
}

CarriedOver Agent::TakeCarriedOver(JobId job) const {
  const JobRun* run = FindRun(job);
  return run == nullptr ? CarriedOver() : run->TakeCarriedOver();
}

void Agent::AdoptCarriedOver(absl::Time now, JobId job,
                             const CarriedOver& carried) {
  if (JobRun* const run = table_.FindRun(job)) {
    run->AdoptCarriedOver({now, context_.outbox}, carried);
  }
}

int64_t Agent::refused_count() const {
  return context_.refused_count + mailbox_.refused_count() +
         context_.multicast.refused_count() +
         context_.membership.refused_count();
}

}  // namespace dogged
