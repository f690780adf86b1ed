// HighFanoutLabels: labels with so many consumers that going through all of
// them for each message about the label takes too long. An agent counts its own
// consumers of such a label that are not done, and tells the label's home once
// all are; the home handles several such reports together.
//
// The count is a hint: at 0 the consumers are gone through. All of it may be
// forgotten at any time; then the consumers are gone through again.
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_RUNTIME_JOB_HIGH_FANOUT_H_
#define DOGGED_RUNTIME_JOB_HIGH_FANOUT_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/relations.h"
#include "runtime/job/messages.h"

namespace dogged {

class HighFanoutLabels {
 public:
  // Known: facts about the consumers, at home here, of a label.
  struct Known {
    int64_t left = 0;  // so many are not done; 0: not counted, unless reported
    // All are done, and the label's home was told.
    bool is_reported = false;
    // All of them that wait have the value: only askers may lack it.
    bool have_value = false;
    // An agent or task has demanded it since the last sweep, and for certain.
    bool is_demanded = false;
    bool is_demanded_for_certain = false;
    // A short value is kept for tasks that are yet to be demanded: values are
    // equal wherever they come from. None: not at hand.
    Value value;
    // Tasks that asked for the value; some may wait no more.
    absl::btree_set<Task> askers;
    int idle_sweeps = 0;
  };
  // Consumers that are done, by the home that reports them.
  using Reports = absl::btree_map<AgentId, ConsumerSet>;

  // `relations` outlives this.
  explicit HighFanoutLabels(const Relations& relations);

  // Cost: O(1) where no label of the array has more than one consumer by each
  // use, else some 100 consumers.
  bool HasHighFanout(const Label& label) const;

  // Null if nothing is known. Pointers are good until the next change.
  Known* Find(const Label& label);
  Known& Put(const Label& label, const Known& known);
  // The report may not have been heard: count again, and report again.
  void CountAnew(const Label& label);
  // Likewise, at a message of another agent. False if that can wait: some
  // consumers here are not done, all have the value or ask for it, and other
  // labels had their turn since the last sweep. With thousands of such labels,
  // going through all consumers at each message takes longer than until the
  // next one.
  bool CountAnewInTurn(const Label& label);
  void Forget(const Label& label) { known_.erase(label); }
  // None if it is not kept here.
  Value ValueOf(const Label& label);
  // Homes have changed.
  void ForgetAll() { known_.clear(); }
  // `task` lacks the value, and waits for it.
  void NoteAsker(const Label& label, const Task& task);
  // False if `label` was demanded since the last sweep, for certain if
  // `certain`: all askers get the value that comes. Notes a demand otherwise.
  bool MayDemand(const Label& label, bool certain);
  // Forgets labels that were not used for some sweeps.
  void Sweep();

  // At a label's home, to be looked at with those of other homes.
  void AddReport(const Label& label, AgentId from, const ConsumerSet& done) {
    reports_[label][from] = done;
  }
  absl::btree_map<Label, Reports> TakeReports() {
    return std::exchange(reports_, {});
  }

 private:
  const Relations& relations_;
  std::vector<bool> may_be_wide_;  // by array
  absl::flat_hash_map<Label, Known> known_;
  absl::btree_map<Label, Reports> reports_;
  int doubted_count_ = 0;  // since the last sweep
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_HIGH_FANOUT_H_
