// The members that run a job: of its numeric class and without a trouble
// (troubles.h); and the failure where none is left.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/agent/agent.h"
#include "runtime/base/log.h"
#include "runtime/graph/numeric_class.h"

namespace dogged {
namespace {

// An agent that joins meanwhile may be able to, and some may not know it yet.
constexpr absl::Duration kNobodyWait = absl::Milliseconds(300);

}  // namespace

std::vector<const Member*> Agent::ClassOf(const Job& job) const {
  std::vector<const Member*> out;
  for (const Member& member : membership_.view()->members()) {
    // Another class would give other bits: it has no shards of this job.
    if (MeetsNumericClass(member.numeric_class, job.numeric_class)) {
      out.push_back(&member);
    }
  }
  return out;
}

std::vector<const Member*> Agent::TakersOf(const Job& job,
                                           const Digest& hash) const {
  return dogged::TakersOf(ClassOf(job), TroublesOfJob(hash));
}

Troubles Agent::TroublesOfJob(const Digest& hash) const {
  return TroublesOf(membership_.records(), hash,
                    index_.RunningOf(JobId(hash.high)));
}

void Agent::Place(absl::Time now, JobEntry& entry) {
  PlacementView view = PlacementOf(*entry.job, entry.hash);
  if (view.members.empty() && !entry.troubles.empty()) return;
  entry.run->SetMembers(now, std::move(view), outbox_);
}

void Agent::ApplyTrouble(absl::Time now, const std::string& key) {
  const auto known = membership_.records().find(key);
  const auto trouble = Trouble::Decode(known->second.bytes.view());
  if (!trouble.ok()) {
    ++refused_count_;
    return;
  }
  for (auto& [id, entry] : jobs_) {
    if (TroubleKey(entry.hash, trouble->agent) != key) continue;
    ReadTroubles(now, entry);
  }
}

void Agent::ReadTroubles(absl::Time now, JobEntry& entry) {
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

void Agent::TellTroubles(absl::Time now) {
  std::vector<std::pair<std::string, Trouble>> told;
  for (auto& [job, entry] : jobs_) {
    if (entry.run == nullptr || entry.run->trouble().cause.ok()) continue;
    Trouble trouble = entry.run->trouble();
    trouble.agent = id();
    trouble.submissions = index_.RunningOf(job);
    const auto known = entry.troubles.find(id());
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
    told.emplace_back(TroubleKey(entry.hash, id()), std::move(trouble));
  }
  for (const auto& [key, trouble] : told) {
    const auto known = membership_.records().find(key);
    const uint64_t version =
        known == membership_.records().end() ? 0 : known->second.version + 1;
    membership_.PutRecord(now, key, version, trouble.Encode(), outbox_);
    ApplyTrouble(now, key);
  }
}

bool Agent::MayHaveOthers() const {
  return !has_settled_ || options_.is_reborn || has_lost_silent_;
}

void Agent::CheckTakers(absl::Time now) {
  std::vector<std::pair<JobId, absl::Status>> failed;
  for (auto& [job, entry] : jobs_) {
    if (entry.run == nullptr || draining_) continue;
    if (entry.kernels == nullptr) {
      if (now >= entry.kernels_due) {
        entry.run->Suffer(TroubleKind::kSlow,
                          absl::DeadlineExceededError(
                              "its kernels take long to make: the compiler "
                              "hangs, or a library does as it is loaded"));
        entry.kernels_due = absl::InfiniteFuture();
      }
      outbox_.WakeAt(entry.kernels_due);
    }
    const std::string& wanted = entry.job->numeric_class;
    const bool is_plain =
        entry.troubles.empty() &&
        MeetsNumericClass(options_.self.numeric_class, wanted);
    if (is_plain || !TakersOf(*entry.job, entry.hash).empty()) {
      entry.unservable_since = absl::InfiniteFuture();
      continue;
    }
    const std::vector<const Member*> members = ClassOf(*entry.job);
    // Dead agents may be started again, and contacts may come up yet.
    const bool is_alone = membership_.view()->size() == 1;
    const bool may_come =
        members.empty() || has_lost_ || (is_alone && options_.looks_for_others);
    const absl::Duration wait = may_come   ? options_.limits.class_wait
                                : is_alone ? absl::ZeroDuration()
                                           : kNobodyWait;
    entry.unservable_since = std::min(entry.unservable_since, now);
    // Agents that this one is cut off from may be able to.
    if (!members.empty() && MayHaveOthers()) continue;
    const absl::Time end = entry.unservable_since + wait;
    outbox_.WakeAt(end);
    if (now < end) continue;
    failed.emplace_back(
        job, !members.empty()
                 ? NobodyLeft(TroublesOfJob(entry.hash), members)
                 : absl::FailedPreconditionError(absl::StrCat(
                       "no live agent of the job's numeric class \"", wanted,
                       "\" for ", absl::FormatDuration(wait),
                       "; other agents' bits could differ: start an agent on a "
                       "host of that class, or submit from a host of theirs")));
  }
  for (const auto& [job, status] : failed) FailJob(now, job, status);
}

}  // namespace dogged
