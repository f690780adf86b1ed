// The consumers of a label: told that it is bound, asked whether they are done,
// crossed off. Where there are many, wide_labels.h says how.
#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "runtime/agent/job_run.h"

namespace dogged {
namespace {

// Of a wide label, beside its holders.
constexpr int64_t kKeptBytesMax = 8 << 10;

}  // namespace

Value JobRun::ValueAtHand(const Label& label) {
  const Entry* entry = shard_.Find(label);
  return entry != nullptr && !entry->value.IsNone() ? entry->value
                                                    : wide_.ValueOf(label);
}

bool JobRun::IsSettled(const Task& task) const {
  const Label first = relations_.FirstCreated(task);
  const Entry* output = shard_.Find(first);
  const bool is_here = output != nullptr && !output->value.IsNone();
  return is_here ? output->producer_reported || !places_.IsHome(first)
                 : !marks_.IsGivenUp(first) && !marks_.IsDoubted(first);
}

void JobRun::TellLocalConsumers(const Label& label, const Value& value,
                                AgentId holder, Outbox& out) {
  if (wide_.IsWide(label)) return TellWide(label, value, holder, out);
  absl::btree_set<Task> done;
  bool wanted = false;
  relations_.ForEachConsumer(label, [&](const Task& task, int use) {
    const bool pursued = IsPursued(task);
    if (!pursued && !places_.IsMine(task)) return true;
    if (!pursued && IsDone(task)) {
      if (IsSettled(task)) done.insert(task);
      return true;
    }
    if (!forward_ && !pursued) return true;
    if (!value.IsNone()) {
      MarkInput(task, use, value);
    } else {
      wanted = wanted || IsMissing(task, label);
    }
    return true;
  });
  for (const Task& task : done) {
    if (places_.IsHome(label)) {
      ConsumerDone(label, task, out);
    } else {
      mail_.SendTo(places_.HomeOf(label), JobMessage::kDone,
                   EncodeDone({.label = label, .task = task}), out);
    }
  }
  if (wanted) {
    mail_.SendTo(holder, JobMessage::kDemand,
                 EncodeDemand({.label = label, .lazy = true}), out);
  }
}

void JobRun::TellWide(const Label& label, const Value& value, AgentId holder,
                      Outbox& out) {
  WideLabels::Known* before = wide_.Find(label);
  if (before != nullptr && before->have_value && !value.IsNone()) {
    for (const Task& task : std::exchange(before->askers, {})) {
      if (!IsPursued(task)) continue;
      relations_.ForEachRequired(task, [&](int use, const Label& required) {
        if (required == label) MarkInput(task, use, value);
      });
    }
    return;
  }
  WideLabels::Known known;
  if (before != nullptr) known = *before;
  ConsumerSet mine;
  bool wanted = false;
  known.left = 0;
  relations_.ForEachConsumer(label, [&](const Task& task, int use) {
    const bool pursued = IsPursued(task);
    const bool is_mine = places_.IsMine(task);
    if (is_mine) mine.Add(task);
    if (!pursued && !is_mine) return true;
    if (!pursued && IsDone(task)) {
      if (!IsSettled(task)) ++known.left;
      return true;
    }
    if (is_mine) ++known.left;
    if (!forward_ && !pursued) return true;
    if (!value.IsNone()) {
      MarkInput(task, use, value);
    } else if (!holder.IsNone() && !wanted) {
      wanted = IsMissing(task, label);
    }
    return true;
  });
  known.have_value |= !forward_ || !value.IsNone();
  if (!value.IsNone()) known.askers.clear();
  if (!value.IsNone() && !value.IsHollow() && value.bytes() <= kKeptBytesMax) {
    known.value = value;
  }
  known.is_reported = known.left == 0;
  known.is_demanded |= wanted;
  wide_.Put(label, known);
  if (wanted) {
    mail_.SendTo(holder, JobMessage::kDemand,
                 EncodeDemand({.label = label, .lazy = true}), out);
  }
  if (known.left > 0 || mine.count == 0) return;
  if (places_.IsHome(label)) {
    wide_.AddReport(label, self_, mine);
  } else {
    mail_.SendTo(places_.HomeOf(label), JobMessage::kDone,
                 EncodeDone({.label = label, .all = mine}), out);
  }
}

absl::btree_set<AgentId> JobRun::RemoteConsumerHomes(const Label& label,
                                                     const Entry& entry) const {
  absl::btree_set<AgentId> homes;
  const size_t all = places_.placement().members().size();
  size_t ordinal = 0;
  relations_.ForEachConsumer(label, [&](const Task& task, int) {
    if (!entry.consumers.Has(ordinal++)) homes.insert(places_.HomeOf(task));
    return homes.size() < all;
  });
  homes.erase(self_);
  return homes;
}

bool JobRun::IsUsedUp(const Label& label, const Entry& entry) const {
  if (root_.rounds.IsResult(label) || marks_.IsPinned(label)) return false;
  if (entry.consumers.left() == 0) return !marks_.IsKept(label);
  size_t ordinal = 0;
  return relations_.ForEachConsumer(label, [&](const Task& task, int) {
    if (entry.consumers.Has(ordinal++)) return true;
    const Entry* output = shard_.Find(relations_.FirstCreated(task));
    return output != nullptr && output->is_home && !output->value.IsNone();
  });
}

void JobRun::ReportDone(const Task& task, Outbox& out) {
  struct Input {
    Label label;
    int64_t uses = 1;
  };
  absl::InlinedVector<Input, 4> inputs;
  relations_.ForEachRequired(task, [&](int, const Label& label) {
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
    if (wide_.IsWide(label)) {
      if (places_.IsMine(task)) CountDown(label, uses, out);
    } else if (places_.IsHome(label)) {
      ConsumerDone(label, task, out);
    } else {
      mail_.SendTo(places_.HomeOf(label), JobMessage::kDone,
                   EncodeDone({.label = label, .task = task}), out);
    }
  }
}

void JobRun::CountDown(const Label& label, int64_t uses, Outbox& out) {
  WideLabels::Known* known = wide_.Find(label);
  if (known != nullptr && known->is_reported) return;
  if (known != nullptr && known->left > uses) {
    known->left -= uses;
    return;
  }
  TellWide(label, Value(), AgentId(), out);
}

// Reports may follow from one another back through a row, so they wait in a
// queue instead of on the stack.
void JobRun::ConsumerDone(const Label& label, const Task& task, Outbox& out) {
  done_reports_.queue.emplace_back(label, task);
  if (std::exchange(done_reports_.is_busy, true)) return;
  while (!done_reports_.queue.empty()) {
    const auto [next_label, next_task] = done_reports_.queue.front();
    done_reports_.queue.pop_front();
    Entry* entry = shard_.Find(next_label);
    // Somebody may wait for it all the same.
    const bool is_here = entry != nullptr && !entry->value.IsNone();
    if (!is_here && marks_.TakeGivenUp(next_label)) {
      ReportDone(*relations_.ProducerOf(next_label), out);
    }
    if (entry == nullptr || !entry->is_home) continue;
    size_t ordinal = 0;
    const auto cross_off = [&, &done = next_task](const Task& other, int) {
      if (other == done) entry->consumers.Mark(ordinal);
      ++ordinal;
      return true;
    };
    relations_.ForEachConsumer(next_label, cross_off);
    RetireIfUnneeded(next_label, out);
  }
  done_reports_.is_busy = false;
}

void JobRun::HandleDone(AgentId from, const DoneBody& body, Outbox& out) {
  if (body.task.has_value()) return ConsumerDone(body.label, *body.task, out);
  const Entry* entry = shard_.Find(body.label);
  if (entry == nullptr || !entry->is_home) return;
  wide_.AddReport(body.label, from, body.all);
}

void JobRun::CrossOffReported(Outbox& out) {
  for (const auto& [label, reports] : wide_.TakeReports()) {
    Entry* entry = shard_.Find(label);
    if (entry == nullptr || !entry->is_home) continue;
    // Who says so counts, if he speaks of the same consumers.
    WideLabels::Reports here;
    relations_.ForEachConsumer(label, [&](const Task& task, int) {
      here[places_.HomeOf(task)].Add(task);
      return true;
    });
    size_t ordinal = 0;
    relations_.ForEachConsumer(label, [&](const Task& task, int) {
      const AgentId home = places_.HomeOf(task);
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

}  // namespace dogged
