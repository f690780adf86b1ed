#include "kvstore/dictionary/retention.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"

namespace dogged {
namespace {

// Size up to which the value of a high-fanout label is kept beside its holders.
constexpr int64_t kKeptBytesMax = 8 << 10;

}  // namespace

bool Retention::IsSettled(const Reader& reader) const {
  const Label first = job_.relations.FirstMade(reader);
  const LabelEntry* output = labels_.shard.FindBound(first);
  return output != nullptr
             ? output->producer_reported || !labels_.places.IsHome(first)
             : !labels_.watermarks.IsReleasedEarly(first) &&
                   !labels_.watermarks.IsUnverified(first);
}

void Retention::TellLocalConsumers(const Label& label, const Value& value,
                                   AgentId holder, Outbox& out) {
  if (labels_.high_fanout.HasHighFanout(label))
    return TellHighFanout(label, value, holder, out);
  std::set<Reader> done;
  const bool wanted =
      readers_.Tell(label, value, /*asks=*/true,
                    [&](const Reader& reader, bool /*is_here*/, bool is_done) {
                      if (is_done && IsSettled(reader)) done.insert(reader);
                    });
  for (const Reader& reader : done) {
    if (labels_.places.IsHome(label)) {
      ConsumerDone(label, reader, out);
    } else {
      job_.messenger.SendTo(labels_.places.HomeOf(label), LabelMessage::kDone,
                            EncodeDone({.label = label, .reader = reader}),
                            out);
    }
  }
  if (wanted) {
    job_.messenger.SendTo(
        holder, LabelMessage::kDemand,
        EncodeDemand({.label = label, .kind = DemandKind::kFetch}), out);
  }
}

void Retention::TellHighFanout(const Label& label, const Value& value,
                               AgentId holder, Outbox& out) {
  HighFanoutLabels::Known* before = labels_.high_fanout.Find(label);
  if (before != nullptr && before->have_value && !value.IsNone()) {
    for (const Reader& reader : std::exchange(before->askers, {})) {
      readers_.Give(reader, label, value);
    }
    return;
  }
  HighFanoutLabels::Known known;
  if (before != nullptr) known = *before;
  ConsumerSet mine;
  known.left = 0;
  const bool wanted = readers_.Tell(
      label, value, /*asks=*/!holder.IsNone(),
      [&](const Reader& reader, bool is_here, bool is_done) {
        if (is_here) mine.Add(reader);
        const bool counts = is_done ? !IsSettled(reader) : is_here;
        if (counts) ++known.left;
      });
  known.have_value |= !job_.forward || !value.IsNone();
  if (!value.IsNone()) known.askers.clear();
  if (!value.IsNone() && !value.IsSpilled() && value.bytes() <= kKeptBytesMax) {
    known.value = value;
  }
  known.is_reported = known.left == 0;
  known.is_demanded |= wanted;
  labels_.high_fanout.Put(label, known);
  if (wanted) {
    job_.messenger.SendTo(
        holder, LabelMessage::kDemand,
        EncodeDemand({.label = label, .kind = DemandKind::kFetch}), out);
  }
  if (known.left > 0 || mine.count == 0) return;
  if (labels_.places.IsHome(label)) {
    labels_.high_fanout.AddReport(label, job_.self, mine);
  } else {
    job_.messenger.SendTo(labels_.places.HomeOf(label), LabelMessage::kDone,
                          EncodeDone({.label = label, .all = mine}), out);
  }
}

std::set<AgentId> Retention::RemoteConsumerHomes(
    const Label& label, const LabelEntry& entry) const {
  std::set<AgentId> homes;
  const size_t all = labels_.places.placement().members().size();
  size_t ordinal = 0;
  job_.relations.ForEachReader(label, [&](const Reader& reader) {
    if (!entry.consumers.Has(ordinal++))
      homes.insert(labels_.places.HomeOf(reader));
    return homes.size() < all;
  });
  homes.erase(job_.self);
  return homes;
}

bool Retention::IsUsedUp(const Label& label, const LabelEntry& entry) const {
  if (readers_.IsResult(label) ||
      labels_.watermarks.IsRetainedGeneration(label))
    return false;
  if (entry.consumers.left() == 0) return !labels_.watermarks.IsRetained(label);
  return IsUsedUpHere(label, entry);
}

bool Retention::IsUsedUpHere(const Label& label,
                             const LabelEntry& entry) const {
  size_t ordinal = 0;
  return job_.relations.ForEachReader(label, [&](const Reader& reader) {
    if (entry.consumers.Has(ordinal++)) return true;
    const Label first = job_.relations.FirstMade(reader);
    if (labels_.watermarks.IsReleasedEarly(first)) return true;
    const LabelEntry* output = labels_.shard.FindBound(first);
    if (output != nullptr) return output->is_home;
    // Dropped before others that the reader made are durable.
    return labels_.places.IsHome(first) && labels_.watermarks.WasBound(first) &&
           !labels_.watermarks.IsUnverified(first);
  });
}

void Retention::ReleaseInputs(const Reader& reader, int64_t bytes_min) {
  if (!job_.forward || storage_.has_store() || job_.replicas == 1 ||
      !labels_.places.IsMine(reader)) {
    return;
  }
  job_.relations.ForEachRead(reader, [&](const Label& label) {
    LabelEntry* entry = labels_.shard.FindBound(label);
    if (entry == nullptr || ++entry->read_here < entry->consumers.left()) {
      return;
    }
    const bool may_go = entry->is_home && entry->awaits_copies &&
                        !entry->is_cut_member && entry->copies.empty() &&
                        entry->waiters.empty() &&
                        entry->value.bytes() >= bytes_min;
    if (!may_go || labels_.high_fanout.HasHighFanout(label) ||
        labels_.watermarks.IsRecomputing(label) ||
        labels_.watermarks.IsRetained(label) || readers_.IsResult(label) ||
        !job_.relations.IsMade(label) || !IsUsedUpHere(label, *entry)) {
      return;
    }
    if (!entry->producer_reported) {
      labels_.watermarks.NoteReleasedEarly(label, entry->consumers);
    }
    labels_.watermarks.NoteRetired(label);
    labels_.shard.Erase(label);
  });
}

void Retention::ReviewReleased(Outbox& out) {
  for (const Label& label : labels_.watermarks.ReleasedEarly()) {
    job_.relations.ForEachReader(label, [&](const Reader& reader) {
      if (!labels_.places.IsMine(reader)) ConsumerDone(label, reader, out);
      return true;
    });
  }
}

void Retention::ReportDone(const Reader& reader, Outbox& out) {
  struct Input {
    Label label;
    int64_t uses = 1;
  };
  absl::InlinedVector<Input, 4> inputs;
  job_.relations.ForEachRead(reader, [&](const Label& label) {
    const auto known =
        std::find_if(inputs.begin(), inputs.end(),
                     [&](const Input& input) { return input.label == label; });
    if (known == inputs.end()) {
      inputs.push_back({label});
    } else {
      ++known->uses;
    }
  });
  for (const auto& [label, uses] : inputs) {
    if (labels_.high_fanout.HasHighFanout(label)) {
      if (labels_.places.IsMine(reader)) CountDown(label, uses, out);
    } else if (labels_.places.IsHome(label)) {
      ConsumerDone(label, reader, out);
    } else {
      job_.messenger.SendTo(labels_.places.HomeOf(label), LabelMessage::kDone,
                            EncodeDone({.label = label, .reader = reader}),
                            out);
    }
  }
}

void Retention::CountDown(const Label& label, int64_t uses, Outbox& out) {
  HighFanoutLabels::Known* known = labels_.high_fanout.Find(label);
  if (known != nullptr && known->is_reported) return;
  if (known != nullptr && known->left > uses) {
    known->left -= uses;
    return;
  }
  TellHighFanout(label, Value(), AgentId(), out);
}

// Reports may follow from one another back through a row, so they wait in a
// queue instead of on the stack.
void Retention::ConsumerDone(const Label& label, const Reader& reader,
                             Outbox& out) {
  done_reports_.queue.emplace_back(label, reader);
  if (std::exchange(done_reports_.is_busy, true)) return;
  while (!done_reports_.queue.empty()) {
    const auto [next_label, next_reader] = done_reports_.queue.front();
    done_reports_.queue.pop_front();
    LabelEntry* entry = labels_.shard.Find(next_label);
    // An agent may still wait for it.
    const bool is_here = entry != nullptr && entry->IsBound();
    ConsumersDone* const released =
        is_here ? nullptr : labels_.watermarks.FindReleasedEarly(next_label);
    const bool is_home = entry != nullptr && entry->is_home;
    if (!is_home && released == nullptr) continue;
    size_t ordinal = 0;
    const auto cross_off = [&, &done = next_reader](const Reader& other) {
      if (other == done) {
        if (is_home) entry->consumers.Mark(ordinal);
        if (released != nullptr) released->Mark(ordinal);
      }
      ++ordinal;
      return true;
    };
    job_.relations.ForEachReader(next_label, cross_off);
    if (released != nullptr && released->left() == 0) {
      labels_.watermarks.TakeReleasedEarly(next_label);
      ReportProducerIfDurable(next_label, out);
    }
    if (is_home) RetireIfUnneeded(next_label, out);
  }
  done_reports_.is_busy = false;
}

void Retention::HandleDone(AgentId from, const DoneBody& body, Outbox& out) {
  if (body.reader.has_value()) {
    return ConsumerDone(body.label, *body.reader, out);
  }
  const LabelEntry* entry = labels_.shard.Find(body.label);
  if (entry == nullptr || !entry->is_home) return;
  labels_.high_fanout.AddReport(body.label, from, body.all);
}

void Retention::CrossOffReported(Outbox& out) {
  for (const auto& [label, reports] : labels_.high_fanout.TakeReports()) {
    LabelEntry* entry = labels_.shard.Find(label);
    if (entry == nullptr || !entry->is_home) continue;
    // A report counts if it is about the same consumers.
    HighFanoutLabels::Reports here;
    job_.relations.ForEachReader(label, [&](const Reader& reader) {
      here[labels_.places.HomeOf(reader)].Add(reader);
      return true;
    });
    size_t ordinal = 0;
    job_.relations.ForEachReader(label, [&](const Reader& reader) {
      const AgentId home = labels_.places.HomeOf(reader);
      const auto said = reports.find(home);
      if (said != reports.end() && said->second == here[home]) {
        entry->consumers.Mark(ordinal);
      }
      ++ordinal;
      return true;
    });
    RetireIfUnneeded(label, out);
  }
}

bool Retention::IsDurable(const Label& label, const LabelEntry& entry) const {
  if (entry.consumers.left() == 0 && !readers_.IsResult(label)) return true;
  if (storage_.keeps_values() && entry.on_disk != OnDisk::kYes) return false;
  // A copy counts while its holder has a rank; agents without may drop theirs.
  const absl::Span<const AgentId> holders = labels_.places.HoldersOf(label);
  return std::all_of(holders.begin(), holders.end(), [&](AgentId agent) {
    return agent == job_.self ||
           std::find(entry.copies.begin(), entry.copies.end(), agent) !=
               entry.copies.end();
  });
}

void Retention::ReportIfDurable(const Label& label, Outbox& out) {
  const LabelEntry* entry = labels_.shard.Find(label);
  if (entry == nullptr || !entry->is_home || entry->producer_reported ||
      !IsDurable(label, *entry)) {
    return;
  }
  ReportProducerIfDurable(label, out);
}

void Retention::ReportProducerIfDurable(const Label& label, Outbox& out) {
  const std::optional<Reader> producer = job_.relations.ProducerOf(label);
  if (!producer.has_value()) return;
  // A single report stands for all outputs at home here.
  bool all_durable = true;
  absl::InlinedVector<Label, 2> outputs;
  job_.relations.ForEachMade(*producer, [&](const Label& created) {
    if (!labels_.places.IsHome(created)) return;
    const LabelEntry* other = labels_.shard.FindBound(created);
    if (other == nullptr) {
      all_durable &= labels_.watermarks.WasBound(created) &&
                     !labels_.watermarks.IsReleasedEarly(created) &&
                     !labels_.watermarks.IsUnverified(created);
      return;
    }
    all_durable &= other->is_home && IsDurable(created, *other);
    outputs.push_back(created);
  });
  if (!all_durable) return;
  for (const Label& created : outputs) {
    labels_.shard.Find(created)->producer_reported = true;
  }
  ReportDone(*producer, out);
}

void Retention::RetireIfUnneeded(const Label& label, Outbox& out) {
  const LabelEntry* entry = labels_.shard.FindBound(label);
  if (entry == nullptr || !entry->is_home || entry->consumers.left() > 0 ||
      !entry->waiters.empty() || readers_.IsResult(label)) {
    return;
  }
  ReportIfDurable(label, out);
  if (readers_.AreResultsDemanded() && labels_.watermarks.MustRetain(label)) {
    labels_.watermarks.Retain(label);
  } else {
    Drop(label, out);
  }
  for (const Label& kept : labels_.watermarks.TakeExpired(label))
    Drop(kept, out);
}

void Retention::Drop(const Label& label, Outbox& out) {
  const LabelEntry* entry = labels_.shard.FindBound(label);
  if (entry == nullptr || !entry->waiters.empty()) return;
  if (!entry->copies.empty()) {
    job_.messenger.SendToAll({entry->copies.begin(), entry->copies.end()},
                             LabelMessage::kRetired,
                             EncodeRetired({.label = label}), out);
  }
  labels_.watermarks.NoteRetired(label);
  labels_.shard.Erase(label);
}

void Retention::DropAllRetained(Outbox& out) {
  for (const Label& label : labels_.watermarks.TakeAllRetained())
    Drop(label, out);
}

}  // namespace dogged
