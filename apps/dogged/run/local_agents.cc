#include "apps/dogged/run/local_agents.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "apps/dogged/agent/spill_engine.h"
#include "apps/dogged/process/exit_code.h"
#include "apps/dogged/run/interrupt.h"
#include "apps/output/run_text.h"
#include "runtime/base/clock.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

void NoteEnd(int status, LocalAgents::Process& process) {
  process.alive = false;
  process.end = WIFSIGNALED(status) ? CauseOfSignal(WTERMSIG(status))
                                    : CauseOfExit(WEXITSTATUS(status));
  process.lacked_room =
      WIFEXITED(status) &&
      WEXITSTATUS(status) == static_cast<int>(ExitCode::kNoRoom);
  process.left = WIFEXITED(status) &&
                 WEXITSTATUS(status) == static_cast<int>(ExitCode::kDone);
}

absl::Status DidNotStart(const LocalAgents::Process& process) {
  return absl::UnavailableError(absl::StrCat(
      process.name, " did not start; its words are on standard error"));
}

}  // namespace

void LocalAgents::End() {
  for (Process& process : processes_) {
    if (process.alive) kill(process.pid, SIGKILL);
  }
  for (Process& process : processes_) {
    if (process.alive) waitpid(process.pid, nullptr, 0);
    process.alive = false;
    if (process.fd >= 0) close(process.fd);
    process.fd = -1;
    if (!options_.memory.empty()) {
      RemoveSpillFolders(options_.temporary_folder, process.pid);
    }
  }
}

void LocalAgents::EndAndForget() {
  End();
  std::error_code ignored;
  if (!options_.directory.empty()) {
    std::filesystem::remove_all(options_.directory, ignored);
  }
}

std::vector<size_t> LocalAgents::Alive() const {
  std::vector<size_t> out;
  for (size_t i = 0; i < processes_.size(); ++i) {
    if (processes_[i].alive && processes_[i].IsReady()) out.push_back(i);
  }
  return out;
}

absl::Status LocalAgents::Start(int count, absl::Duration timeout) {
  SystemClock clock;
  const absl::Time deadline = clock.Now() + timeout;
  const bool stands_alone = Alive().empty();
  size_t joiner = processes_.size();
  for (int i = 0; i < count; ++i) {
    DOGGED_RETURN_IF_ERROR(Spawn(!stands_alone || i > 0, deadline));
  }
  if (stands_alone) DOGGED_RETURN_IF_ERROR(AwaitReady(processes_[joiner++]));
  for (size_t i = joiner; i < processes_.size(); ++i) {
    TellMembers(processes_[i]);
    shutdown(processes_[i].fd, SHUT_WR);  // one that can't join says so
  }
  for (size_t i = joiner; i < processes_.size(); ++i) {
    DOGGED_RETURN_IF_ERROR(AwaitReady(processes_[i]));
  }
  return absl::OkStatus();
}

void LocalAgents::Prepare(int count) {
  for (int i = 0; i < count; ++i) {
    // A process that can't start now may do so later.
    if (!Spawn(/*joins=*/true, absl::InfiniteFuture()).ok()) return;
    prepared_.push_back(processes_.size() - 1);
  }
}

absl::StatusOr<size_t> LocalAgents::StartOne(absl::Duration timeout) {
  SystemClock clock;
  const bool joins = !Alive().empty();
  size_t index = processes_.size();
  if (!joins || prepared_.empty()) {
    DOGGED_RETURN_IF_ERROR(Spawn(joins, clock.Now() + timeout));
  } else {
    index = prepared_.front();
    prepared_.pop_front();
    processes_[index].deadline = clock.Now() + timeout;
  }
  TellMembers(processes_[index]);
  return index;
}

std::optional<absl::Status> LocalAgents::Started(size_t index,
                                                 absl::Duration patience) {
  Process& process = processes_[index];
  if (!process.IsReady()) TellMembers(process);
  SystemClock clock;
  const absl::Time limit = std::min(clock.Now() + patience, process.deadline);
  std::optional<absl::Status> out = Listen(process, limit);
  if (!out.has_value() && clock.Now() < process.deadline) return std::nullopt;
  if (!out.has_value()) out = AwaitReady(process);
  if (!out->ok() && process.alive) {
    kill(process.pid, SIGKILL);  // it is not to come after all
    waitpid(process.pid, nullptr, 0);
    process.alive = false;
  }
  return out;
}

void LocalAgents::TellMembers(Process& process) const {
  std::string lines;
  for (size_t i : Alive()) {
    const std::string& address = processes_[i].address;
    if (absl::c_linear_search(process.told, address)) continue;
    process.told.push_back(address);
    absl::StrAppend(&lines, address, "\n");
  }
  // A process that has ended is found later.
  (void)send(process.fd, lines.data(), lines.size(), MSG_NOSIGNAL);
}

std::vector<std::string> LocalAgents::ArgumentsOf(const std::string& name,
                                                  bool joins) const {
  std::vector<std::string> out = {"dogged",      "agent",
                                  "--listen",    "127.0.0.1:0",
                                  "--workers",   absl::StrCat(options_.workers),
                                  "--multicast", options_.multicast};
  // Keys that nobody named are not for agents of a run.
  if (options_.key_file.empty()) {
    out.push_back("--insecure");
  } else {
    out.insert(out.end(), {"--key-file", options_.key_file});
  }
  if (joins) out.insert(out.end(), {"--join", "-"});
  // Without it each would take most of what all of them may have.
  out.insert(out.end(),
             {"--memory",
              options_.memory.empty() ? std::string("all") : options_.memory});
  if (!options_.directory.empty()) {
    out.insert(out.end(),
               {"--dir", absl::StrCat(options_.directory, "/", name)});
  }
  out.insert(out.end(), options_.flags.begin(), options_.flags.end());
  return out;
}

absl::Status LocalAgents::Spawn(bool joins, absl::Time deadline) {
  Process process;
  process.deadline = deadline;
  process.name = absl::StrCat("agent-", processes_.size() + 1);
  std::vector<std::string> arguments = ArgumentsOf(process.name, joins);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);

  int fds[2];  // ours, the agent's
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) != 0) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no socket: ", std::strerror(errno)));
  }
  const pid_t parent = getpid();
  process.pid = fork();
  if (process.pid == 0) {
    // Only calls that are safe after fork. Signals have their defaults in the
    // child until it is an agent, whatever the parent does on them.
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) signal(number, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
    dup2(fds[1], STDIN_FILENO);
    dup2(fds[1], STDOUT_FILENO);
    setpgid(0, 0);  // Ctrl-C is the client's business
    execv(options_.program.c_str(), argv.data());
    _exit(127);
  }
  const int error = errno;
  close(fds[1]);
  if (process.pid < 0) {
    close(fds[0]);
    return absl::ResourceExhaustedError(
        absl::StrCat("no process: ", std::strerror(error)));
  }
  process.fd = fds[0];
  process.alive = true;
  processes_.push_back(std::move(process));
  return absl::OkStatus();
}

absl::Status LocalAgents::AwaitReady(Process& process) {
  const std::optional<absl::Status> out = Listen(process, process.deadline);
  return out.has_value() ? *out : DidNotStart(process);
}

std::optional<absl::Status> LocalAgents::Listen(Process& process,
                                                absl::Time limit) {
  SystemClock clock;
  while (process.said.find('\n') == std::string::npos) {
    const absl::Duration left = limit - clock.Now();
    pollfd waiting = {.fd = process.fd, .events = POLLIN, .revents = 0};
    const int ready = poll(&waiting, 1,
                           static_cast<int>(std::max<int64_t>(
                               0, absl::ToInt64Milliseconds(left))));
    if (ready == 0) return std::nullopt;
    if (ready < 0 && errno == EINTR) {
      if (IsInterrupted()) return absl::CancelledError("interrupted");
      continue;
    }
    char buffer[256];
    const ssize_t size =
        ready > 0 ? read(process.fd, buffer, sizeof(buffer)) : 0;
    if (size <= 0) {
      int status = 0;
      // An agent's end comes as an error if it had not read all.
      if (ready > 0 && waitpid(process.pid, &status, 0) == process.pid) {
        NoteEnd(status, process);
        if (process.lacked_room) {
          return absl::ResourceExhaustedError(DidNotStart(process).message());
        }
      }
      return DidNotStart(process);
    }
    process.said.append(buffer, static_cast<size_t>(size));
  }
  absl::string_view address = process.said;
  address = address.substr(0, address.find('\n'));
  absl::ConsumePrefix(&address, "listening ");
  process.address = std::string(address.substr(0, address.find(' ')));
  return absl::OkStatus();
}

void LocalAgents::Kill(size_t index) {
  if (!processes_[index].alive) return;
  kill(processes_[index].pid, SIGKILL);
  // Certain, and soon; Reap() takes note of it.
  siginfo_t ended;
  while (waitid(P_PID, static_cast<id_t>(processes_[index].pid), &ended,
                WEXITED | WNOWAIT) != 0 &&
         errno == EINTR) {
  }
}

// It has closed all that it had open: a moment later it has ended.
bool LocalAgents::IsEnding(const Process& process, absl::Duration patience) {
  pollfd closed = {.fd = process.fd, .events = 0, .revents = 0};
  const auto limit = static_cast<int>(absl::ToInt64Milliseconds(patience));
  return poll(&closed, 1, limit) > 0 && (closed.revents & POLLHUP) != 0;
}

std::vector<size_t> LocalAgents::Reap(absl::Duration patience) {
  std::vector<size_t> out;
  for (size_t i = 0; i < processes_.size(); ++i) {
    Process& process = processes_[i];
    int status = 0;
    if (process.alive && process.IsReady() &&
        waitpid(process.pid, &status,
                IsEnding(process, patience) ? 0 : WNOHANG) > 0) {
      NoteEnd(status, process);
      out.push_back(i);
    }
  }
  return out;
}

}  // namespace dogged
