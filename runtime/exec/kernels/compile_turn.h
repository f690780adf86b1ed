// CompileTurn: the turn of one process of a host to make a file that several
// want at once, as agents do that begin a job. Each process would compile the
// same kernels otherwise, on processors that they share.
//
// A turn is a help and no promise: where it can't be had in time, because a
// holder hangs or a file system has no locks, a process goes on without it and
// makes the file itself. Used by one thread.
#ifndef DOGGED_RUNTIME_EXEC_KERNELS_COMPILE_TURN_H_
#define DOGGED_RUNTIME_EXEC_KERNELS_COMPILE_TURN_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace dogged {

class CompileTurn {
 public:
  // Waits for the turn to make `path`, `patience` at most, and no longer than
  // until the file is there or `is_interrupted`.
  CompileTurn(std::string path, absl::Duration patience,
              absl::FunctionRef<bool()> is_interrupted);
  ~CompileTurn();
  CompileTurn(const CompileTurn&) = delete;
  CompileTurn& operator=(const CompileTurn&) = delete;

 private:
  bool TryLock();

  const std::string path_;
  const std::string lock_path_;
  int lock_ = -1;
  bool has_lock_ = false;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_KERNELS_COMPILE_TURN_H_
