#include "runtime/agent/job_takers.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/agent/records/placement_salts.h"
#include "runtime/base/log.h"
#include "runtime/graph/numeric_class.h"
#include "runtime/job/job_run.h"

namespace dogged {
namespace {

// An agent that joins meanwhile may be able to, and some may not know it yet.
constexpr absl::Duration kNobodyWait = absl::Milliseconds(300);

}  // namespace

std::vector<const Member*> JobTakers::ClassOf(const Job& job) const {
  std::vector<const Member*> out;
  for (const Member& member : agent_.membership.view()->members()) {
    // Another class would give other bits: it has no shards of this job.
    if (MeetsNumericClass(member.numeric_class, job.numeric_class)) {
      out.push_back(&member);
    }
  }
  return out;
}

std::vector<const Member*> JobTakers::TakersOf(const Job& job,
                                               const Digest& hash) const {
  return dogged::TakersOf(ClassOf(job), TroublesOfJob(hash));
}

PlacementView JobTakers::PlacementOf(const Job& job, const Digest& hash) const {
  std::vector<PlacementMember> out;
  bool has_heirs = false;
  for (const Member* member : TakersOf(job, hash)) {
    has_heirs |= member->id != agent_.id();
    out.push_back({member->id, member->host, member->workers});
  }
  if (agent_.IsLeaving() && has_heirs) {
    out.erase(std::remove_if(out.begin(), out.end(),
                             [this](const PlacementMember& member) {
                               return member.agent == agent_.id();
                             }),
              out.end());
  }
  return {.members = std::move(out),
          .salts = SaltsOf(agent_.membership.records(), hash)};
}

Troubles JobTakers::TroublesOfJob(const Digest& hash) const {
  return TroublesOf(agent_.membership.records(), hash,
                    records_.index().RunningOf(JobId(hash.high)));
}

bool JobTakers::HasHeirs(const JobEntry& entry) const {
  const auto takers = TakersOf(*entry.job, entry.hash);
  return std::any_of(takers.begin(), takers.end(), [&](const Member* member) {
    return member->id != agent_.id();
  });
}

void JobTakers::Place(absl::Time now, JobEntry& entry) {
  PlacementView view = PlacementOf(*entry.job, entry.hash);
  if (view.members.empty() && !entry.troubles.empty()) return;
  entry.run->SetMembers({now, agent_.outbox}, std::move(view));
}

void JobTakers::ApplySalts(absl::Time now, const std::string& key) {
  agent_.Count(
      DecodeSalts(agent_.membership.records().Find(key)->bytes()).status());
  for (auto& [id, entry] : table_) {
    if (entry.run == nullptr || HomesKey(entry.hash) != key) continue;
    // Another agent has forgotten it; what is here stays where it is.
    if (!records_.index().IsRunning(id)) continue;
    entry.run->SetMembers({now, agent_.outbox},
                          PlacementOf(*entry.job, entry.hash));
  }
}

void JobTakers::ApplyTrouble(absl::Time now, const std::string& key) {
  const auto trouble =
      Trouble::Decode(agent_.membership.records().Find(key)->bytes());
  agent_.Count(trouble.status());
  if (!trouble.ok()) return;
  for (auto& [id, entry] : table_) {
    if (TroubleKey(entry.hash, trouble->agent) != key) continue;
    ReadTroubles(now, entry);
  }
}

void JobTakers::ReadTroubles(absl::Time now, JobEntry& entry) {
  const Troubles before =
      std::exchange(entry.troubles, TroublesOfJob(entry.hash));
  if (entry.run == nullptr) return;
  const std::vector<const Member*> members = ClassOf(*entry.job);
  const auto former = dogged::TakersOf(members, before);
  const auto takers = dogged::TakersOf(members, entry.troubles);
  if (former == takers) return;
  for (const Member* member : former) {
    if (std::find(takers.begin(), takers.end(), member) != takers.end())
      continue;
    entry.run->ExpectHandover(now, member->id);
  }
  Place(now, entry);
}

void JobTakers::TellTroubles(absl::Time now) {
  std::vector<std::pair<std::string, Trouble>> told;
  for (auto& [job, entry] : table_) {
    if (entry.run == nullptr || entry.run->trouble().cause.ok()) continue;
    Trouble trouble = entry.run->trouble();
    trouble.agent = agent_.id();
    trouble.submissions = records_.index().RunningOf(job);
    const auto known = entry.troubles.find(agent_.id());
    const bool is_news =
        known == entry.troubles.end() || known->second.kind != trouble.kind;
    // After the end of all submissions results may be needed again, by agents
    // that have to know the members unable to make them.
    const bool is_told =
        !is_news && (trouble.submissions.empty() ||
                     known->second.submissions == trouble.submissions);
    if (is_told) continue;
    if (is_news) {
      const bool stays = trouble.kind == TroubleKind::kNotice;
      Log(LogLevel::kWarning,
          absl::StrCat("job ", entry.job->program.name,
                       stays ? ": " : ": this agent leaves it to others: ",
                       std::string(trouble.cause.message())));
    }
    told.emplace_back(TroubleKey(entry.hash, agent_.id()), std::move(trouble));
  }
  for (const auto& [key, trouble] : told) {
    const KeptRecord* known = agent_.membership.records().Find(key);
    const uint64_t version = known == nullptr ? 0 : known->version() + 1;
    agent_.membership.PutRecord({now, agent_.outbox}, key, version,
                                trouble.Encode());
    ApplyTrouble(now, key);
  }
}

void JobTakers::NoteLoss(absl::string_view cause) {
  has_lost_ = true;
  has_lost_silent_ |= absl::StartsWith(cause, "silent");
}

bool JobTakers::MayHaveOthers() const {
  return !has_settled_ || agent_.options.is_reborn || has_lost_silent_;
}

std::vector<std::pair<JobId, absl::Status>> JobTakers::TakeUnservable(
    absl::Time now) {
  std::vector<std::pair<JobId, absl::Status>> out;
  if (agent_.IsDraining()) return out;
  for (auto& [job, entry] : table_) {
    if (entry.run == nullptr) continue;
    const std::string& wanted = entry.job->numeric_class;
    const bool is_plain =
        entry.troubles.empty() &&
        MeetsNumericClass(agent_.options.self.numeric_class, wanted);
    // All passes come here: troubles are those that were read last.
    std::vector<const Member*> members;
    if (!is_plain) members = ClassOf(*entry.job);
    if (is_plain || !dogged::TakersOf(members, entry.troubles).empty()) {
      entry.unservable_since = absl::InfiniteFuture();
      continue;
    }
    // An agent that died may be started again, and contacts may come up yet.
    const bool is_alone = agent_.membership.view()->size() == 1;
    const bool may_come =
        members.empty() || has_lost_ ||
        (is_alone && agent_.options.membership.looks_for_others);
    const absl::Duration wait = may_come   ? agent_.options.limits.class_wait
                                : is_alone ? absl::ZeroDuration()
                                           : kNobodyWait;
    entry.unservable_since = std::min(entry.unservable_since, now);
    // Agents that this one is cut off from may well be able to.
    if (!members.empty() && MayHaveOthers()) continue;
    const absl::Time end = entry.unservable_since + wait;
    agent_.outbox.WakeAt(end);
    if (now < end) continue;
    out.emplace_back(
        job, !members.empty()
                 ? NobodyLeft(entry.troubles, members)
                 : absl::FailedPreconditionError(absl::StrCat(
                       "no live agent of the job's numeric class \"", wanted,
                       "\" for ", absl::FormatDuration(wait),
                       "; other agents' bits could differ: start an agent on a "
                       "host of that class, or submit from a host of theirs")));
  }
  return out;
}

}  // namespace dogged
