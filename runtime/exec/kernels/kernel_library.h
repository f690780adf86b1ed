// KernelCompiler: C source to functions in this process, by the system
// compiler and dlopen, cached on disk by content. The adapter to both.
#ifndef DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_LIBRARY_H_
#define DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_LIBRARY_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/graph/kernel.h"

namespace dogged {

struct KernelCompilerOptions {
  // A name that is looked up in PATH, or a path.
  std::string compiler = "cc";
  // Made if it does not exist. See KernelCacheDirectory().
  std::string cache_directory;
};

// $XDG_CACHE_HOME/dogged, else $HOME/.cache/dogged, else a folder of this user
// under /tmp, given the values of those two variables ("" if unset).
std::string KernelCacheDirectory(absl::string_view xdg_cache_home,
                                 absl::string_view home);

class KernelCompiler {
 public:
  // The address of a function, null if there is none of that name. The library
  // stays loaded as long as this function or a copy of it lives.
  using Symbols = std::function<void*(const std::string&)>;

  explicit KernelCompiler(KernelCompilerOptions options)
      : options_(std::move(options)) {}
  KernelCompiler(const KernelCompiler&) = delete;
  KernelCompiler& operator=(const KernelCompiler&) = delete;

  // Compiles `source`, or takes the library that an earlier call left in the
  // cache for the same source, flags, compiler and CPU. Any number of
  // processes may do so at once: a library gets its name when it is whole, and
  // processes of one host wait for the one that makes it, if that takes not
  // too long.
  // kUnavailable if there is no compiler, or no place to write to that is this
  // user's alone; kInternal with the compiler's words if it refuses the source.
  absl::StatusOr<Symbols> Load(absl::string_view source) const;

  // As dogged::LoadLibrary, into this process, which its functions may end or
  // spoil: for simulations, where all is one process.
  absl::StatusOr<std::shared_ptr<KernelLibrary>> LoadHere(
      const KernelLibrarySpec& spec) const;
  // Ends a compiler that is running, and makes later calls of Load() fail with
  // kCancelled. From any thread, and from signal handlers.
  void Interrupt() const;

 private:
  absl::Status PrepareCache() const;
  absl::StatusOr<std::string> RunProgram(
      const std::vector<std::string>& words) const;
  absl::Status Build(absl::string_view source, const std::string& path) const;

  KernelCompilerOptions options_;
  mutable std::atomic<bool> interrupted_{false};
  mutable std::atomic<int> child_{0};  // its process group; 0: none runs
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_LIBRARY_H_
