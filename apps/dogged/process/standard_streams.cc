#include "apps/dogged/process/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "apps/output/file.h"

namespace dogged {
namespace {

// No help is longer. Words that fit are written at the end, where the system's
// error is known.
constexpr size_t kOutputBytes = size_t{64} << 10;

}  // namespace

void OccupyStandardStreams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) != -1) continue;
    // open() gives the lowest that is free; the wrong way round, it can't be
    // used for more than to be there.
    const int way = descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", way) < 0) break;
  }
  // glibc looks at the size of a buffer that it is given, and at no other.
  static char buffer[kOutputBytes];
  if (isatty(STDOUT_FILENO) == 0) {
    std::setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
  }
}

absl::Status FinishOutput() {
  const bool had_failed = std::ferror(stdout) != 0;
  errno = 0;
  if (std::fflush(stdout) == 0 && !had_failed) return absl::OkStatus();
  if (errno != 0) return FileError("standard output", "cannot write", errno);
  // An earlier failure's system error is gone.
  return absl::UnavailableError("standard output: cannot write all of it");
}

}  // namespace dogged
