#include "runtime/exec/kernels/kernel_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "runtime/exec/kernels/system_call_filter.h"

extern char** environ;

namespace dogged {
namespace {

// Above all descriptors that a kernel process begins with, none of which
// overwrites a descriptor made there.
constexpr int kDescriptorsMin = 16;
// From the announcement of a signal to the end of the process.
constexpr absl::Duration kEndMax = absl::Seconds(2);

// `fd` above the numbers that a kernel process has; `fd` itself is closed.
int MovedUp(int fd) {
  const int out = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, kDescriptorsMin);
  if (fd >= 0) close(fd);
  return out;
}

absl::Status Refused(absl::string_view what, int error) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no process for kernels: ", what, ": ", strerror(error)));
}

std::string SignalWords(int number, absl::string_view more) {
  const char* name = sigdescr_np(number);
  return absl::StrCat("was ended by signal ", number, " (",
                      absl::AsciiStrToLower(name == nullptr ? "unknown" : name),
                      more.empty() ? "" : ": ", more, ")");
}

std::string PlaceWords(const RegionPlace& place, const NativeCall& call) {
  return absl::StrCat(place.side == RegionPlace::Side::kBefore
                          ? "before the beginning of "
                          : "beyond the end of ",
                      call.names[place.block]);
}

std::string RefusedWords(const std::string& call) {
  return absl::StrCat("was ended at ", call,
                      ", which its jail does not let through "
                      "(--libraries apart: no jail)");
}

// For a fault that is a system call.
std::string RefusedWords(const ProcessReply& fault) {
  return RefusedWords(absl::StrCat(
      "the system call ", SystemCallName(static_cast<int>(fault.offset))));
}

ProcessOutcome OutcomeOf(ProcessReply reply) {
  // A library's words reach terminals.
  for (char& c : reply.words) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  switch (reply.kind) {
    case ProcessReply::Kind::kDone:
      return {ProcessOutcome::Kind::kDone, std::move(reply.words)};
    case ProcessReply::Kind::kNoMemory:
      return {.kind = ProcessOutcome::Kind::kNoMemory};
    default:
      return {ProcessOutcome::Kind::kWrong, std::move(reply.words)};
  }
}

int Spawn(const std::string& program, const std::string& name,
          const std::array<int, 3>& descriptors, int& pid) {
  std::vector<std::string> words = {"dogged", "kernel-process",
                                    absl::StrCat(getpid()), name};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  // Output that kernels print is no result of the program.
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  int number = kProcessSocket;
  for (const int fd : descriptors) {
    posix_spawn_file_actions_adddup2(&actions, fd, number++);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, number);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // An interrupt from the terminal is this process's business.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGDEF |
                                            POSIX_SPAWN_SETSIGMASK);
  sigset_t set;
  sigfillset(&set);
  posix_spawnattr_setsigdefault(&attributes, &set);
  sigemptyset(&set);
  posix_spawnattr_setsigmask(&attributes, &set);
  const int error = posix_spawn(&pid, program.c_str(), &actions, &attributes,
                                argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

KernelProcess::KernelProcess(int pid, int socket, int region)
    : pid_(pid), socket_(socket), region_fd_(region), region_(region) {}

absl::StatusOr<std::unique_ptr<KernelProcess>> KernelProcess::Start(
    const std::string& program, const std::string& name, int library) {
  std::array<int, 2> ends = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Refused("socketpair", errno);
  }
  const int own_end = MovedUp(ends[0]);
  const Descriptor its_end(MovedUp(ends[1]));
  const int region = MovedUp(RegionMapping::Create("dogged-kernel-values"));
  int pid = 0;
  const int error =
      std::min({own_end, its_end.get(), region}) < 0
          ? EMFILE
          : Spawn(program, name, {its_end.get(), region, library}, pid);
  // The object owns the descriptors, also if there is no process.
  std::unique_ptr<KernelProcess> out(new KernelProcess(pid, own_end, region));
  if (error == 0) return out;
  out->pid_ = 0;
  return Refused(program, error);
}

KernelProcess::~KernelProcess() { Reap(); }

void KernelProcess::Cut() const { shutdown(socket_.get(), SHUT_RDWR); }

bool KernelProcess::Send(const std::string& message) const {
  return send(socket_.get(), message.data(), message.size(), MSG_NOSIGNAL) >= 0;
}

std::string KernelProcess::Receive() const {
  std::array<char, kProcessMessageBytesMax> buffer;
  ssize_t size = 0;
  do {
    size = recv(socket_.get(), buffer.data(), buffer.size(), 0);
  } while (size < 0 && errno == EINTR);
  return std::string(buffer.data(),
                     static_cast<size_t>(std::max<ssize_t>(0, size)));
}

void KernelProcess::AwaitEnd() const {
  // A library may announce an end that never comes.
  pollfd end = {.fd = socket_.get(), .events = POLLIN, .revents = 0};
  while (poll(&end, 1, static_cast<int>(absl::ToInt64Milliseconds(kEndMax))) <
             0 &&
         errno == EINTR) {
  }
}

std::string KernelProcess::Reap() {
  if (pid_ == 0) return "";
  // The signal changes nothing for a process that has ended by itself; any
  // other has closed its end of the socket.
  siginfo_t ended = {};
  waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOWAIT | WNOHANG);
  kill(-pid_, SIGKILL);
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  was_killed_ =
      ended.si_pid != 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) {
    // It had blocked signals, as fork() does: nothing could name the call.
    return RefusedWords("a system call");
  }
  if (WIFSIGNALED(status)) return SignalWords(WTERMSIG(status), "");
  return absl::StrCat("ended its process with exit status ",
                      WEXITSTATUS(status));
}

ProcessOutcome KernelProcess::Load(const ProcessStart& start,
                                   absl::Duration timeout, int interrupt) {
  std::array<pollfd, 2> waits = {
      pollfd{.fd = socket_.get(), .events = POLLIN, .revents = 0},
      pollfd{.fd = interrupt, .events = POLLIN, .revents = 0}};
  int ready = -1;
  if (Send(start.Encode())) {
    do {
      ready = poll(waits.data(), waits.size(),
                   static_cast<int>(absl::ToInt64Milliseconds(timeout)));
    } while (ready < 0 && errno == EINTR);
  }
  if (ready == 0) {
    return {ProcessOutcome::Kind::kWrong,
            absl::StrCat(": not loaded after ", absl::FormatDuration(timeout))};
  }
  const auto reply =
      ProcessReply::Decode(waits[0].revents == 0 ? "" : Receive());
  if (reply.ok() && reply->kind != ProcessReply::Kind::kFault) {
    return OutcomeOf(*reply);
  }
  if (reply.ok()) AwaitEnd();  // the signal comes after its announcement
  if (reply.ok() && reply->place == ProcessReply::Place::kSystemCall) {
    return {ProcessOutcome::Kind::kWrong,
            absl::StrCat(": can't be loaded: it ", RefusedWords(*reply))};
  }
  return {ProcessOutcome::Kind::kDied,
          absl::StrCat(": can't be loaded: its process ", Reap())};
}

std::string KernelProcess::WordsOfEnd(const ProcessReply& fault,
                                      const NativeCall& call) {
  // The signal comes after its announcement.
  if (fault.kind == ProcessReply::Kind::kFault) AwaitEnd();
  const std::string words = Reap();
  std::string more;
  if (fault.place == ProcessReply::Place::kStack) {
    more = "out of stack";
  } else if (fault.place == ProcessReply::Place::kRegion) {
    const auto place = PlaceOf(placed_, static_cast<int64_t>(fault.offset));
    if (!place.has_value()) return words;
    const bool is_within = place->side == RegionPlace::Side::kWithin;
    if (is_within && placed_[place->block].is_out) return words;
    more = is_within ? absl::StrCat("it wrote into ", call.names[place->block])
                     : absl::StrCat("it reached ", PlaceWords(*place, call));
  }
  // Into the brackets.
  return more.empty() || words.back() != ')'
             ? words
             : absl::StrCat(words.substr(0, words.size() - 1), ": ", more, ")");
}

ProcessOutcome KernelProcess::Run(size_t function, NativeCall& call) {
  ProcessCall message{.function = function};
  const auto add = [&message](const Value& value, bool is_out) {
    message.blocks.push_back({.bytes = value.bytes(), .is_out = is_out});
    message.types.push_back(value.type());
    message.shapes.push_back(value.shape());
  };
  for (const Value& value : call.in) add(value, false);
  for (const Value& value : call.out) add(value, true);
  message.numbers.assign(call.scalars.begin(), call.scalars.end());
  message.region_bytes = PlaceBlocks(absl::MakeSpan(message.blocks));
  if (message.blocks != placed_) {
    if (!region_.Grow(message.region_bytes)) {
      return {.kind = ProcessOutcome::Kind::kNoMemory};
    }
    region_.FillSlack(message.blocks);
    placed_ = message.blocks;
  }
  for (size_t i = 0; i < call.in.size(); ++i) {
    std::memcpy(region_.At(placed_[i].data), call.in[i].data(),
                static_cast<size_t>(placed_[i].bytes));
  }
  const std::string encoded = message.Encode();
  if (encoded.size() > kProcessMessageBytesMax) {
    return {ProcessOutcome::Kind::kWrong, "has too many arguments"};
  }
  if (!Send(encoded)) return {.kind = ProcessOutcome::Kind::kLost};
  const auto reply = ProcessReply::Decode(Receive());
  if (reply.ok() && reply->kind == ProcessReply::Kind::kFault &&
      reply->place == ProcessReply::Place::kSystemCall) {
    return {ProcessOutcome::Kind::kWrong, RefusedWords(*reply)};
  }
  if (!reply.ok() || reply->kind == ProcessReply::Kind::kFault) {
    std::string words = WordsOfEnd(reply.ok() ? *reply : ProcessReply(), call);
    return {ProcessOutcome::Kind::kDied, std::move(words), was_killed_};
  }
  if (reply->kind != ProcessReply::Kind::kDone) return OutcomeOf(*reply);
  if (const auto written = region_.FindWritten(placed_)) {
    return {ProcessOutcome::Kind::kWrong,
            absl::StrCat("wrote ", PlaceWords(*written, call))};
  }
  for (size_t o = 0; o < call.out.size(); ++o) {
    const RegionBlock& block = placed_[call.in.size() + o];
    std::memcpy(call.out[o].mutable_data(), region_.At(block.data),
                static_cast<size_t>(block.bytes));
  }
  return {};
}

}  // namespace dogged
