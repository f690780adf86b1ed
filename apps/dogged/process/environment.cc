#include "apps/dogged/process/environment.h"

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

#include "runtime/exec/kernels/kernel_library.h"

namespace dogged {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Environment ReadEnvironment() {
  Environment out;
  out.cache_directory =
      KernelCacheDirectory(Variable("XDG_CACHE_HOME"), Variable("HOME"));
  out.compiler = Variable("DOGGED_CC").empty() ? "cc" : Variable("DOGGED_CC");
  out.memory = Variable("DOGGED_MEMORY");
  out.directory = Variable("DOGGED_DIR");
  // On disk on most systems, which /tmp is not.
  out.temporary_folder =
      Variable("TMPDIR").empty() ? "/var/tmp" : Variable("TMPDIR");
  out.home = Variable("HOME");
  if (const char* key_file = std::getenv("DOGGED_KEY_FILE")) {
    out.key_file = key_file;
  }
  std::random_device entropy;
  out.entropy = (uint64_t{entropy()} << 32) | entropy();
  return out;
}

}  // namespace dogged
