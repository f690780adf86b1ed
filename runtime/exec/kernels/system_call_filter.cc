#include "runtime/exec/kernels/system_call_filter.h"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/exec/kernels/kernel_process_messages.h"

namespace dogged {
namespace {

// Calls that may be made with any arguments. Without conditions Linux decides
// in constant time (5.11 and later): the calls of each kernel call are here.
constexpr std::array kAllowed = {
    "access",
    "alarm",
    "arch_prctl",
    "brk",
    "clock_getres",
    "clock_gettime",
    "clock_nanosleep",
    "close",
    "exit",
    "exit_group",
    "faccessat",
    "faccessat2",
    "fadvise64",
    "fstat",
    "fstatfs",
    "futex",
    "get_robust_list",
    "getcpu",
    "getcwd",
    "getdents",
    "getdents64",
    "getegid",
    "geteuid",
    "getgid",
    "getitimer",
    "getpgrp",
    "getpid",
    "getppid",
    "getpriority",
    "getrandom",
    "getrlimit",
    "getrusage",
    "gettid",
    "gettimeofday",
    "getuid",
    "lstat",
    "madvise",
    "membarrier",
    "mincore",
    "mprotect",
    "mremap",
    "munmap",
    "nanosleep",
    "newfstatat",
    "pause",
    "poll",
    "ppoll",
    "pread64",
    "preadv",
    "pselect6",
    "read",
    "readahead",
    "readlink",
    "readlinkat",
    "readv",
    "recv",
    "recvfrom",
    "restart_syscall",
    "riscv_flush_icache",
    "rseq",
    "rt_sigaction",
    "rt_sigpending",
    "rt_sigprocmask",
    "rt_sigreturn",
    "rt_sigsuspend",
    "rt_sigtimedwait",
    "sched_get_priority_max",
    "sched_get_priority_min",
    "sched_getaffinity",
    "sched_getparam",
    "sched_getscheduler",
    "sched_yield",
    "select",
    "send",
    "sendto",
    "set_robust_list",
    "set_tid_address",
    "setitimer",
    "sigaltstack",
    "sigreturn",
    "stat",
    "statfs",
    "statx",
    "sysinfo",
    "time",
    "times",
    "ugetrlimit",
    "uname",
};

struct Refusal {
  const char* name;
  int error;
};

// Calls that libraries try, and do without.
constexpr std::array kRefused = {
    Refusal{"chdir", EACCES},
    Refusal{"clone3", ENOSYS},  // clone() has flags that a filter can see
    Refusal{"fchdir", EACCES},
    Refusal{"get_mempolicy", ENOSYS},
    Refusal{"io_uring_setup", ENOSYS},
    Refusal{"mbind", ENOSYS},
    Refusal{"memfd_create", ENOSYS},
    Refusal{"mlock", EPERM},
    Refusal{"mlock2", EPERM},
    Refusal{"munlock", EPERM},
    Refusal{"openat2", ENOSYS},
    Refusal{"pkey_alloc", ENOSYS},
    Refusal{"pkey_mprotect", ENOSYS},
    Refusal{"sched_setparam", EPERM},
    Refusal{"sched_setscheduler", EPERM},
    Refusal{"set_mempolicy", ENOSYS},
    Refusal{"setpriority", EPERM},
    Refusal{"setrlimit", EPERM},
    Refusal{"wait4", ECHILD},
    Refusal{"waitid", ECHILD},
};

scmp_arg_cmp Is(unsigned position, uint64_t value) {
  return {position, SCMP_CMP_EQ, value, 0};
}

scmp_arg_cmp Has(unsigned position, uint64_t mask, uint64_t value) {
  return {position, SCMP_CMP_MASKED_EQ, mask, value};
}

// Arguments that are of type int.
scmp_arg_cmp IsInt(unsigned position, int value) {
  return Has(position, 0xffffffff, static_cast<uint32_t>(value));
}

// A filter in the making.
class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_TRAP), seccomp_release) {}

  // A name that this processor's Linux has not is left out.
  void Add(uint32_t action, const char* name,
           const std::vector<scmp_arg_cmp>& conditions = {}) {
    const int number = seccomp_syscall_resolve_name(name);
    if (number == __NR_SCMP_ERROR || context_ == nullptr) return;
    const int error = seccomp_rule_add_array(
        context_.get(), action, number,
        static_cast<unsigned>(conditions.size()), conditions.data());
    if (error != 0 && error_ == 0) error_ = -error;
  }
  void Allow(const char* name,
             const std::vector<scmp_arg_cmp>& conditions = {}) {
    Add(SCMP_ACT_ALLOW, name, conditions);
  }
  void Refuse(const char* name, int error,
              const std::vector<scmp_arg_cmp>& conditions = {}) {
    Add(SCMP_ACT_ERRNO(static_cast<unsigned>(error)), name, conditions);
  }
  // 0, or the system's error.
  int Load() {
    if (context_ == nullptr) return ENOMEM;
    if (error_ != 0) return error_;
    // A binary tree, and no slower code for fear of speculation: the kernel has
    // no secrets in this process.
    seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_OPTIMIZE, 2);
    seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_SSB, 1);
    return -seccomp_load(context_.get());
  }

 private:
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> context_;
  int error_ = 0;
};

void AddFiles(Filter& filter) {
  constexpr uint64_t kSharedMemory = MAP_SHARED | MAP_ANONYMOUS;
  // Bits of open() that mean more than to read.
  constexpr uint64_t kWrites =
      O_ACCMODE | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY);
  filter.Allow("open", {Has(1, kWrites, 0)});
  filter.Allow("openat", {Has(2, kWrites, 0)});
  for (const char* const name : {"write", "writev"}) {
    filter.Allow(name, {IsInt(0, STDOUT_FILENO)});
    filter.Allow(name, {IsInt(0, STDERR_FILENO)});
  }
  // The agent's log is open here too: no other place in it, and no other mode.
  filter.Refuse("lseek", ESPIPE, {{0, SCMP_CMP_LE, STDERR_FILENO, 0}});
  filter.Allow("lseek", {{0, SCMP_CMP_GT, kProcessLibrary, 0}});
  for (const int command : {F_GETFD, F_SETFD, F_GETFL}) {
    filter.Allow("fcntl", {IsInt(1, command)});
  }
  for (const int command : {F_SETFL, F_DUPFD, F_DUPFD_CLOEXEC}) {
    filter.Refuse("fcntl", EPERM, {IsInt(1, command)});
  }
  filter.Allow("ioctl", {IsInt(1, TCGETS)});
  filter.Refuse("ioctl", ENOTTY, {{1, SCMP_CMP_NE, TCGETS, 0}});
  for (const char* const name : {"mmap", "mmap2"}) {
    // Memory that is counted against the limit: no other grows.
    filter.Allow(name, {Has(3, MAP_SHARED | MAP_GROWSDOWN, 0)});
    filter.Refuse(name, ENOMEM, {Has(3, kSharedMemory, kSharedMemory)});
    filter.Allow(name,
                 {Has(3, kSharedMemory, MAP_SHARED), IsInt(4, kProcessRegion)});
    // Files of the C library, say of locales, which were opened to be read.
    filter.Allow(name, {Has(2, PROT_WRITE, 0),
                        Has(3, kSharedMemory, MAP_SHARED),
                        {4, SCMP_CMP_GT, kProcessLibrary, 0}});
  }
}

void AddProcesses(Filter& filter) {
  filter.Allow("clone", {Has(0, CLONE_THREAD, CLONE_THREAD)});
  // Signals of its own: abort(), raise().
  for (const char* const name : {"kill", "tgkill"}) {
    filter.Allow(name, {IsInt(0, getpid())});
  }
  for (const int option : {PR_SET_NAME, PR_GET_NAME, PR_GET_NO_NEW_PRIVS,
                           PR_GET_SECCOMP, PR_GET_DUMPABLE}) {
    filter.Allow("prctl", {IsInt(0, option)});
  }
  constexpr int kNameMemory = 0x53564d41;  // PR_SET_VMA: allocators try it
  filter.Refuse("prctl", EINVAL, {IsInt(0, kNameMemory)});
  filter.Allow("prlimit64", {IsInt(0, 0), Is(2, 0)});
  filter.Refuse("prlimit64", EPERM, {{2, SCMP_CMP_NE, 0, 0}});
  filter.Allow("sched_setaffinity", {IsInt(0, 0)});
  filter.Refuse("sched_setaffinity", EPERM, {{0, SCMP_CMP_NE, 0, 0}});
}

}  // namespace

absl::Status FilterSystemCalls() {
  Filter filter;
  for (const char* const name : kAllowed) filter.Allow(name);
  for (const Refusal& refusal : kRefused) {
    filter.Refuse(refusal.name, refusal.error);
  }
  AddFiles(filter);
  AddProcesses(filter);
  const int error = filter.Load();
  if (error == 0) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("no filter of system calls: ", strerror(error)));
}

std::string SystemCallName(int number) {
  const std::unique_ptr<char, void (*)(void*)> name(
      seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, number), std::free);
  return name == nullptr ? absl::StrCat("number ", number) : name.get();
}

}  // namespace dogged
