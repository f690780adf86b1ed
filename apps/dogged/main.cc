// `dogged`: sets the process up, then runs its command line.
#include <csignal>

#include "absl/strings/string_view.h"
#include "apps/dogged/agent/kernel_process_command.h"
#include "apps/dogged/cli/command_line.h"
#include "apps/dogged/process/answer.h"
#include "apps/dogged/process/environment.h"
#include "apps/dogged/process/errors.h"
#include "apps/dogged/process/memory.h"
#include "apps/dogged/process/standard_streams.h"
#include "apps/dogged/run/interrupt.h"

namespace dogged {
namespace {

ExitCode Main(int argc, char** argv) {
  OccupyStandardStreams();
  PrepareForScarcity();
  if (argc > 2 && absl::string_view(argv[1]) == "kernel-process") {
    return KernelProcessCommand(argv[2]);
  }
  CatchInterrupts("interrupted\n");
  signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error
  signal(SIGPIPE, SIG_IGN);  // so is a reader that has gone
  return RunCommandLine(argc, argv, ReadEnvironment());
}

// A command whose output was not written whole has failed.
ExitCode CheckOutput(Answer& answer, ExitCode code) {
  answer.Print(code);
  const absl::Status status = FinishOutput();
  if (status.ok()) return code;
  PrintError(status.message());
  if (code != ExitCode::kDone) return code;
  return absl::IsResourceExhausted(status) ? ExitCode::kNoRoom
                                           : ExitCode::kMistyped;
}

}  // namespace
}  // namespace dogged

int main(int argc, char** argv) {
  dogged::Answer answer;
  const dogged::ExitCode code = dogged::Main(argc, argv);
  return static_cast<int>(dogged::CheckOutput(answer, code));
}
