// RoundGate: holds back tasks, leaves and results of rounds of a loop that are
// not known to exist, for the workers of one process. Tasks whose inputs are at
// hand wait here; so do labels that are results if the loop ends soon. Without
// a loop it lets all pass, and costs a comparison. Thread-safe.
#ifndef DOGGED_RUNTIME_EXEC_ROUND_GATE_H_
#define DOGGED_RUNTIME_EXEC_ROUND_GATE_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/base/value.h"
#include "runtime/exec/activation_table.h"
#include "runtime/graph/rounds.h"

namespace dogged {

class RoundGate {
 public:
  // Consequences of the value of a label.
  struct Opened {
    // Set if another round begins: leaves after the first and until the second
    // may start now.
    std::optional<std::pair<int64_t, int64_t>> window;
    std::vector<std::unique_ptr<Activation>> tasks;
    std::vector<std::pair<Label, Value>> results;
    // Set once, when it is known how many results there are.
    std::optional<int64_t> result_count;
  };

  explicit RoundGate(const Relations& relations);

  bool IsLoop() const { return is_loop_; }
  // Null, and `record` is held, if its round is not known to exist.
  std::unique_ptr<Activation> Admit(std::unique_ptr<Activation> record) {
    return is_loop_ ? AdmitOfLoop(std::move(record)) : std::move(record);
  }
  // How many results there are, if that is known before anything is bound.
  std::optional<int64_t> TakeResultCount();
  // For each label of a loop that is bound.
  Opened Bind(const Label& label, const Value& value);
  // How often `label` is a result, now.
  int64_t ResultsAt(const Label& label) const;
  // The loop's parameter now, and whether that is its last.
  std::pair<int64_t, bool> Time() const;

 private:
  std::unique_ptr<Activation> AdmitOfLoop(std::unique_ptr<Activation> record);

  const bool is_loop_;
  mutable std::mutex mutex_;
  Rounds rounds_;
  bool has_told_end_ = false;
  std::vector<std::unique_ptr<Activation>> held_;
  absl::flat_hash_map<Label, Value> kept_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_ROUND_GATE_H_
