// Trace: the events of a simulated cluster, in order, by which two runs can be
// compared.
#ifndef DOGGED_RUNTIME_SIM_TRACE_H_
#define DOGGED_RUNTIME_SIM_TRACE_H_

#include <cstdint>
#include <functional>

#include "absl/time/time.h"
#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"
#include "runtime/graph/task.h"

namespace dogged {

struct SimEvent {
  // Numbers never change: they stand in files.
  enum class Kind : uint8_t {
    kSent = 1,     // from `agent` to `other`; may be lost
    kArrived = 2,  // from `agent` at `other`, perhaps with a changed byte
    kTaskStarted = 3,
    kTaskEnded = 4,
    kResult = 5,  // a client has it
  };
  Kind kind;
  absl::Time time;
  AgentId agent;
  AgentId other;
  Bytes message;
  Task task;
  bool is_ok = true;  // the task's end
  Label label;
  Digest digest;
};

using SimTrace = std::function<void(const SimEvent&)>;

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_TRACE_H_
