#include "runtime/exec/kernels/kernel_processes.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/log.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Time that a library may take to load.
constexpr absl::Duration kLoadTimeout = absl::Seconds(60);

// Kernel processes that may be lost for the same call before it fails.
constexpr int kLostMax = 3;

using Kind = ProcessOutcome::Kind;

bool WriteAll(int fd, absl::string_view content) {
  while (!content.empty()) {
    const ssize_t size = write(fd, content.data(), content.size());
    if (size < 0 && errno != EINTR) return false;
    content.remove_prefix(static_cast<size_t>(std::max<ssize_t>(0, size)));
  }
  return true;
}

class ProcessLibrary : public KernelLibrary {
 public:
  // `file` holds the library.
  ProcessLibrary(std::string program, KernelJail jail,
                 const KernelLibrarySpec& spec, int file)
      : program_(std::move(program)),
        jail_(jail),
        name_(spec.name),
        functions_(spec.functions),
        file_(file) {}

  absl::Status Call(const std::string& function, NativeCall& call) override;
  void Stop() override {
    std::vector<std::unique_ptr<KernelProcess>> ended;
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    for (const KernelProcess* process : busy_) process->Cut();
    ended.swap(idle_);
  }
  void Rest() override {
    std::vector<std::unique_ptr<KernelProcess>> ended;
    const std::lock_guard lock(mutex_);
    ended.swap(idle_);
  }

  // A process for any thread. `interrupt` as of KernelProcess::Load().
  absl::Status Prepare(int interrupt) {
    DOGGED_ASSIGN_OR_RETURN(auto process, Start(interrupt));
    Give(std::move(process));
    return absl::OkStatus();
  }

 private:
  // A new process that has loaded the library and counts as busy.
  absl::StatusOr<std::unique_ptr<KernelProcess>> Start(int interrupt);
  // An idle process that this thread may use, busy from now on; null if there
  // is none.
  std::unique_ptr<KernelProcess> TakeIdle();
  // False after Stop().
  bool SetBusy(const KernelProcess& process);
  void Give(std::unique_ptr<KernelProcess> process);
  void Drop(std::unique_ptr<KernelProcess> process);
  bool IsStopped() {
    const std::lock_guard lock(mutex_);
    return is_stopped_;
  }
  // Into the log.
  void SayOnce(const std::string& words);
  absl::Status Stopped() const {
    return absl::CancelledError(absl::StrCat("kernels of ", name_, " ended"));
  }

  const std::string program_;
  const KernelJail jail_;
  const std::string name_;
  const std::vector<std::string> functions_;
  const Descriptor file_;
  std::mutex mutex_;
  bool is_stopped_ = false;
  bool has_said_ = false;  // what a host refuses
  std::vector<const KernelProcess*> busy_;
  std::vector<std::unique_ptr<KernelProcess>> idle_;
};

absl::StatusOr<std::unique_ptr<KernelProcess>> ProcessLibrary::Start(
    int interrupt) {
  ProcessOutcome loaded;
  for (int tries = 0; tries < 2; ++tries) {
    auto process = KernelProcess::Start(program_, name_, file_.get());
    if (!process.ok()) return process.status();
    if (!SetBusy(**process)) return Stopped();
    loaded = (*process)->Load({jail_, functions_}, kLoadTimeout, interrupt);
    if (loaded.kind == Kind::kDone) {
      SayOnce(loaded.words);
      return process;
    }
    Drop(*std::move(process));
    if (IsStopped()) return Stopped();
    if (loaded.kind != Kind::kDied) break;
  }
  return absl::InvalidArgumentError(absl::StrCat(name_, loaded.words));
}

void ProcessLibrary::SayOnce(const std::string& words) {
  if (words.empty()) return;
  const std::lock_guard lock(mutex_);
  if (!std::exchange(has_said_, true)) {
    Log(LogLevel::kWarning, absl::StrCat(name_, ": ", words));
  }
}

std::unique_ptr<KernelProcess> ProcessLibrary::TakeIdle() {
  const std::lock_guard lock(mutex_);
  const int thread = gettid();
  // The thread's own process runs on its processor; else a process for any
  // thread is taken.
  auto it = std::find_if(
      idle_.begin(), idle_.end(),
      [thread](const auto& process) { return process->thread == thread; });
  if (it == idle_.end()) {
    it = std::find_if(idle_.begin(), idle_.end(),
                      [](const auto& process) { return process->thread == 0; });
  }
  if (it == idle_.end()) return nullptr;
  std::unique_ptr<KernelProcess> out = std::move(*it);
  idle_.erase(it);
  busy_.push_back(out.get());
  return out;
}

bool ProcessLibrary::SetBusy(const KernelProcess& process) {
  const std::lock_guard lock(mutex_);
  if (!is_stopped_) busy_.push_back(&process);
  return !is_stopped_;
}

void ProcessLibrary::Drop(std::unique_ptr<KernelProcess> process) {
  const std::lock_guard lock(mutex_);
  std::erase(busy_, process.get());
}

void ProcessLibrary::Give(std::unique_ptr<KernelProcess> process) {
  const std::lock_guard lock(mutex_);
  std::erase(busy_, process.get());
  if (!is_stopped_) idle_.push_back(std::move(process));
}

absl::Status ProcessLibrary::Call(const std::string& function,
                                  NativeCall& call) {
  const auto position = static_cast<size_t>(
      std::find(functions_.begin(), functions_.end(), function) -
      functions_.begin());
  const std::string name = absl::StrCat("kernel ", function, " of ", name_);
  int deaths = 0;
  int lost = 0;
  while (true) {
    if (IsStopped()) return Stopped();
    std::unique_ptr<KernelProcess> process = TakeIdle();
    // Idle ones may have ended long ago, any number of them.
    const bool is_new = process == nullptr;
    if (is_new) {
      auto started = Start(-1);
      // The library could be loaded before.
      if (absl::IsInvalidArgument(started.status())) {
        return absl::UnavailableError(started.status().message());
      }
      DOGGED_ASSIGN_OR_RETURN(process, std::move(started));
    }
    process->thread = gettid();
    const ProcessOutcome outcome = process->Run(position, call);
    if (outcome.kind == Kind::kDone) {
      Give(std::move(process));
      return absl::OkStatus();
    }
    Drop(std::move(process));
    if (IsStopped()) return Stopped();
    switch (outcome.kind) {
      case Kind::kLost:
        if (!is_new || ++lost < kLostMax) break;
        return absl::UnavailableError(
            absl::StrCat(name, " got no call: ", kLostMax,
                         " new processes ended once they had loaded it"));
      case Kind::kDied:
        if (++deaths < 2) break;
        return absl::Status(outcome.was_killed ? absl::StatusCode::kUnavailable
                                               : absl::StatusCode::kInternal,
                            absl::StrCat(name, " ", outcome.words, ", twice"));
      case Kind::kNoMemory:
        return absl::ResourceExhaustedError(
            absl::StrCat("no memory for the values of ", name));
      default:
        return absl::InternalError(absl::StrCat(name, " ", outcome.words));
    }
  }
}

}  // namespace

KernelProcesses::KernelProcesses(KernelJail jail, std::string program)
    : jail_(jail),
      program_(std::move(program)),
      interrupt_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void KernelProcesses::Interrupt() const {
  const uint64_t one = 1;
  // The descriptor is readable from now on; a second write changes nothing.
  if (write(interrupt_.get(), &one, sizeof(one)) < 0) {
  }
}

absl::StatusOr<std::string> KernelProcesses::TryJail() const {
  // Any descriptor will do: nothing is loaded.
  const Descriptor none(fcntl(interrupt_.get(), F_DUPFD_CLOEXEC, 16));
  DOGGED_ASSIGN_OR_RETURN(
      const auto process,
      KernelProcess::Start(program_, "dogged-jail", none.get()));
  ProcessOutcome outcome = process->Load({jail_, {}}, kLoadTimeout, -1);
  if (outcome.kind == Kind::kDone) return std::move(outcome.words);
  return absl::UnavailableError(
      absl::StrCat("kernels of users", outcome.words));
}

absl::StatusOr<std::shared_ptr<KernelLibrary>> KernelProcesses::Load(
    const KernelLibrarySpec& spec) const {
  // Above the descriptors that a kernel process has; see
  // KernelProcess::Start().
  const Descriptor made(RegionMapping::Create("dogged-kernel-library"));
  const int file = fcntl(made.get(), F_DUPFD_CLOEXEC, 16);
  auto library = std::make_shared<ProcessLibrary>(program_, jail_, spec, file);
  if (file < 0 || !WriteAll(file, spec.content)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no memory for the library ", spec.name, ": ", strerror(errno)));
  }
  // No process changes what the next one loads.
  fcntl(file, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SEAL);
  const absl::Status prepared = library->Prepare(interrupt_.get());
  if (prepared.ok()) return library;
  uint64_t count = 0;
  if (read(interrupt_.get(), &count, sizeof(count)) > 0) {
    Interrupt();
    return absl::CancelledError(
        absl::StrCat("loading ", spec.name, " was interrupted"));
  }
  return prepared;
}

}  // namespace dogged
