#include "runtime/base/check.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace dogged {
namespace {
std::string& CheckContext() {
  thread_local std::string context;
  return context;
}
}  // namespace

void SetCheckContext(const char* context) { CheckContext() = context; }

CheckFailure::CheckFailure(const char* file, int line, const char* condition) {
  stream_ << file << ":" << line << ": check failed: " << condition << " ";
}

CheckFailure::~CheckFailure() {
  std::fprintf(stderr, "%s\n", stream_.str().c_str());
  if (!CheckContext().empty()) {
    std::fprintf(stderr, "replay with: %s\n", CheckContext().c_str());
  }
  std::fflush(stderr);
  std::abort();
}

}  // namespace dogged
