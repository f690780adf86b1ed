#include "apps/client/client_process.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

namespace dogged {
namespace {

constexpr int kSocketThere = 3;
constexpr int kPatienceMs = 5000;

bool IsExecutable(const std::string& path) {
  struct stat facts = {};
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

// The folder of this library, "" if that is not known.
std::string FolderOfLibrary() {
  Dl_info place = {};
  if (dladdr(reinterpret_cast<const void*>(&FolderOfLibrary), &place) == 0 ||
      place.dli_fname == nullptr) {
    return "";
  }
  const std::unique_ptr<char, decltype(&free)> path(
      realpath(place.dli_fname, nullptr), &free);
  if (path == nullptr) return "";
  const std::string text = path.get();
  return text.substr(0, text.rfind('/'));
}

// Acts of the child before it runs the command; freed here.
class SpawnActions {
 public:
  explicit SpawnActions(int socket) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    // The same number, too, is open in the child then.
    posix_spawn_file_actions_adddup2(&actions_, socket, kSocketThere);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions_, kSocketThere + 1);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSID |
                                               POSIX_SPAWN_SETSIGMASK |
                                               POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  int Spawn(const std::string& command, pid_t& pid) {
    std::string number = std::to_string(kSocketThere);
    std::string words[] = {command, "client", "--socket-fd", number};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(),
                         words[3].data(), nullptr};
    return posix_spawn(&pid, command.c_str(), &actions_, &attributes_,
                       arguments, environ);
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

}  // namespace

ClientError ClientProcess::Find(std::string& out) {
  for (const char* const name : {"DOGGED_COMMAND", "DOGGED"}) {
    const char* const named = getenv(name);
    if (named == nullptr || *named == '\0') continue;
    out = named;
    if (IsExecutable(out)) return {};
    return ErrorOf(DOGGED_MISTYPED, std::string(name) + "=" + out +
                                        " is no program that can be started");
  }
  const std::string folder = FolderOfLibrary();
  // lib, or lib/x86_64-linux-gnu.
  for (const char* const up : {"/../bin/dogged", "/../../bin/dogged"}) {
    out = folder + up;
    if (!folder.empty() && IsExecutable(out)) return {};
  }
  const char* const path = getenv("PATH");
  std::string rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const size_t end = rest.find(':');
    out = rest.substr(0, end) + "/dogged";
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
    if (out[0] == '/' && IsExecutable(out)) return {};
  }
  return ErrorOf(DOGGED_MISTYPED,
                 "there is no dogged command, neither in bin beside " +
                     (folder.empty() ? "this library" : folder) +
                     " nor on PATH: install dogged, or set DOGGED_COMMAND to "
                     "its path");
}

ClientError ClientProcess::Start(ClientDescriptor& socket) {
  ClientError found = Find(command_);
  if (!found.ok()) return found;
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return ErrorOf(
        DOGGED_NO_ROOM,
        std::string("no socket for a client process: ") + std::strerror(errno));
  }
  ClientDescriptor ours(ends[0]);
  const ClientDescriptor theirs(ends[1]);
  const int failure = SpawnActions(theirs.number()).Spawn(command_, pid_);
  if (failure != 0) {
    pid_ = 0;
    return ErrorOf(DOGGED_MISTYPED,
                   command_ + " can't be started: " + std::strerror(failure));
  }
  socket = std::move(ours);
  return {};
}

void ClientProcess::End() {
  if (pid_ <= 0) return;
  const ClientDescriptor process(
      static_cast<int>(syscall(SYS_pidfd_open, pid_, 0)));
  pollfd waiting = {.fd = process.number(), .events = POLLIN, .revents = 0};
  int ready = -1;
  do {
    ready = poll(&waiting, 1, kPatienceMs);
  } while (ready < 0 && errno == EINTR);
  if (process.number() < 0 || ready == 0) kill(pid_, SIGKILL);
  // No child is left where the user's process lets the system reap them.
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
}

}  // namespace dogged
