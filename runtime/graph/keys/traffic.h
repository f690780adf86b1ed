// Traffic of a program: which keys send labels to which, found by going through
// its tasks once. Pure.
#ifndef DOGGED_RUNTIME_GRAPH_KEYS_TRAFFIC_H_
#define DOGGED_RUNTIME_GRAPH_KEYS_TRAFFIC_H_

#include <cstdint>

#include "runtime/base/key_traffic.h"
#include "runtime/graph/program.h"

namespace dogged {

// More tasks than this are not gone through.
inline constexpr int64_t kTrafficTasksMax = 1 << 17;

// A task counts for the key of its first create. A label goes from its own key
// (for creates that have another key than the task's: from the task's, too).
// Labels that no task makes, inputs, are left out: they do not come from homes.
// Where there are more than `tasks_max` tasks, only those of the first versions
// count, as many of these as fit. `stages` is how many parts there are at most.
// Nothing if a version has too many tasks, or there are more than `keys_max`
// keys.
//
// Cost: 0.2 to 0.4 us a task and use.
KeyTraffic TrafficOf(const Program& program, int64_t keys_max, int stages,
                     int64_t tasks_max = kTrafficTasksMax);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_KEYS_TRAFFIC_H_
