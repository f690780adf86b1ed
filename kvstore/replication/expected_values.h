// ExpectedValues: values that this agent has demanded of agents that announced
// them, and that have not come yet. When the members change, a former home and
// holders of copies announce the same label at once: it is demanded of one of
// them, and comes once; all of them hear when it is here.
//
// A data structure: no messages, no clock. Used by one thread.
#ifndef DOGGED_KVSTORE_REPLICATION_EXPECTED_VALUES_H_
#define DOGGED_KVSTORE_REPLICATION_EXPECTED_VALUES_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/time/time.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"

namespace dogged {

class ExpectedValues {
 public:
  // `holder` has announced `label`: whether it is to be demanded of it now. It
  // is not while another holder may still send it, nor of the same one within
  // `patience`.
  bool Demand(absl::Time now, const Label& label, AgentId holder,
              absl::Duration patience);
  // `label` has come: holders that it was not demanded of.
  std::vector<AgentId> Take(const Label& label);
  // Nothing comes of agents that have `gone`, or after so long a time.
  void ForgetIf(absl::Time now, absl::FunctionRef<bool(AgentId)> gone);

 private:
  struct Expected {
    AgentId of;
    absl::Time demanded;
    std::vector<AgentId> others;  // that hold it, too
  };
  absl::flat_hash_map<Label, Expected> labels_;
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_REPLICATION_EXPECTED_VALUES_H_
