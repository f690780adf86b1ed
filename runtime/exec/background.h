// Background: the port for long work of an agent's loop that is no task:
// compiling the kernels of a job, hashing its results. A thread stands behind
// it in production; the simulation runs the work inline, some virtual time
// later.
//
// A single thread submits and polls.
#ifndef DOGGED_RUNTIME_EXEC_BACKGROUND_H_
#define DOGGED_RUNTIME_EXEC_BACKGROUND_H_

#include <functional>

namespace dogged {

class Background {
 public:
  // The rest of a work, which runs on the loop once the work is done.
  using Rest = std::function<void()>;
  virtual ~Background() = default;
  // Queues `work`, which runs beside the loop; the function that it returns
  // runs in Poll().
  virtual void Submit(std::function<Rest()> work) = 0;
  // Runs the rests of works done since the last call.
  virtual void Poll() = 0;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_BACKGROUND_H_
