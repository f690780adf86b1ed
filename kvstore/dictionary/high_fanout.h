// HighFanoutLabels: labels with so many readers that going through all of them
// for each message about the label takes too long. An agent counts its own
// readers of such a label that are not done, and tells the label's home once
// all are; and its home takes the words of several agents together.
//
// The count is a hint: at 0 the readers are gone through, to see. All of it may
// be forgotten at any time; then they are gone through again.
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_KVSTORE_DICTIONARY_HIGH_FANOUT_H_
#define DOGGED_KVSTORE_DICTIONARY_HIGH_FANOUT_H_

#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "kvstore/dictionary/label_relations.h"
#include "kvstore/messages/label_messages.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/base/reader.h"
#include "runtime/base/value.h"

namespace dogged {

class HighFanoutLabels {
 public:
  // Readers, with their home here, of one label.
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
    std::set<Reader> askers;
    int idle_sweeps = 0;
  };
  // Consumers that are done, by the home that reports them.
  using Reports = std::map<AgentId, ConsumerSet>;

  // `relations` outlives this.
  explicit HighFanoutLabels(const LabelRelations& relations);

  // Cost: O(1) where no label of the array has many readers, else that of going
  // through some 100 readers.
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
  // `reader` lacks it, and waits for what comes.
  void NoteAsker(const Label& label, const Reader& reader);
  // False if `label` was demanded since the last sweep, for certain if
  // `certain`: all askers get the value that comes. Notes a demand otherwise.
  bool MayDemand(const Label& label, bool certain);
  // Forgets labels that were not used for some sweeps.
  void Sweep();

  // At a label's home, to be looked at with those of other homes.
  void AddReport(const Label& label, AgentId from, const ConsumerSet& done) {
    reports_[label][from] = done;
  }
  std::map<Label, Reports> TakeReports() { return std::exchange(reports_, {}); }

 private:
  const LabelRelations& relations_;
  std::vector<bool> may_be_wide_;  // by array
  absl::flat_hash_map<Label, Known> known_;
  std::map<Label, Reports> reports_;
  int doubted_count_ = 0;  // since the last sweep
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_HIGH_FANOUT_H_
