#include "apps/dogged/process/environment.h"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <string>

#include "runtime/exec/kernels/kernel_library.h"

namespace dogged {
namespace {

std::optional<std::string> IfSet(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) return std::nullopt;
  return value;
}

}  // namespace

std::string Variable(const char* name) { return IfSet(name).value_or(""); }

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
  out.key_file = IfSet("DOGGED_KEY_FILE");
  out.ca_file = IfSet("DOGGED_CA_FILE");
  out.cert_file = IfSet("DOGGED_CERT_FILE");
  out.cert_key_file = IfSet("DOGGED_CERT_KEY_FILE");
  std::random_device entropy;
  out.entropy = (uint64_t{entropy()} << 32) | entropy();
  return out;
}

}  // namespace dogged
