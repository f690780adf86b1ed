// Walk: a backward, depth-first, random descent from an unbound label to a task
// that can run now. It knows no messages: it names labels to look up, is told
// the answers, and hands out tasks.
//
// Used by one thread. The relations outlive it.
//
// Source: [REM] "REM Search", SOLVE. Differs: the recursion is a stack that
// waits for answers; an answer carries the newest bound version of the label's
// row, so that a walk jumps to the frontier instead of descending step by
// step; what somebody has claimed is passed by.
#ifndef DOGGED_RUNTIME_JOB_SEARCH_WALK_H_
#define DOGGED_RUNTIME_JOB_SEARCH_WALK_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "kvstore/dictionary/label_state.h"
#include "runtime/base/label.h"
#include "runtime/base/random.h"
#include "runtime/graph/relations.h"

namespace dogged {

class Walk {
 public:
  struct Step {
    enum class Kind : uint8_t {
      kLookup,  // look these up, then tell OnAnswer()
      kWait,    // answers are missing
      kRun,     // all that `task` requires is bound
      kEnd,     // there is nothing more on this walk
    };
    struct Lookup {
      Label label;
      // The label was retired, and is still needed: its consumer's output is
      // not bound.
      bool insist = false;
    };
    Kind kind = Kind::kEnd;
    std::vector<Lookup> lookups;
    Task task;
    Label wanted;  // the output of `task` for which it is to run
  };

  // `is_near` says which labels are looked at first. At most `frames_max`
  // tasks are kept on the way down; the uppermost are forgotten.
  Walk(const Relations& relations, Rng rng, size_t frames_max,
       std::function<bool(const Label&)> is_near);

  // Leaves whatever it was doing and begins at `label`, which is needed for
  // certain: a loop's condition may have been dropped by agents that knew of a
  // later round, and died.
  void Start(const Label& label);
  Step Next();
  // `newest` is the newest bound version of the label's row, where known.
  void OnAnswer(const Label& label, LabelState state,
                std::optional<int64_t> newest);
  // Lookups without an answer, which may be lost, are to be asked again.
  void AskAgain();

 private:
  enum class Known : uint8_t {
    kNothing,
    kAsked,
    kBound,
    kUnbound,
    kPassed,  // claimed, or walked already
    kRetired,
  };
  struct Input {
    Label label;
    Known known = Known::kNothing;
    std::optional<int64_t> newest;
    bool insist = false;
  };
  // A task one of whose outputs is unbound. Which output matters: the rest may
  // be bound, or retired, while that one was lost.
  struct Frame {
    Task task;
    Label wanted;
    Label goal;  // `wanted`, or the later version that it was jumped from
    Known output = Known::kUnbound;
    bool insist = false;       // `wanted` is needed for certain
    bool has_climbed = false;  // from an earlier version that is bound
    std::vector<Input> inputs;
  };

  // The label itself, or the first version of its row that is not bound.
  Label Frontier(const Label& label, std::optional<int64_t> newest) const;
  // `label` is `goal`, or an earlier version of its row.
  void Push(const Label& label, const Label& goal);
  // Descends into one of the unbound inputs of the last frame, if any.
  bool Descend();
  void OnOutput(size_t frame, LabelState state, std::optional<int64_t> newest);

  const Relations& relations_;
  Rng rng_;
  const size_t frames_max_;
  const std::function<bool(const Label&)> is_near_;
  std::vector<Frame> frames_;
  // Where it has been to the end: many paths lead to one label.
  absl::flat_hash_set<Label> dead_ends_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_SEARCH_WALK_H_
