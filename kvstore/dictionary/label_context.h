// LabelContext: what all components of the dictionary share of one job: how its
// labels relate, times and bounds, the way to other agents, and what they
// report: counts, and the failure.
#ifndef DOGGED_KVSTORE_DICTIONARY_LABEL_CONTEXT_H_
#define DOGGED_KVSTORE_DICTIONARY_LABEL_CONTEXT_H_

#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "kvstore/dictionary/label_limits.h"
#include "kvstore/dictionary/label_relations.h"
#include "kvstore/lending/lending.h"
#include "kvstore/messages/job_messenger.h"
#include "kvstore/messages/label_stats.h"
#include "runtime/base/ids.h"

namespace dogged {

struct LabelContext {
  // The first failure stays.
  void Fail(absl::Status status) {
    if (failure.ok()) failure = std::move(status);
  }

  // --- constant after construction; what is referred to outlives this
  const AgentId self;
  const int replicas;  // of each label, at least 1
  // Labels go to the homes of their readers once they are bound; else only to
  // those that ask.
  const bool forward;
  const LabelLimits& limits;
  const LabelRelations& relations;

  // --- ports
  Lending* const lending;  // null: values are copied
  // Bytes a second that an agent takes (link_rates.h); 0: unknown.
  const std::function<double(AgentId)> link_rate = [](AgentId) { return 0.0; };

  // --- written by any component
  LabelStats& stats;
  JobMessenger messenger;
  absl::Status failure = absl::OkStatus();  // OK: the job goes on
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_DICTIONARY_LABEL_CONTEXT_H_
