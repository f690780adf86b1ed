// Background: the port through which an agent's loop has work done that is no
// task and takes long: compiling the kernels of a job, hashing its results. A
// thread stands behind it in production; the simulation runs the work inline,
// some virtual time later.
//
// One thread submits and polls.
#ifndef DOGGED_RUNTIME_EXEC_BACKGROUND_H_
#define DOGGED_RUNTIME_EXEC_BACKGROUND_H_

#include <functional>

namespace dogged {

class Background {
 public:
  // What is left to do on the loop once the work is done.
  using Rest = std::function<void()>;
  virtual ~Background() = default;
  // Queues `work`, which runs beside the loop; what it returns runs in Poll().
  virtual void Submit(std::function<Rest()> work) = 0;
  // Runs the rest of what was done since the last call.
  virtual void Poll() = 0;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_BACKGROUND_H_
