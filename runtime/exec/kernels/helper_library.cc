#include "runtime/exec/kernels/helper_library.h"

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
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Time that a library may take to load.
constexpr absl::Duration kLoadTimeout = absl::Seconds(60);

// Helpers that may be lost for the same call before it fails.
constexpr int kLostMax = 3;

using Kind = HelperOutcome::Kind;

bool WriteAll(int fd, absl::string_view content) {
  while (!content.empty()) {
    const ssize_t size = write(fd, content.data(), content.size());
    if (size < 0 && errno != EINTR) return false;
    content.remove_prefix(static_cast<size_t>(std::max<ssize_t>(0, size)));
  }
  return true;
}

class HelperLibrary : public KernelLibrary {
 public:
  // `file` holds the library.
  HelperLibrary(std::string program, const KernelLibrarySpec& spec, int file)
      : program_(std::move(program)),
        name_(spec.name),
        functions_(spec.functions),
        file_(file) {}

  absl::Status Call(const std::string& function, NativeCall& call) override;
  void Stop() override {
    std::vector<std::unique_ptr<KernelHelper>> ended;
    const std::lock_guard lock(mutex_);
    is_stopped_ = true;
    for (const KernelHelper* helper : busy_) helper->Cut();
    ended.swap(idle_);
  }
  void Rest() override {
    std::vector<std::unique_ptr<KernelHelper>> ended;
    const std::lock_guard lock(mutex_);
    ended.swap(idle_);
  }

  // A helper for any thread. `interrupt` as of KernelHelper::Load().
  absl::Status Prepare(int interrupt) {
    DOGGED_ASSIGN_OR_RETURN(auto helper, Start(interrupt));
    Give(std::move(helper));
    return absl::OkStatus();
  }

 private:
  // A new helper that has loaded the library and counts as busy.
  absl::StatusOr<std::unique_ptr<KernelHelper>> Start(int interrupt);
  // An idle helper that this thread may use, busy from now on; null if there is
  // none.
  std::unique_ptr<KernelHelper> TakeIdle();
  // False after Stop().
  bool SetBusy(const KernelHelper& helper);
  void Give(std::unique_ptr<KernelHelper> helper);
  void Drop(std::unique_ptr<KernelHelper> helper);
  bool IsStopped() {
    const std::lock_guard lock(mutex_);
    return is_stopped_;
  }
  absl::Status Stopped() const {
    return absl::CancelledError(absl::StrCat("kernels of ", name_, " ended"));
  }

  const std::string program_;
  const std::string name_;
  const std::vector<std::string> functions_;
  const Descriptor file_;
  std::mutex mutex_;
  bool is_stopped_ = false;
  std::vector<const KernelHelper*> busy_;
  std::vector<std::unique_ptr<KernelHelper>> idle_;
};

absl::StatusOr<std::unique_ptr<KernelHelper>> HelperLibrary::Start(
    int interrupt) {
  HelperOutcome loaded;
  for (int tries = 0; tries < 2; ++tries) {
    auto helper = KernelHelper::Start(program_, name_, file_.get());
    if (!helper.ok()) return helper.status();
    if (!SetBusy(**helper)) return Stopped();
    loaded = (*helper)->Load(functions_, kLoadTimeout, interrupt);
    if (loaded.kind == Kind::kDone) return helper;
    Drop(*std::move(helper));
    if (IsStopped()) return Stopped();
    if (loaded.kind != Kind::kDied) break;
  }
  return absl::InvalidArgumentError(absl::StrCat(name_, loaded.words));
}

std::unique_ptr<KernelHelper> HelperLibrary::TakeIdle() {
  const std::lock_guard lock(mutex_);
  const int thread = gettid();
  // The thread's own helper runs on its processor; else a helper for any thread
  // is taken.
  auto it = std::find_if(
      idle_.begin(), idle_.end(),
      [thread](const auto& helper) { return helper->thread == thread; });
  if (it == idle_.end()) {
    it = std::find_if(idle_.begin(), idle_.end(),
                      [](const auto& helper) { return helper->thread == 0; });
  }
  if (it == idle_.end()) return nullptr;
  std::unique_ptr<KernelHelper> out = std::move(*it);
  idle_.erase(it);
  busy_.push_back(out.get());
  return out;
}

bool HelperLibrary::SetBusy(const KernelHelper& helper) {
  const std::lock_guard lock(mutex_);
  if (!is_stopped_) busy_.push_back(&helper);
  return !is_stopped_;
}

void HelperLibrary::Drop(std::unique_ptr<KernelHelper> helper) {
  const std::lock_guard lock(mutex_);
  std::erase(busy_, helper.get());
}

void HelperLibrary::Give(std::unique_ptr<KernelHelper> helper) {
  const std::lock_guard lock(mutex_);
  std::erase(busy_, helper.get());
  if (!is_stopped_) idle_.push_back(std::move(helper));
}

absl::Status HelperLibrary::Call(const std::string& function,
                                 NativeCall& call) {
  const auto position = static_cast<size_t>(
      std::find(functions_.begin(), functions_.end(), function) -
      functions_.begin());
  const std::string name = absl::StrCat("kernel ", function, " of ", name_);
  int deaths = 0;
  int lost = 0;
  while (true) {
    if (IsStopped()) return Stopped();
    std::unique_ptr<KernelHelper> helper = TakeIdle();
    // Idle ones may have ended long ago, any number of them.
    const bool is_new = helper == nullptr;
    if (is_new) {
      auto started = Start(-1);
      // The library could be loaded before.
      if (absl::IsInvalidArgument(started.status())) {
        return absl::UnavailableError(started.status().message());
      }
      DOGGED_ASSIGN_OR_RETURN(helper, std::move(started));
    }
    helper->thread = gettid();
    const HelperOutcome outcome = helper->Run(position, call);
    if (outcome.kind == Kind::kDone) {
      Give(std::move(helper));
      return absl::OkStatus();
    }
    Drop(std::move(helper));
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

KernelHelpers::KernelHelpers(std::string program)
    : program_(std::move(program)),
      interrupt_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void KernelHelpers::Interrupt() const {
  const uint64_t one = 1;
  // The descriptor is readable from now on; a second write changes nothing.
  if (write(interrupt_.get(), &one, sizeof(one)) < 0) {
  }
}

absl::StatusOr<std::shared_ptr<KernelLibrary>> KernelHelpers::Load(
    const KernelLibrarySpec& spec) const {
  // Above the descriptors that a helper has; see KernelHelper::Start().
  const Descriptor made(RegionMapping::Create("dogged-kernel-library"));
  const int file = fcntl(made.get(), F_DUPFD_CLOEXEC, 16);
  auto library = std::make_shared<HelperLibrary>(program_, spec, file);
  if (file < 0 || !WriteAll(file, spec.content)) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "no memory for the library ", spec.name, ": ", strerror(errno)));
  }
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
