#include "runtime/job/search/walk.h"

#include <algorithm>
#include <utility>

#include "runtime/graph/keys/affinity.h"

namespace dogged {
namespace {

// A walk that has come to so many dead ends is at its end; the next one takes
// other turns.
constexpr size_t kDeadEndsMax = 4096;

}  // namespace

Walk::Walk(const Relations& relations, Rng rng, size_t frames_max,
           std::function<bool(const Label&)> is_near)
    : relations_(relations),
      rng_(rng),
      frames_max_(frames_max),
      is_near_(std::move(is_near)) {}

void Walk::Start(const Label& label) {
  frames_.clear();
  dead_ends_.clear();
  Push(label, label);
  if (frames_.empty()) return;
  frames_.back().output = Known::kNothing;
  frames_.back().insist = true;
}

Label Walk::Frontier(const Label& label, std::optional<int64_t> newest) const {
  const int32_t version = relations_.ArrayOf(label).version_index;
  Label out = label;
  if (version < 0 || !newest.has_value()) return out;
  if (*newest + 1 < label.index[version]) out.index[version] = *newest + 1;
  return relations_.ProducerOf(out).has_value() ? out : label;
}

void Walk::Push(const Label& label, const Label& goal) {
  const std::optional<Task> producer = relations_.ProducerOf(label);
  if (!producer.has_value()) return;
  Frame frame{.task = *producer, .wanted = label, .goal = goal, .inputs = {}};
  // Where the versions of a row have several homes, one that knows of some may
  // have sent the walk to one that was bound long ago.
  if (label != goal && !HasRowsTogether(relations_.ArrayOf(label)))
    frame.output = Known::kNothing;
  relations_.ForEachRequired(*producer, [&](int, const Label& required) {
    frame.inputs.push_back({.label = required});
  });
  frames_.push_back(std::move(frame));
  if (frames_.size() > frames_max_) frames_.erase(frames_.begin());
}

bool Walk::Descend() {
  std::vector<Input*> near;
  std::vector<Input*> far;
  for (Input& input : frames_.back().inputs) {
    if (input.known != Known::kUnbound) continue;
    if (dead_ends_.contains(Frontier(input.label, input.newest))) {
      input.known = Known::kPassed;
      continue;
    }
    (is_near_(input.label) ? near : far).push_back(&input);
  }
  const std::vector<Input*>& choice = near.empty() ? far : near;
  if (choice.empty()) return false;
  Input& chosen = *rng_.Pick(choice);
  chosen.known = Known::kPassed;
  Push(Frontier(chosen.label, chosen.newest), chosen.label);
  return true;
}

Walk::Step Walk::Next() {
  while (!frames_.empty()) {
    Frame& frame = frames_.back();
    if (frame.output == Known::kNothing) {
      frame.output = Known::kAsked;
      return {.kind = Step::Kind::kLookup,
              .lookups = {{frame.wanted, frame.insist}}};
    }
    if (frame.output == Known::kAsked) return {.kind = Step::Kind::kWait};
    Step step{.kind = Step::Kind::kLookup, .lookups = {}};
    bool asked = false;
    bool retired = false;
    for (Input& input : frame.inputs) {
      if (input.known == Known::kNothing) {
        input.known = Known::kAsked;
        step.lookups.push_back({input.label, input.insist});
      }
      asked |= input.known == Known::kAsked;
      retired |= input.known == Known::kRetired;
    }
    if (!step.lookups.empty()) return step;
    if (!retired && Descend()) continue;
    if (asked) return {.kind = Step::Kind::kWait};
    if (retired) {
      // The agent that retired the label knew this task as done: look again.
      frame.output = Known::kNothing;
      continue;
    }
    const bool ready = std::all_of(
        frame.inputs.begin(), frame.inputs.end(),
        [](const Input& input) { return input.known == Known::kBound; });
    Step run{.kind = Step::Kind::kRun,
             .lookups = {},
             .task = frame.task,
             .wanted = frame.wanted};
    frames_.pop_back();
    // Also a task that can run: whether here or elsewhere, this walk is not to
    // come back to it.
    dead_ends_.insert(run.wanted);
    if (dead_ends_.size() > kDeadEndsMax) frames_.clear();
    if (!ready) continue;
    // Labels that were unbound may be bound once it has run.
    for (Frame& above : frames_) {
      for (Input& input : above.inputs) {
        if (input.known == Known::kUnbound) input.known = Known::kNothing;
      }
    }
    return run;
  }
  return {.kind = Step::Kind::kEnd};
}

void Walk::OnOutput(size_t at, LabelState state,
                    std::optional<int64_t> newest) {
  Frame& frame = frames_[at];
  const bool is_last = at + 1 == frames_.size();
  const bool was_bound =
      state == LabelState::kBound || state == LabelState::kRetired;
  if (was_bound && is_last && frame.wanted != frame.goal) {
    // The label's home knows more of the row than the agent that sent the walk
    // here: on it goes, to the goal at last.
    const int64_t here =
        frame.wanted.index[relations_.ArrayOf(frame.wanted).version_index];
    const Label goal = frame.goal;
    frames_.pop_back();
    Push(Frontier(goal, std::max(newest.value_or(here), here)), goal);
    if (!frames_.empty()) frames_.back().has_climbed = true;
    return;
  }
  if (state != LabelState::kUnbound) {  // prune
    frames_.erase(frames_.begin() + at, frames_.end());
    return;
  }
  const Label frontier = Frontier(frame.wanted, newest);
  // Not back to where another home has just sent it on from.
  const bool may_jump =
      !frame.has_climbed && (frame.wanted == frame.goal ||
                             HasRowsTogether(relations_.ArrayOf(frame.wanted)));
  if (frontier != frame.wanted && is_last && may_jump) {
    const Label goal = frame.goal;
    frames_.pop_back();
    Push(frontier, goal);
    return;
  }
  frame.output = Known::kUnbound;
  for (Input& input : frame.inputs) {
    if (input.known != Known::kRetired) continue;
    input.known = Known::kNothing;
    input.insist = true;
  }
}

void Walk::OnAnswer(const Label& label, LabelState state,
                    std::optional<int64_t> newest) {
  for (size_t at = 0; at < frames_.size(); ++at) {
    if (frames_[at].output == Known::kAsked && frames_[at].wanted == label) {
      OnOutput(at, state, newest);
      return;
    }
    for (Input& input : frames_[at].inputs) {
      if (input.known != Known::kAsked || input.label != label) continue;
      input.newest = newest;
      switch (state) {
        case LabelState::kBound:
          input.known = Known::kBound;
          break;
        case LabelState::kUnbound:
          input.known = Known::kUnbound;
          break;
        case LabelState::kClaimed:
          input.known = Known::kPassed;
          break;
        case LabelState::kRetired:
          input.known = Known::kRetired;
          break;
      }
    }
  }
}

void Walk::AskAgain() {
  for (Frame& frame : frames_) {
    if (frame.output == Known::kAsked) frame.output = Known::kNothing;
    for (Input& input : frame.inputs) {
      if (input.known == Known::kAsked) input.known = Known::kNothing;
    }
  }
}

}  // namespace dogged
