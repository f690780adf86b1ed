#include "apps/dogged/door/client_command.h"

#include <fcntl.h>
#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "apps/dogged/door/door_channel.h"
#include "apps/dogged/door/door_session.h"
#include "apps/dogged/process/errors.h"

namespace dogged {

ExitCode ClientCommand(int socket, const Environment& environment) {
  int in = STDIN_FILENO;
  int out = -1;
  if (socket >= 0) {
    if (fcntl(socket, F_SETFD, FD_CLOEXEC) != 0) {
      PrintError(absl::StrCat("--socket-fd ", socket,
                              ": there is no such descriptor"));
      return ExitCode::kMistyped;
    }
    in = out = socket;
  } else {
    // Nothing else of this process may write where the answers go.
    out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(STDERR_FILENO, STDOUT_FILENO);
  }
  DoorChannel channel(in, out);
  if (socket >= 0 && !channel.CarriesDescriptors()) {
    PrintError(absl::StrCat("--socket-fd ", socket, " is no Unix socket"));
    return ExitCode::kMistyped;
  }
  DoorSession(channel, environment).Run();
  return ExitCode::kDone;
}

}  // namespace dogged
