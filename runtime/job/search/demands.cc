#include "runtime/job/search/demands.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dogged {

void Demands::HandleDemand(AgentId from, const DemandBody& body, Outbox& out) {
  if (from == job_.self) return;
  job_.goal.hears_search |= body.IsCertain();
  LabelEntry* entry = labels_.shard.FindBound(body.label);
  if (entry != nullptr) {
    if (sender_.IsOnItsWay(from, body.label)) {
      return;
    }
    CountSent(from, body, *entry);
    sender_.SendValue({from}, body.label, out, Sending::kDemanded);
    return;
  }
  // An old condition is not made again: the agent that asks will hear of later
  // ones.
  if (job_.goal.rounds.IsCondition(body.label) &&
      !job_.goal.rounds.IsResult(body.label)) {
    return;
  }
  const std::optional<Task> producer = job_.relations.ProducerOf(body.label);
  if (!producer.has_value()) return;
  if (labels_.places.IsHome(body.label)) {
    const bool may_be_late =
        body.kind == DemandKind::kFetch || body.reader.has_value();
    if (labels_.watermarks.IsRetired(body.label) && may_be_late &&
        body.kind != DemandKind::kInsistent) {
      job_.messenger.SendTo(
          from, LabelMessage::kRetired,
          EncodeRetired({.label = body.label, .reader = body.reader}), out);
      return;
    }
    if (body.IsCertain()) RecomputeIfGone(body.label);
    auto& waiters = labels_.shard.Get(body.label).waiters;
    if (std::find(waiters.begin(), waiters.end(), from) == waiters.end()) {
      waiters.push_back(from);
    }
  } else if (!labels_.places.IsMine(*producer)) {
    return;  // the asker's view is another; it asks again
  }
  if (body.kind != DemandKind::kFetch) {
    open_.Add({.label = body.label,
               .depth = body.depth,
               .certain = body.IsCertain(),
               .passed_on = !body.reader.has_value()});
  }
}

void Demands::CountSent(AgentId to, const DemandBody& demand,
                        const LabelEntry& entry) {
  const bool is_fetch = demand.kind == DemandKind::kFetch;
  // The first demand of a walk, or of a task that was given, repeats nothing.
  if (is_fetch && demand.reader.has_value()) return;
  const bool is_copy =
      is_fetch && entry.is_home && labels_.places.RankOf(demand.label, to) > 0;
  (is_copy ? job_.stats.copy_bytes : job_.stats.bytes_resent) +=
      entry.value.bytes();
}

void Demands::RecomputeIfGone(const Label& label) {
  if (!labels_.watermarks.IsRetired(label) &&
      !labels_.watermarks.WasBound(label))
    return;
  if (labels_.shard.IsBound(label)) return;
  labels_.watermarks.MarkRecomputing(label);
}

bool Demands::IsAwaited(const Label& label) const {
  const LabelEntry* entry = labels_.shard.Find(label);
  if (entry != nullptr && !entry->waiters.empty()) return true;
  if (job_.goal.rounds.IsResult(label)) return true;
  return !job_.relations.ForEachConsumer(label, [&](const Task& task, int use) {
    return !tasks_.IsDemanded(task) || !tasks_.IsMissing(task, use);
  });
}

std::optional<Label> Demands::FirstUnboundVersion(const OpenDemand& open,
                                                  absl::Time now) const {
  const Label& label = open.label;
  // A task with several outputs runs at the home of its first; how far the
  // rows of the others are is known at their own homes.
  if (!labels_.places.IsHome(label)) return label;
  const std::optional<int64_t> newest = labels_.watermarks.NewestBound(label);
  const int64_t steps =
      job_.labels_of_program.VersionOf(label) - newest.value_or(0);
  const bool is_far = steps > 2 * labels_.watermarks.generation_interval();
  if (!newest.has_value() && is_far && now < job_.rebuild_after) {
    return std::nullopt;
  }
  // Versions of a row follow one another, so the next unbound one is needed
  // too: the walk jumps to the frontier, and notification does the rest. Above
  // a retained generation it goes step by step: neighbours that are further
  // must be asked for each of their versions.
  if (!job_.forward || !newest.has_value() || steps <= 1) return label;
  if (open.certain && !is_far) return label;
  Label target = label;
  target.index[job_.relations.ArrayOf(label).version_index] = *newest + 1;
  return target;
}

void Demands::ResolveDemand(const Pass& pass, const OpenDemand& open) {
  if (labels_.shard.IsBound(open.label)) return;
  // The label may have been bound, used and retired since the demand was
  // opened.
  if (!open.passed_on && !IsAwaited(open.label)) return;
  const std::optional<Label> frontier = FirstUnboundVersion(open, pass.now);
  if (!frontier.has_value()) {
    if (std::ssize(delayed_) < job_.limits.open_demands_max) {
      delayed_.push_back(open);
    }
    return;
  }
  const Label& target = *frontier;
  if (open.certain && target != open.label &&
      pass.now < job_.times.after_failure_until()) {
    open_.far().Add(job_.labels_of_program.RowOf(target),
                    *labels_.watermarks.NewestBound(target), open);
  }
  std::optional<Task> producer = job_.relations.ProducerOf(target);
  if (!producer.has_value()) producer = job_.relations.ProducerOf(open.label);
  if (!producer.has_value()) {
    job_.Fail(absl::InternalError(absl::StrCat(
        "label ", job_.program().LabelText(open.label), " has no producer")));
    return;
  }
  if (!labels_.places.IsMine(*producer)) {
    // A task with several outputs runs at the home of its first.
    job_.messenger.SendTo(labels_.places.HomeOf(*producer),
                          LabelMessage::kDemand,
                          EncodeDemand({.label = target,
                                        .depth = open.depth,
                                        .kind = GuessOrCertain(open.certain)}),
                          pass.out);
    return;
  }
  // Many paths lead to one task; it looks at its inputs once, then by its own
  // clock, unless a guess has become certain.
  const DemandedTask* known = tasks_.demanded().Find(*producer);
  if (known != nullptr && known->next_check > pass.now &&
      (known->certain || !open.certain)) {
    return;
  }
  // A guess ends at a task that waits already: that task demands its missing
  // inputs in its own time, and so does each task behind it.
  if (known == nullptr && !open.certain &&
      tasks_.activations().Contains(*producer)) {
    return;
  }
  DemandInputs(pass, *producer, open.depth, open.certain);
}

void Demands::DemandInputs(const Pass& pass, const Task& task, int32_t depth,
                           bool certain) {
  if (tasks_.IsInFlight(task) || job_.goal.rounds.IsAhead(task)) return;
  if (job_.relations.RequiredCount(task) == 0) {
    tasks_.StartLeaf(task);
    return;
  }
  const DemandedTask* known = tasks_.demanded().Find(task);
  DemandedTask demanded_task = known == nullptr ? DemandedTask{} : *known;
  demanded_task.depth = std::max(demanded_task.depth, depth);
  demanded_task.certain |= certain;
  demanded_task.interval =
      known == nullptr
          ? 2 * job_.times.DemandTimeout(pass.now)
          : std::min(2 * demanded_task.interval, job_.limits.backoff_max);
  demanded_task.next_check = pass.now + demanded_task.interval;
  tasks_.demanded().Put(task, demanded_task);

  struct AtHand {
    int use;
    Value value;
  };
  std::vector<AtHand> at_hand;
  std::vector<Label> lacking;
  bool settled = false;
  job_.relations.ForEachRequired(task, [&](int use, const Label& label) {
    if (tasks_.activations().IsMarked(task, use)) return;
    if (Value value = labels_.ValueAtHand(label); !value.IsNone()) {
      at_hand.push_back({use, std::move(value)});
    } else if (labels_.places.IsHome(label) && !demanded_task.certain &&
               labels_.watermarks.IsRetired(label)) {
      settled = true;
    } else {
      lacking.push_back(label);
    }
  });
  // Then it is forgotten, so nothing may be looked for on its behalf: it would
  // be again for each path that leads here.
  if (settled) return BelieveDone(task);
  for (const Label& label : lacking) {
    const bool is_home = labels_.places.IsHome(label);
    const bool is_wide = !is_home && labels_.high_fanout.HasHighFanout(label);
    if (is_wide) labels_.high_fanout.NoteAsker(label, task);
    if (is_home) {
      if (demanded_task.certain) RecomputeIfGone(label);
      open_.Add({.label = label,
                 .depth = demanded_task.depth + 1,
                 .certain = demanded_task.certain});
    } else if (!is_wide ||
               labels_.high_fanout.MayDemand(label, demanded_task.certain)) {
      job_.messenger.SendTo(
          labels_.places.HomeOf(label), LabelMessage::kDemand,
          EncodeDemand({.label = label,
                        .reader = task,
                        .depth = demanded_task.depth + 1,
                        .kind = GuessOrCertain(demanded_task.certain)}),
          pass.out);
    }
  }
  for (const auto& [use, value] : at_hand) tasks_.MarkInput(task, use, value);
  if (tasks_.demanded().size() > job_.limits.demanded_tasks_max) {
    tasks_.demanded().Erase(tasks_.demanded().LeastUrgent());
  }
}

void Demands::BelieveDone(const Task& task) {
  const DemandedTask* known = tasks_.demanded().Find(task);
  if (known == nullptr || known->certain) return;
  tasks_.DropTask(task);
  labels_.watermarks.NoteBound(job_.relations.FirstCreated(task));
}

void Demands::FetchInputs(const Task& task, AgentId coming_from, Outbox& out) {
  if (job_.relations.RequiredCount(task) == 0) {
    tasks_.StartLeaf(task);
    return;
  }
  std::vector<std::pair<int, Value>> at_hand;
  job_.relations.ForEachRequired(task, [&](int use, const Label& label) {
    if (tasks_.activations().IsMarked(task, use)) return;
    if (Value value = labels_.ValueAtHand(label); !value.IsNone()) {
      at_hand.emplace_back(use, std::move(value));
      return;
    }
    if (labels_.high_fanout.HasHighFanout(label))
      labels_.high_fanout.NoteAsker(label, task);
    if (labels_.places.HomeOf(label) != coming_from) {
      job_.messenger.SendTo(
          labels_.places.HomeOf(label), LabelMessage::kDemand,
          EncodeDemand(
              {.label = label, .reader = task, .kind = DemandKind::kFetch}),
          out);
    }
  });
  for (const auto& [use, value] : at_hand) tasks_.MarkInput(task, use, value);
}

void Demands::HandleRetired(AgentId from, const RetiredBody& body,
                            Outbox& out) {
  if (!body.reader.has_value()) {
    labels_.handover.Settle(from, body.label);
    const LabelEntry* entry = labels_.shard.Find(body.label);
    if (entry == nullptr || entry->is_home ||
        from != labels_.places.HomeOf(body.label)) {
      return;
    }
    labels_.watermarks.NoteRetired(body.label);
    labels_.high_fanout.Forget(body.label);
    labels_.shard.Erase(body.label);
    return;
  }
  if (BelieveRetired(from, body.label, Task::Of(*body.reader), out)) return;
  const HighFanoutLabels::Known* known = labels_.high_fanout.Find(body.label);
  if (known == nullptr) return;
  // A demand is for all tasks that miss the label, also one that insists.
  const std::set<Reader> askers = known->askers;
  for (const Reader& reader : askers) {
    const Task task = Task::Of(reader);
    if (!tasks_.IsMissing(task, body.label)) continue;
    if (BelieveRetired(from, body.label, task, out)) return;
  }
}

// The label's home has heard that this task was done. Unless a result depends
// on it for certain, that settles it.
bool Demands::BelieveRetired(AgentId from, const Label& label, const Task& task,
                             Outbox& out) {
  if (tasks_.remote().contains(task) && !tasks_.IsInFlight(task)) {
    tasks_.DropTask(task);  // another walk looks again
    return false;
  }
  if (!labels_.places.IsMine(task) || tasks_.IsInFlight(task)) return false;
  const DemandedTask* known = tasks_.demanded().Find(task);
  if (known == nullptr) return false;
  if (!known->certain) {
    BelieveDone(task);
    return false;
  }
  if (!tasks_.IsMissing(task, label)) return false;
  job_.messenger.SendTo(from, LabelMessage::kDemand,
                        EncodeDemand({.label = label,
                                      .reader = task,
                                      .depth = known->depth + 1,
                                      .kind = DemandKind::kInsistent}),
                        out);
  return true;
}

// Tasks that have waited for long demand their missing inputs, some at a time:
// where many wait, most of them wait for workers, or for tasks that wait
// themselves. Tasks with fewest inputs missing come first, for they are nearest
// to running ones; then the oldest.
void Demands::DemandOverdueInputs(const Pass& pass) {
  constexpr int64_t kVisitedAtOnce = 4096;
  constexpr int64_t kPursuedAtOnce = 256;
  const auto old_age = static_cast<int32_t>(job_.times.DemandTimeout(pass.now) /
                                            job_.limits.sweep_interval) +
                       1;
  std::vector<std::tuple<int32_t, int32_t, Task>> due;
  tasks_.activations().Age(
      kVisitedAtOnce, [&](const Activation& record, int32_t age) {
        if (age >= old_age && !tasks_.IsDemanded(record.task)) {
          due.emplace_back(record.missing_count, -age, record.task);
        }
      });
  const auto end = due.begin() + std::min(kPursuedAtOnce, std::ssize(due));
  std::partial_sort(due.begin(), end, due.end());
  due.erase(end, due.end());
  for (const auto& [missing_count, youth, task] : due) {
    // The watermarks of its outputs may have come after some of its inputs,
    // from a former home.
    if (tasks_.IsWhollyDone(task)) {
      tasks_.DropTask(task);
    } else if (tasks_.demanded().size() <=
               job_.limits.demanded_tasks_max / 16) {
      DemandInputs(pass, task, /*depth=*/1, /*certain=*/false);
    }
  }
}

void Demands::OpenDelayed() {
  if (delayed_.empty()) return;
  for (const OpenDemand& open : std::exchange(delayed_, {})) open_.Add(open);
}

void Demands::DemandAgain(const Pass& pass) {
  constexpr int64_t kCheckedAtOnce = 2048;
  for (const Task& task : tasks_.demanded().Due(pass.now, kCheckedAtOnce)) {
    const DemandedTask* demanded_task = tasks_.demanded().Find(task);
    if (demanded_task == nullptr) continue;
    if (demanded_task->interval >= job_.limits.backoff_max &&
        tasks_.activations().Contains(task)) {
      // Other overdue tasks have their turn. Certain demands are found anew
      // from the results if nothing moves.
      tasks_.demanded().Erase(task);
      tasks_.activations().Renew(task);
    } else {
      DemandInputs(pass, task, demanded_task->depth, demanded_task->certain);
    }
  }
}

bool Demands::OpenMoved(absl::Time now) {
  if (now >= job_.times.after_failure_until()) open_.far().Clear();
  const std::vector<OpenDemand> moved =
      open_.far().TakeSome([this](const OpenDemand& far, int64_t newest) {
        return labels_.watermarks.NewestBound(far.label) != newest;
      });
  for (const OpenDemand& demand : moved) open_.Add(demand);
  return !moved.empty();
}

}  // namespace dogged
