// The backward search: demands, from labels that are missed to tasks that can
// run. [REM] "REM Search": SOLVE, with the recursion spread over the homes.
#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/agent/job_run.h"

namespace dogged {

void JobRun::HandleDemand(AgentId from, const DemandBody& body, Outbox& out) {
  if (from == self_) return;
  Entry* entry = shard_.Find(body.label);
  if (entry != nullptr && !entry->value.IsNone()) {
    if (credit_.IsUnderWay(from, body.label) || debts_.Has(from, body.label)) {
      return;
    }
    // The first demand of a walk, or of a task that was given, repeats nothing.
    const bool is_first = body.lazy && body.task.has_value();
    if (!is_first) stats_.bytes_resent += entry->value.bytes();
    SendValue({from}, body.label, out, Sending::kDemanded);
    return;
  }
  // An old condition is not made again: who asks for it will hear of later
  // ones.
  if (root_.rounds.IsCondition(body.label) &&
      !root_.rounds.IsResult(body.label)) {
    return;
  }
  const std::optional<Task> producer = relations_.ProducerOf(body.label);
  if (!producer.has_value()) return;
  if (places_.IsHome(body.label)) {
    const bool may_be_late = body.lazy || body.task.has_value();
    if (marks_.IsRetired(body.label) && may_be_late && !body.insist) {
      mail_.SendTo(from, JobMessage::kRetired,
                   EncodeRetired({.label = body.label, .task = body.task}),
                   out);
      return;
    }
    if (body.certain) ReopenIfGone(body.label);
    auto& waiters = shard_.Get(body.label).waiters;
    if (std::find(waiters.begin(), waiters.end(), from) == waiters.end()) {
      waiters.push_back(from);
    }
  } else if (!places_.IsMine(*producer)) {
    return;  // the asker's view is another; it asks again
  }
  if (!body.lazy) {
    open_.Add({.label = body.label,
               .depth = body.depth,
               .certain = body.certain,
               .passed_on = !body.task.has_value()});
  }
}

void JobRun::ReopenIfGone(const Label& label) {
  if (!marks_.IsRetired(label) && !marks_.WasBound(label)) return;
  const Entry* entry = shard_.Find(label);
  if (entry != nullptr && !entry->value.IsNone()) return;
  marks_.Reopen(label);
}

bool JobRun::IsMissing(const Task& task, const Label& label) const {
  if (IsComplete(task)) return false;
  const std::vector<int> missing = activations_.MissingUses(task);
  bool found = false;
  relations_.ForEachRequired(task, [&](int use, const Label& required) {
    found |= required == label &&
             std::find(missing.begin(), missing.end(), use) != missing.end();
  });
  return found;
}

bool JobRun::IsAwaited(const Label& label) const {
  const Entry* entry = shard_.Find(label);
  if (entry != nullptr && !entry->waiters.empty()) return true;
  if (root_.rounds.IsResult(label)) return true;
  return !relations_.ForEachConsumer(label, [&](const Task& task, int) {
    return !IsPursued(task) || !IsMissing(task, label);
  });
}

std::optional<Label> JobRun::FrontierOf(const OpenDemand& open,
                                        absl::Time now) const {
  const Label& label = open.label;
  // A task with several outputs runs at the home of its first; how far the
  // rows of the others are is known at their own homes.
  if (!places_.IsHome(label)) return label;
  const std::optional<int64_t> newest = marks_.NewestBound(label);
  const int64_t steps = marks_.VersionOf(label) - newest.value_or(0);
  const bool is_far = steps > 2 * marks_.pin_interval();
  if (!newest.has_value() && is_far && now < rebuild_after_) {
    return std::nullopt;
  }
  // Versions of a row follow one another, so the next unbound one is needed
  // too: the walk jumps to the frontier, and notification does the rest. Above
  // a pin it goes step by step: neighbours that are through have to be asked
  // for each of their versions.
  if (!forward_ || !newest.has_value() || steps <= 1) return label;
  if (open.certain && !is_far) return label;
  Label target = label;
  target
      .index[program().arrays[static_cast<size_t>(label.array)].version_index] =
      *newest + 1;
  return target;
}

void JobRun::Expand(absl::Time now, const OpenDemand& open, Outbox& out) {
  const Entry* entry = shard_.Find(open.label);
  if (entry != nullptr && !entry->value.IsNone()) return;
  // It may have been bound, used and retired since it was opened.
  if (!open.passed_on && !IsAwaited(open.label)) return;
  const std::optional<Label> frontier = FrontierOf(open, now);
  if (!frontier.has_value()) {
    if (static_cast<int64_t>(delayed_.size()) < limits_.open_demands_max) {
      delayed_.push_back(open);
    }
    return;
  }
  const Label& target = *frontier;
  std::optional<Task> producer = relations_.ProducerOf(target);
  if (!producer.has_value()) producer = relations_.ProducerOf(open.label);
  if (!producer.has_value()) {
    Fail(absl::InternalError(absl::StrCat(
        "label ", program().LabelText(open.label), " has no producer")));
    return;
  }
  if (!places_.IsMine(*producer)) {
    // A task with several outputs runs at the home of its first.
    mail_.SendTo(
        places_.HomeOf(*producer), JobMessage::kDemand,
        EncodeDemand(
            {.label = target, .depth = open.depth, .certain = open.certain}),
        out);
    return;
  }
  // Many paths lead to one task; it looks at its inputs once, then by its own
  // clock, unless what was a guess has become certain.
  const Pursuit* known = pursuits_.Find(*producer);
  if (known != nullptr && known->next_check > now &&
      (known->certain || !open.certain)) {
    return;
  }
  // A guess ends at a task that waits already: it demands what it misses in its
  // own time, and so does each that waits behind it.
  if (known == nullptr && !open.certain && activations_.Contains(*producer)) {
    return;
  }
  PursueTask(now, *producer, open.depth, open.certain, out);
}

void JobRun::PursueTask(absl::Time now, const Task& task, int32_t depth,
                        bool certain, Outbox& out) {
  if (in_flight_.contains(task) || root_.rounds.IsAhead(task)) return;
  if (relations_.RequiredCount(task) == 0) {
    StartLeaf(task);
    return;
  }
  const Pursuit* known = pursuits_.Find(task);
  Pursuit pursuit = known == nullptr ? Pursuit{} : *known;
  pursuit.depth = std::max(pursuit.depth, depth);
  pursuit.certain |= certain;
  pursuit.interval = known == nullptr
                         ? 2 * times_.Patience(now)
                         : std::min(2 * pursuit.interval, limits_.backoff_max);
  pursuit.next_check = now + pursuit.interval;
  pursuits_.Put(task, pursuit);

  const std::vector<int> missing = activations_.MissingUses(task);
  struct AtHand {
    int use;
    Value value;
  };
  std::vector<AtHand> at_hand;
  std::vector<Label> lacking;
  bool settled = false;
  relations_.ForEachRequired(task, [&](int use, const Label& label) {
    if (std::find(missing.begin(), missing.end(), use) == missing.end()) {
      return;
    }
    if (Value value = ValueAtHand(label); !value.IsNone()) {
      at_hand.push_back({use, std::move(value)});
    } else if (places_.IsHome(label) && !pursuit.certain &&
               marks_.IsRetired(label)) {
      settled = true;
    } else {
      lacking.push_back(label);
    }
  });
  // Then it is forgotten, so nothing may be looked for on its behalf: it would
  // be again for each path that leads here.
  if (settled) return BelieveDone(task);
  for (const Label& label : lacking) {
    const bool is_home = places_.IsHome(label);
    const bool is_wide = !is_home && wide_.IsWide(label);
    if (is_wide) wide_.NoteAsker(label, task);
    if (is_home) {
      if (pursuit.certain) ReopenIfGone(label);
      open_.Add({.label = label,
                 .depth = pursuit.depth + 1,
                 .certain = pursuit.certain});
    } else if (!is_wide || wide_.MayDemand(label, pursuit.certain)) {
      mail_.SendTo(places_.HomeOf(label), JobMessage::kDemand,
                   EncodeDemand({.label = label,
                                 .task = task,
                                 .depth = pursuit.depth + 1,
                                 .certain = pursuit.certain}),
                   out);
    }
  }
  for (const auto& [use, value] : at_hand) MarkInput(task, use, value);
  if (pursuits_.size() > limits_.pursuits_max) {
    pursuits_.Erase(pursuits_.LeastUrgent());
  }
}

void JobRun::BelieveDone(const Task& task) {
  const Pursuit* known = pursuits_.Find(task);
  if (known == nullptr || known->certain) return;
  DropTask(task);
  marks_.NoteBound(relations_.FirstCreated(task));
}

bool JobRun::OpenNextResult() {
  constexpr int kProbesMax = 1 << 16;
  if (!root_.is_demanded || root_.results.empty() ||
      pursuits_.size() > limits_.pursuits_max / 2) {
    return false;
  }
  for (int probe = 0; probe < kProbesMax; ++probe) {
    if (root_.next_result == root_.results.size()) {
      root_.next_result = 0;
      return false;
    }
    const Label& label = root_.results[root_.next_result++];
    const Entry* entry = shard_.Find(label);
    if (entry != nullptr && !entry->value.IsNone()) continue;
    const std::optional<Task> producer = relations_.ProducerOf(label);
    if (!producer.has_value() || in_flight_.contains(*producer)) continue;
    const Pursuit* known = pursuits_.Find(*producer);
    if (known != nullptr && known->certain) continue;
    open_.Add({.label = label, .depth = 1, .certain = true});
    return true;
  }
  return false;
}

void JobRun::Want(absl::Time now, const Label& label, Outbox& out) {
  if (wishes_.wanted.emplace(label, 2 * limits_.sweep_interval).second) {
    AskForWanted(now, label, out);
  }
}

std::vector<std::pair<Label, Value>> JobRun::TakeWanted() {
  return std::exchange(wishes_.found, {});
}

// What is only on disk is wanted until it has been loaded.
void JobRun::HandOutIfWanted(const Label& label, const Value& value) {
  const auto it = wishes_.wanted.find(label);
  if (it == wishes_.wanted.end()) return;
  if (value.IsHollow()) {
    storage_.Load(label, {});
    return;
  }
  wishes_.found.emplace_back(label, value);
  wishes_.wanted.erase(it);
}

void JobRun::AskForWanted(absl::Time now, const Label& label, Outbox& out) {
  absl::Duration& interval = wishes_.wanted.at(label);
  wishes_.asks.emplace(now + interval, label);
  interval = std::min(2 * interval, limits_.backoff_max);
  // It may have been bound while its home was elsewhere.
  const Entry* entry = shard_.Find(label);
  if (entry != nullptr && !entry->value.IsNone()) {
    HandOutIfWanted(label, entry->value);
  } else if (!places_.IsHome(label)) {
    mail_.SendTo(places_.HomeOf(label), JobMessage::kDemand,
                 EncodeDemand({.label = label,
                               .depth = 1,
                               .certain = !root_.is_demanded,
                               .lazy = root_.is_demanded}),
                 out);
  } else if (!root_.is_demanded) {
    // Once the job is done nothing but this wish makes a result again whose
    // copies have all died.
    open_.Add({.label = label, .depth = 1, .certain = true});
  }
}

void JobRun::SweepWanted(absl::Time now, Outbox& out) {
  // After a change of view all are due: a million demands take their time.
  constexpr int kAskedAtOnce = 1 << 14;
  auto& asks = wishes_.asks;
  for (int i = 0;
       i < kAskedAtOnce && !asks.empty() && asks.begin()->first <= now; ++i) {
    const Label label = asks.extract(asks.begin()).value().second;
    if (wishes_.wanted.contains(label)) AskForWanted(now, label, out);
  }
}

}  // namespace dogged
