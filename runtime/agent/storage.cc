// Values whose bytes are on disk: sent, used, offered again after a restart,
// and lost.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/agent/job_run.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// An agent with a directory waits so long for a label that was announced, and
// so many times as long for others to read their directories, before it
// computes what nobody has offered.
constexpr absl::Duration kOffersTimeMax = absl::Seconds(1);
constexpr int kOffersTimesMax = 5;

}  // namespace

void JobRun::SendValue(absl::btree_set<AgentId> targets, const Label& label,
                       Outbox& out, Sending why) {
  Entry* entry = shard_.Find(label);
  entry->is_exposed = true;
  if (!LogDigest(label, entry->value.digest(), self_)) return;
  if (entry->value.IsHollow()) {
    storage_.Load(label, targets);
    return;
  }
  targets.erase(self_);
  // To more of them it goes by others.
  if (targets.size() == 1) out.Rouse(*targets.begin());
  for (auto it = targets.begin(); lending_ != nullptr && it != targets.end();) {
    const std::optional<Loan> loan = lending_->Lend(*it, entry->value);
    if (!loan.has_value()) {
      ++it;
      continue;
    }
    mail_.SendTo(*it, JobMessage::kLend, EncodeLend({label, *loan}), out);
    it = targets.erase(it);
  }
  absl::btree_set<AgentId> told;
  for (const AgentId agent : targets) {
    const bool may_have =
        why == Sending::kDemanded ? credit_.MayHave(agent) : credit_.Has(agent);
    if (!may_have) told.insert(agent);
  }
  for (const AgentId agent : told) targets.erase(agent);
  if (why == Sending::kDemanded) {
    for (const AgentId agent : told) debts_.Add(agent, label);
  } else if (!told.empty()) {
    mail_.SendToAll(std::move(told), JobMessage::kAnnounce,
                    EncodeAnnounce({label, entry->value.digest()}), out);
  }
  if (targets.empty()) return;
  for (const AgentId agent : targets) {
    credit_.Use(agent, label, entry->value.bytes());
  }
  const Bytes body = EncodePublish(label, entry->value);
  Bytes tag;
  if (why == Sending::kCopy && body.size() > limits_.offer_bytes_min) {
    tag = EncodeAnnounce({label, entry->value.digest()});
  }
  mail_.SendToAll(std::move(targets), JobMessage::kPublish, body, out, tag);
}

void JobRun::PayDebts(absl::Time now, Outbox& out) {
  const auto may_have = [this](AgentId agent) {
    return credit_.MayHave(agent);
  };
  while (const auto debt = debts_.Take(may_have)) {
    const Entry* entry = shard_.Find(debt->second);
    if (entry == nullptr || entry->value.IsNone()) continue;
    SendValue({debt->first}, debt->second, out, Sending::kDemanded);
    out.WakeAt(now);  // there may be more that may go once these are queued
  }
}

absl::Status JobRun::ReceiveLent(absl::Time now, AgentId from,
                                 const Label& label, const Value& value,
                                 Outbox& out) {
  if (!failure_.ok()) return absl::OkStatus();
  if (!places_.IsKnown(label)) {
    return absl::InvalidArgumentError("a loan of no label of this job");
  }
  HandlePublish(now, from, {label, value}, out);
  return absl::OkStatus();
}

void JobRun::CopyOrphans(int64_t bytes_max) {
  for (const Label& label : shard_.Select([](const Label&, const Entry& entry) {
         return entry.value.IsOrphan();
       })) {
    Entry& entry = *shard_.Find(label);
    bytes_max -= entry.value.bytes();
    entry.value = entry.value.Copy();
    if (bytes_max <= 0) return;
  }
}

void JobRun::AdvanceStorage(absl::Time now, Outbox& out) {
  // Before room is made: where memory is always short, a value that was loaded
  // would go again before it is sent, and be asked for without end.
  for (JobStorage::Loaded& loaded : storage_.TakeLoaded()) {
    const Entry* entry = shard_.Find(loaded.label);
    if (entry == nullptr || entry->value.IsNone()) continue;
    HandOutIfWanted(loaded.label, entry->value);
    if (!loaded.targets.empty()) {
      SendValue(std::move(loaded.targets), loaded.label, out,
                Sending::kDemanded);
    }
  }
  for (auto& record :
       storage_.Advance(now, running_count(), executor_.worker_count(),
                        [this](const Label& label) {
                          return root_.rounds.IsResult(label);
                        })) {
    Execute(std::move(record));
  }
  for (auto& [label, task] : storage_.TakeRemote()) {
    mail_.SendTo(places_.HomeOf(label), JobMessage::kDemand,
                 EncodeDemand({.label = label, .task = task}), out);
  }
  for (auto& record : storage_.TakeReturned()) {
    ReturnTask(now, std::move(record), out);
  }
  Suffer(TroubleKind::kUnable, storage_.stuck());
}

bool JobRun::IsUnable() const { return trouble_.kind == TroubleKind::kUnable; }

void JobRun::Suffer(TroubleKind kind, absl::Status cause) {
  if (cause.ok() || (!trouble_.cause.ok() && kind <= trouble_.kind)) return;
  trouble_.kind = kind;
  trouble_.cause = std::move(cause);
  if (kind != TroubleKind::kUnable) return;
  Pause();
  // What has not started is others' to run: also what they had given here, of
  // which they hear no more.
  std::vector<Task> waiting = parked_.All();
  for (const Task& task : storage_.StagedTasks()) waiting.push_back(task);
  for (const auto& [task, picked] : search_.picked) {
    if (!in_flight_.contains(task)) waiting.push_back(task);
  }
  for (const Task& task : waiting) DropTask(task);
}

void JobRun::EndSlowness() {
  if (trouble_.kind == TroubleKind::kSlow) trouble_.kind = TroubleKind::kNotice;
}

// Values count as without a directory: durable by their copies. Where memory
// needs the disk, it says so once it does.
void JobRun::LoseDisk(const absl::Status& cause, Outbox& out) {
  if (!storage_.GiveUpDisk(cause)) return;
  Suffer(TroubleKind::kNotice, Annotate(cause, "it goes on without its disk"));
  for (const Label& label : shard_.Select(
           [](const Label&, const Entry& entry) { return entry.is_home; })) {
    ReportIfDurable(label, out);
    RetireIfUnneeded(label, out);
  }
}

void JobRun::ReturnTask(absl::Time now, std::unique_ptr<Activation> record,
                        Outbox& out) {
  const Task task = record->task;
  in_flight_.erase(task);
  for (size_t use = 0; use < record->inputs.size(); ++use) {
    const Value& input = record->inputs[use];
    if (input.IsNone() || input.IsHollow()) continue;
    (void)activations_.Mark(task, static_cast<int>(use), input,
                            activation_pool_);
  }
  activation_pool_.Put(std::move(record));
  PursueTask(now, task, /*depth=*/1, /*certain=*/true, out);
}

void JobRun::Recall() {
  offers_.is_reading = true;
  for (const PlacementMember& member : places_.placement().members()) {
    if (member.agent != self_) offers_.others.insert(member.agent);
  }
  storage_.Scan();
}

CarriedOver JobRun::TakeCarriedOver() const {
  const auto all = [](const Label&) { return true; };
  CarriedOver out{.digests = digests_.Select(all)};
  // Where memory is short, values that nobody may want any more are a burden:
  // who has done with them has to be found out anew.
  if (storage_.bytes_max() > 0) return out;
  out.bound_rows = marks_.BoundRows(all);
  out.retired_rows = marks_.RetiredRows(all);
  for (const Label& label : shard_.Select([](const Label&, const Entry& entry) {
         return !entry.value.IsNone() && !entry.value.IsHollow();
       })) {
    const Value& value = shard_.Find(label)->value;
    out.values.emplace_back(label, value.IsView() ? value.Copy() : value);
  }
  return out;
}

// As out of a directory: of rows that ended here what lies behind need not be
// durable.
void JobRun::AdoptCarriedOver(absl::Time now, const CarriedOver& carried,
                              Outbox& out) {
  rebuild_after_ = std::max(rebuild_after_, now);
  if (!LogDigests(carried.digests, self_)) return;
  MarkDigestsUntold(now, [](const Label&) { return true; });
  for (const auto& [row, version] : carried.bound_rows) {
    marks_.NoteBoundRow(row, version);
    marks_.Doubt(row, version);
  }
  for (const auto& [row, version] : carried.retired_rows) {
    marks_.NoteRetiredRow(row, version);
  }
  for (const auto& [label, value] : carried.values) {
    Adopt(now, label, value, /*is_on_disk=*/false, out);
  }
}

bool JobRun::AwaitsOffers(absl::Time now) const {
  return offers_.is_reading || now < offers_.end;
}

// Who is through has announced all that he has, and then it is on its way. A
// job that is under way may announce without end, so there is a limit.
void JobRun::NoteOffer(absl::Time now) {
  if (offers_.is_reading || !AwaitsOffers(now)) return;
  absl::Time end = offers_.limit;
  if (offers_.others.empty()) {
    end =
        now + (offers_.coming.empty() ? limits_.patience_min : kOffersTimeMax);
  }
  offers_.end = std::min(end, offers_.limit);
}

void JobRun::OnDisk(absl::Time now, const ValueStore::Event& event,
                    Outbox& out) {
  if (!failure_.ok()) return;
  const bool is_lost = storage_.Note(event);
  switch (event.kind) {
    case ValueStore::Event::Kind::kWritten: {
      const Entry* entry = shard_.Find(event.label);
      if (entry == nullptr || !entry->is_home) return;
      ReportIfDurable(event.label, out);
      RetireIfUnneeded(event.label, out);
      return;
    }
    case ValueStore::Event::Kind::kLoaded:
    case ValueStore::Event::Kind::kLost:
      if (is_lost) LoseValue(event.label, out);
      return;
    case ValueStore::Event::Kind::kFound:
      Adopt(now, event.label, event.value, /*is_on_disk=*/true, out);
      return;
    case ValueStore::Event::Kind::kScanned:
      offers_.is_reading = false;
      if (places_.placement().members().size() == 1) return;
      offers_.limit = now + kOffersTimesMax * kOffersTimeMax;
      offers_.end = offers_.limit;
      NoteOffer(now);
      return;
    case ValueStore::Event::Kind::kFailed:
      return LoseDisk(event.status, out);
  }
}

void JobRun::Adopt(absl::Time now, const Label& label, const Value& value,
                   bool is_on_disk, Outbox& out) {
  const bool is_known =
      label.array < static_cast<int64_t>(program().arrays.size()) &&
      label.index.size() ==
          program().arrays[static_cast<size_t>(label.array)].rank;
  if (!is_known) return;
  if (!CompareDigest(label, value.digest(), self_)) return;
  Entry* entry = &shard_.Get(label);
  if (!entry->value.IsNone()) return;
  stillness_.NoteProgress(now);
  if (is_on_disk) {
    storage_.Adopt(label, *entry, value);
  } else {
    (void)shard_.Bind(label, value);
  }
  entry->announce_interval_ms = 0;
  HandOutIfWanted(label, value);
  const Value held = entry->value;
  if (places_.IsHome(label)) {
    BecomeHome(label, *entry);
    NoteFound(label, out);
    if (!marks_.WasBound(label)) {
      const std::optional<Task> producer = relations_.ProducerOf(label);
      if (producer.has_value() && relations_.FirstCreated(*producer) == label) {
        ++stats_.tasks_done;
      }
      if (root_.rounds.IsResult(label)) ++stats_.results_bound;
    }
    marks_.NoteBound(label);
    root_.has_news |= root_.rounds.Note(label, held);
    absl::btree_set<AgentId> waiters(entry->waiters.begin(),
                                     entry->waiters.end());
    entry->waiters.clear();
    if (!waiters.empty()) {
      SendValue(std::move(waiters), label, out, Sending::kDemanded);
    }
  }
  Announce(now, label, out);
  TellLocalConsumers(label, held, self_, out);
  ReportIfDurable(label, out);
  RetireIfUnneeded(label, out);
}

// A label of this home is out of a directory, or may be, and what was made
// before it in none. All that was bound, though: where a row of another array
// ended in it, that row need not be made again.
void JobRun::NoteFound(const Label& label, Outbox& out) {
  marks_.Doubt(marks_.RowOf(label), marks_.VersionOf(label));
  const std::optional<Task> producer = relations_.ProducerOf(label);
  if (!producer.has_value()) return;
  relations_.ForEachRequired(*producer, [&](int, const Label& input) {
    if (input.array == label.array || marks_.WasBound(input)) return;
    const Label row = marks_.RowOf(input);
    const int64_t version = marks_.VersionOf(input);
    if (places_.IsHome(input)) {
      marks_.NoteBound(input);
      marks_.Doubt(row, version);
    } else {
      mail_.SendTo(places_.HomeOf(input), JobMessage::kMarks,
                   EncodeMarks({.done = {{row, version}}}), out);
    }
  });
}

void JobRun::LoseValue(const Label& label, Outbox& out) {
  const absl::InlinedVector<AgentId, 2> copies = shard_.Find(label)->copies;
  shard_.Erase(label);
  if (!places_.IsHome(label)) {
    mail_.SendTo(places_.HomeOf(label), JobMessage::kDemand,
                 EncodeDemand({.label = label, .lazy = true}), out);
    return;
  }
  for (const AgentId copy : copies) {
    mail_.SendTo(copy, JobMessage::kDemand,
                 EncodeDemand({.label = label, .lazy = true}), out);
  }
  if (copies.empty()) {
    ReopenIfGone(label);
    open_.Add({.label = label, .depth = 1, .certain = true, .passed_on = true});
  }
}

}  // namespace dogged
