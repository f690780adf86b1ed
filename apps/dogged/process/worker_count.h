// How many threads are to run tasks.
#ifndef DOGGED_APPS_DOGGED_PROCESS_WORKER_COUNT_H_
#define DOGGED_APPS_DOGGED_PROCESS_WORKER_COUNT_H_

namespace dogged {

// Processors that this process may use, by its affinity and its control groups,
// divided by `agents`, at least 1, if `workers` is 0.
int WorkersPerAgent(int workers, int agents);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_WORKER_COUNT_H_
