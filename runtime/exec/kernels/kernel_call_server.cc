#include "runtime/exec/kernels/kernel_call_server.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/exec/kernels/c_kernel.h"
#include "runtime/exec/kernels/kernel_process_messages.h"
#include "runtime/exec/kernels/kernel_region.h"

namespace dogged {
namespace {

// All that the signal handler knows.
struct FaultState {
  const char* region = nullptr;
  int64_t region_bytes = 0;
  const char* stack_top = nullptr;
  int64_t stack_bytes = 0;  // 0: no bound
  alignas(64) std::array<char, 64 << 10> stack;
};

FaultState& StateOfFaults() {
  static FaultState state;
  return state;
}

// Says where the bad address lies, or which system call was refused, then lets
// the signal end the process.
extern "C" void HandleFault(int number, siginfo_t* info, void*) {
  const FaultState& state = StateOfFaults();
  const auto* address = static_cast<const char*>(info->si_addr);
  ProcessReply reply{.kind = ProcessReply::Kind::kFault};
  if (number == SIGSYS) {
    reply.place = ProcessReply::Place::kSystemCall;
    reply.offset = static_cast<uint64_t>(info->si_syscall);
  } else if (address >= state.region &&
             address < state.region + state.region_bytes) {
    reply.place = ProcessReply::Place::kRegion;
    reply.offset = static_cast<uint64_t>(address - state.region);
  } else if (address < state.stack_top && state.stack_bytes > 0 &&
             state.stack_top - address < state.stack_bytes) {
    reply.place = ProcessReply::Place::kStack;
  }
  const ProcessReply::Head head = reply.EncodeHead();
  const bool is_fault = info->si_code > 0;  // not sent by a process
  if (is_fault &&
      send(kProcessSocket, head.data(), head.size(), MSG_NOSIGNAL) < 0) {
    _exit(1);  // nobody is there
  }
  signal(number, SIG_DFL);
  raise(number);
}

void CatchFaults() {
  FaultState& state = StateOfFaults();
  state.stack_top = static_cast<const char*>(__builtin_frame_address(0));
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    // The system keeps a gap of 1 MB below it.
    state.stack_bytes = static_cast<int64_t>(limit.rlim_cur) + (1 << 20);
  }
  stack_t stack{};
  stack.ss_sp = state.stack.data();
  stack.ss_size = state.stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = HandleFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
  sigaction(SIGSYS, &action, nullptr);
}

// Empty at the end.
std::string Receive() {
  std::array<char, kProcessMessageBytesMax> buffer;
  ssize_t size = 0;
  do {
    size = recv(kProcessSocket, buffer.data(), buffer.size(), 0);
  } while (size < 0 && errno == EINTR);
  return std::string(buffer.data(),
                     static_cast<size_t>(std::max<ssize_t>(0, size)));
}

bool Reply(const ProcessReply& reply) {
  const std::string message = reply.Encode();
  return send(kProcessSocket, message.data(), message.size(), MSG_NOSIGNAL) >=
         0;
}

// The functions of the library, or its defect in words.
ProcessReply Load(absl::Span<const std::string> names,
                  std::vector<void*>& functions) {
  if (names.empty()) return {};
  const std::string path = absl::StrCat("/proc/self/fd/", kProcessLibrary);
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): it is per thread in glibc.
    std::string why = dlerror();
    // The name of a descriptor means nothing to users.
    if (absl::StartsWith(why, path)) why = why.substr(path.size() + 2);
    return {.kind = ProcessReply::Kind::kWrong,
            .words = absl::StrCat(": can't be loaded: ", why)};
  }
  for (const std::string& name : names) {
    functions.push_back(dlsym(library, name.c_str()));
    if (functions.back() == nullptr) {
      return {.kind = ProcessReply::Kind::kWrong,
              .words = absl::StrCat(" has no function ", name)};
    }
  }
  return {};
}

class CallServer {
 public:
  explicit CallServer(std::vector<void*> functions)
      : functions_(std::move(functions)), region_(kProcessRegion) {}

  ProcessReply Run(const ProcessCall& call) {
    if (call.function >= functions_.size()) {
      return {.kind = ProcessReply::Kind::kWrong, .words = "is not known"};
    }
    if (call.blocks != guarded_) {
      if (!region_.Guard(call.region_bytes, call.blocks)) {
        return {.kind = ProcessReply::Kind::kNoMemory};
      }
      guarded_ = call.blocks;
      StateOfFaults().region = region_.At(0);
      StateOfFaults().region_bytes = region_.bytes();
    }
    std::vector<CBlock> in;
    std::vector<CBlock> out;
    for (size_t b = 0; b < call.blocks.size(); ++b) {
      (call.blocks[b].is_out ? out : in)
          .push_back({.data = region_.At(call.blocks[b].data),
                      .type = call.types[b],
                      .shape = call.shapes[b]});
    }
    ProcessReply reply;
    reply.words = CallC(functions_[call.function], in, out, call.numbers);
    if (!reply.words.empty()) reply.kind = ProcessReply::Kind::kWrong;
    return reply;
  }

 private:
  const std::vector<void*> functions_;
  RegionMapping region_;
  std::vector<RegionBlock> guarded_;
};

}  // namespace

bool ServeKernelCalls(int parent) {
  // Schedulers send these to all processes of an agent, which ends its tasks.
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) {
    signal(number, SIG_IGN);
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // No program that a kernel starts has more rights than this process.
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  int type = 0;
  socklen_t size = sizeof(type);
  if (getsockopt(kProcessSocket, SOL_SOCKET, SO_TYPE, &type, &size) != 0 ||
      type != SOCK_SEQPACKET) {
    return false;
  }
  for (const int fd : {kProcessSocket, kProcessRegion, kProcessLibrary}) {
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) return false;
  }
  if (getppid() != parent) return true;  // it ended before it could be told
  const std::string first = Receive();
  if (first.empty()) return true;  // so did the job
  const auto start = ProcessStart::Decode(first);
  if (!start.ok()) return false;
  CatchFaults();
  const auto jailed = start->jail.Enter();
  if (!jailed.ok()) {
    Reply({.kind = ProcessReply::Kind::kWrong,
           .words =
               absl::StrCat(": can't be jailed: ", jailed.status().message())});
    return true;
  }
  // The jail may have undone PR_SET_PDEATHSIG for a moment.
  if (start->jail.is_on && getppid() != parent) return true;
  std::vector<void*> functions;
  ProcessReply loaded = Load(start->functions, functions);
  if (loaded.kind == ProcessReply::Kind::kDone) loaded.words = *jailed;
  if (!Reply(loaded) || loaded.kind != ProcessReply::Kind::kDone) return true;
  CallServer server(std::move(functions));
  while (true) {
    const std::string message = Receive();
    if (message.empty()) return true;
    const auto call = ProcessCall::Decode(message);
    if (!call.ok() || !Reply(server.Run(*call))) return true;
  }
}

}  // namespace dogged
