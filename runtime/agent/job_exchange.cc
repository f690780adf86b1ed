#include "runtime/agent/job_exchange.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/agent/records/placement_salts.h"
#include "runtime/base/codec.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"
#include "runtime/base/wire_version.h"

namespace dogged {
namespace {

// The others hear of a job by then, if none of them says that it has it.
constexpr absl::Duration kUntoldMax = absl::Seconds(3);
// Offers of a job are said again after this time, to so many others.
constexpr absl::Duration kOfferInterval = absl::Milliseconds(200);
constexpr size_t kOffersAtOnce = 2;
// A job that was offered goes if no record of it comes.
constexpr absl::Duration kOfferedTime = absl::Seconds(30);

}  // namespace

absl::Status JobExchange::CheckName(const JobRecord& record) const {
  const JobIndex& index = records_.index();
  for (const auto& [other, running] : index.running()) {
    const auto known =
        records_.Find(JobRecord::KeyOf(index.Find(other)->hash, running));
    if (known.has_value() && known->name == record.name &&
        known->text_hash != record.text_hash && known->text_hash != 0 &&
        record.text_hash != 0) {
      return absl::AlreadyExistsError(absl::StrCat(
          "another program ", record.name,
          ", with another text, runs here: ", known->hash.ToString(),
          "; wait for its end, cancel it, or give this file another name"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<JobId> JobExchange::Submit(absl::Time now, std::string encoded,
                                          SubmissionId submission,
                                          const JobOptions& options,
                                          uint64_t text_hash) {
  DOGGED_ASSIGN_OR_RETURN(const Job job, Job::Decode(encoded));
  JobRecord record{.hash = JobHash(encoded),
                   .submission = submission,
                   .name = job.program.name,
                   .text_hash = text_hash,
                   .options = options};
  DOGGED_RETURN_IF_ERROR(CheckName(record));
  JobEntry& entry = table_.FindOrMake(record.job());
  entry.hash = record.hash;
  if (entry.encoded.empty()) entry.encoded = Bytes(std::move(encoded));
  auto homes = ProposeSalts(agent_.membership.records(), record, job,
                            takers_.PlacementOf(job, record.hash).members);
  JobOffer& offer = entry.offer;
  offer.untold.push_back(record);
  if (homes.has_value()) offer.untold_homes = std::move(homes);
  const bool is_known = records_.index().IsRunning(record.job());
  if (is_known || agent_.membership.view()->size() < 2) {
    TellUntold(now, entry);
  } else if (offer.untold.size() == 1) {
    offer.told_by = now + kUntoldMax;
    offer.next_offer = now;
  }
  return record.job();
}

bool JobExchange::IsTold(JobId job) const {
  const JobEntry* const entry = std::as_const(table_).Find(job);
  return entry == nullptr ||
         (entry->offer.untold.empty() && !journal_.IsWriting(entry->hash));
}

// --- the directory

bool JobExchange::IsWanted(const std::vector<JobJournal::Found>& found) const {
  const JobId job = found.front().record.job();
  absl::Duration age = absl::InfiniteDuration();
  for (const JobJournal::Found& one : found) {
    const auto known = records_.Find(one.record.Key());
    const JobRecord& newest = known.has_value() ? *known : one.record;
    if (newest.state == JobState::kRunning) return true;
    age = std::min(age, one.age);
  }
  return records_.index().IsRunning(job) || age < lifecycle_.KeptTimeOf(job);
}

void JobExchange::AdoptFound(absl::Time now) {
  Stored stored;
  for (JobJournal::Found& one : journal_.TakeFound()) {
    stored[one.record.hash].push_back(std::move(one));
  }
  std::vector<std::pair<std::string, GossipRecord>> told;
  for (const auto& [hash, found] : stored) {
    for (const JobJournal::Found& one : found) {
      if (one.record.state == JobState::kRunning) continue;
      told.emplace_back(one.record.Key(),
                        GossipRecord{.version = one.record.version(),
                                     .bytes = one.record.Encode()});
    }
  }
  agent_.membership.PutRecords({now, agent_.outbox}, std::move(told));
  for (auto& [hash, found] : stored) {
    bool has_value = false;
    for (const JobJournal::Found& one : found) {
      has_value |= one.has_value;
      const auto known = records_.Find(one.record.Key());
      if (known.has_value()) journal_.Note(*known);
      if (one.record.state != JobState::kRunning) {
        lifecycle_.Apply(now, one.record);
      }
    }
    if (has_value && IsWanted(found)) {
      journal_.Load(hash);
      returning_.emplace(hash, std::move(found));
    } else if (has_value) {
      lifecycle_.EraseFromDisk(hash);
    }
  }
  journal_.SetDecided();
  // Values of jobs whose ends were heard of before it was known that nothing
  // else of them is here.
  if (agent_.values == nullptr) return;
  std::vector<Digest> over;
  for (const auto& [hash, job] : agent_.values->stored_jobs()) {
    const JobId id(hash.high);
    if (records_.index().Find(id) == nullptr || table_.Find(id) != nullptr ||
        records_.index().IsRunning(id) || returning_.contains(hash)) {
      continue;
    }
    over.push_back(hash);
  }
  std::sort(over.begin(), over.end());
  for (const Digest& hash : over) lifecycle_.EraseFromDisk(hash);
}

bool JobExchange::ReadsDirectory() const {
  if (!journal_.has_directory() || agent_.IsDraining()) return false;
  return !journal_.IsDecided() || !returning_.empty();
}

void JobExchange::AdoptStored(absl::Time now) {
  if (!journal_.HasScanned() || !takers_.HasSettled()) return;
  // An agent that leaves begins nothing: the directory has it for the next one.
  if (agent_.IsDraining()) return;
  if (!journal_.IsDecided()) AdoptFound(now);
  for (const auto& [hash, encoded] : journal_.TakeLoaded()) {
    const auto it = returning_.find(hash);
    if (it == returning_.end()) continue;
    const std::vector<JobJournal::Found> found = std::move(it->second);
    returning_.erase(it);
    if (encoded.empty()) {
      Log(LogLevel::kWarning,
          absl::StrCat("the directory has lost the program of job ",
                       found.front().record.name, " (", hash.ToString(),
                       "): it does not go on from here, unless another agent "
                       "has it; else submit it again"));
    } else if (IsWanted(found)) {
      AdoptJob(now, found, encoded);
    } else {
      lifecycle_.EraseFromDisk(hash);
    }
  }
}

void JobExchange::AdoptJob(absl::Time now,
                           const std::vector<JobJournal::Found>& found,
                           const Bytes& encoded) {
  const JobRecord& first = found.front().record;
  JobEntry& entry = table_.FindOrMake(first.job());
  entry.hash = first.hash;
  if (entry.encoded.empty()) entry.encoded = encoded;
  absl::Duration age = absl::InfiniteDuration();
  for (const JobJournal::Found& one : found) {
    if (one.record.state == JobState::kRunning) {
      records_.Publish(now, one.record);
    } else {
      age = std::min(age, one.age);
    }
  }
  const JobIndex::Known* const known = records_.index().Find(first.job());
  if (known != nullptr && known->done > 0) {
    // A result may be here alone.
    entry.is_needed_again = true;
    if (age < absl::InfiniteDuration()) {
      entry.over_since = std::min(entry.over_since, now - age);
    }
  }
  for (const JobJournal::Found& one : found) lifecycle_.Apply(now, one.record);
  const bool runs = records_.index().IsRunning(first.job());
  Log(LogLevel::kInfo,
      absl::StrCat(runs ? "goes on with job " : "keeps results of job ",
                   first.name, " (", first.hash.ToString(),
                   "), which its directory has"));
}

void JobExchange::RequestJobs(absl::Time now) {
  std::vector<AgentId> others;
  std::vector<JobId> nowhere;
  for (auto& [job, entry] : table_) {
    const bool is_over = entry.over_since <= now && !entry.is_needed_again;
    if (!entry.encoded.empty() || is_over) continue;
    if (others.empty()) others = agent_.Others();
    const Limits& limits = agent_.options.limits;
    entry.pull.Tick({now, agent_.outbox}, job, limits, others, agent_.rng);
    if (records_.index().IsRunning(job) &&
        entry.pull.HasNobodySince(now - limits.input_patience, others)) {
      nowhere.push_back(job);
    }
  }
  for (const JobId job : nowhere) {
    lifecycle_.Fail(
        now, job,
        absl::DataLossError("no agent has the program of this job any "
                            "more; run the same command again"));
  }
}

void JobExchange::SendPart(AgentId to, JobId job, const Bytes& value,
                           const Bytes& wish) {
  if (value.empty()) {
    agent_.outbox.Send(to, static_cast<uint8_t>(AgentMessage::kJobAbsent), job,
                       {});
    return;
  }
  absl::StatusOr<Bytes> part = PartOf(value, wish.view());
  agent_.Count(part.status());
  if (!part.ok()) return;
  agent_.outbox.Send(to, static_cast<uint8_t>(AgentMessage::kJobValue), job,
                     *std::move(part));
}

void JobExchange::TakePart(absl::Time now, AgentId from, JobEntry& entry,
                           const Bytes& part) {
  if (!entry.encoded.empty()) return;
  const absl::Status taken = entry.pull.TakePart(now, from, part.view());
  agent_.Count(taken);
  if (!taken.ok() || !entry.pull.IsWhole()) return;
  std::string whole = entry.pull.Take();
  if (Hash128(whole) != entry.hash) {
    ++agent_.refused_count;
    return;
  }
  entry.encoded = Bytes(std::move(whole));
  if (!entry.offer.offered_by.IsNone()) {
    agent_.outbox.Send(std::exchange(entry.offer.offered_by, AgentId()),
                       static_cast<uint8_t>(AgentMessage::kJobHeld),
                       JobId(entry.hash.high), {});
  }
  lifecycle_.ApplyAny(now, entry.hash);
}

void JobExchange::OfferJobs(absl::Time now) {
  for (auto& [job, entry] : table_) {
    JobOffer& mine = entry.offer;
    if (mine.untold.empty()) continue;
    const std::vector<AgentId> others = agent_.Others();
    if (others.empty() || now >= mine.told_by) {
      TellUntold(now, entry);
      continue;
    }
    if (now >= mine.next_offer) {
      mine.next_offer = now + kOfferInterval;
      Encoder body;
      body.PutU64(entry.hash.low);
      body.PutU64(entry.hash.high);
      PutOpenEnd(body);
      const Bytes offer(body.Take());
      for (size_t i = 0; i < std::min(others.size(), kOffersAtOnce); ++i) {
        agent_.outbox.Send(agent_.rng.Pick(others),
                           static_cast<uint8_t>(AgentMessage::kJobOffer), job,
                           offer);
      }
    }
    agent_.outbox.WakeAt(std::min(mine.next_offer, mine.told_by));
  }
}

void JobExchange::TakeOffer(absl::Time now, AgentId from, JobId job,
                            const Bytes& body) {
  Decoder in(body.view());
  Digest hash;
  hash.low = in.GetU64();
  hash.high = in.GetU64();
  if (!TakeOpenEnd(in, "offer of a job").ok() || JobId(hash.high) != job) {
    ++agent_.refused_count;
    return;
  }
  JobEntry& entry = table_.FindOrMake(job);
  entry.hash = hash;
  entry.offer.offered_by = from;
  entry.offer.offered_until = now + kOfferedTime;
  if (entry.encoded.empty()) {
    entry.pull.Prefer(now, from);
  } else {
    agent_.outbox.Send(from, static_cast<uint8_t>(AgentMessage::kJobHeld), job,
                       {});
  }
}

void JobExchange::TellUntold(absl::Time now, JobEntry& entry) {
  const std::vector<JobRecord> records = std::exchange(entry.offer.untold, {});
  if (records.empty()) return;
  // Salts in the message of the job that they are for: an agent that began
  // without them would have to hand over what it has made until they came.
  std::vector<std::pair<std::string, GossipRecord>> told;
  auto homes = std::exchange(entry.offer.untold_homes, std::nullopt);
  if (homes.has_value()) {
    told.emplace_back(HomesKey(entry.hash), *std::move(homes));
  }
  for (const JobRecord& record : records) {
    told.emplace_back(record.Key(), GossipRecord{.version = record.version(),
                                                 .bytes = record.Encode()});
  }
  agent_.membership.PutRecords({now, agent_.outbox}, std::move(told));
  for (const JobRecord& record : records) {
    lifecycle_.PublishAndApply(now, record);
  }
}

void JobExchange::DropOffers(absl::Time now) {
  std::vector<JobId> due;
  for (const auto& [job, entry] : table_) {
    const bool is_due = entry.offer.untold.empty() &&
                        records_.index().Find(job) == nullptr &&
                        now >= entry.offer.offered_until;
    if (is_due) due.push_back(job);
  }
  for (const JobId job : due) table_.Erase(job);
}

}  // namespace dogged
