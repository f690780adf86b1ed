// KernelProcess: a process of its own in which functions of one library run, as
// the agent sees it. Their crashes end that process, not this one.
//
// It is started from this program's binary, in a group of its own, with nothing
// of this process but standard error, and ends when the thread that has started
// it does, however that ends. Inputs are copied into memory that both map,
// outputs out of it.
//
// For use by a single thread at a time, but for Cut().
#ifndef DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_PROCESS_H_
#define DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_PROCESS_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/exec/kernels/kernel_process_messages.h"
#include "runtime/exec/kernels/kernel_region.h"
#include "runtime/graph/kernel.h"

namespace dogged {

class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  const int fd_;
};

// Outcome of a call, or of loading.
struct ProcessOutcome {
  enum class Kind : uint8_t {
    kDone,
    kWrong,     // `words` follow the name of kernel or library
    kDied,      // likewise; the process has ended
    kLost,      // it had ended before it could get the call
    kNoMemory,  // for the values
  };
  Kind kind = Kind::kDone;
  std::string words;
  bool was_killed = false;  // kDied: by SIGKILL, which no function does itself
};

class KernelProcess {
 public:
  // Starts `program` as a kernel process for the library that `library` is open
  // for, and called `name` in lists of processes.
  //
  // Errors: kResourceExhausted if the system refuses.
  static absl::StatusOr<std::unique_ptr<KernelProcess>> Start(
      const std::string& program, const std::string& name, int library);
  // Kills it, and what its kernels have started.
  ~KernelProcess();
  KernelProcess(const KernelProcess&) = delete;
  KernelProcess& operator=(const KernelProcess&) = delete;

  // First. Waits for `timeout` at most, and not once `interrupt`, a descriptor
  // or -1, can be read: then the outcome is kDied. The words of kDone are for
  // the log, if there are any.
  ProcessOutcome Load(const ProcessStart& start, absl::Duration timeout,
                      int interrupt);
  // Fills `call.out`, which is allocated.
  ProcessOutcome Run(size_t function, NativeCall& call);
  // A wait for it ends soon, with kDied. From any thread.
  void Cut() const;

  // The thread whose calls it is for; 0: any.
  int thread = 0;

 private:
  KernelProcess(int pid, int socket, int region);
  bool Send(const std::string& message) const;
  // Empty if it has ended.
  std::string Receive() const;
  // Until the process has closed its end, or for kEndMax.
  void AwaitEnd() const;
  // How it has ended; it has, afterwards.
  std::string Reap();
  std::string WordsOfEnd(const ProcessReply& fault, const NativeCall& call);

  int pid_;  // 0: reaped
  bool was_killed_ = false;
  const Descriptor socket_;
  const Descriptor region_fd_;
  RegionMapping region_;
  std::vector<RegionBlock> placed_;  // of the last call
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_PROCESS_H_
