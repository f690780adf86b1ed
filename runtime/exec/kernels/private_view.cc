#include "runtime/exec/kernels/private_view.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

// An empty root is mounted over this folder, which each Linux has and which
// holds no libraries, before it becomes the root.
constexpr char kRoot[] = "/dev";
// Where a process finds its own descriptors; the library is opened there.
constexpr char kDescriptors[] = "/proc/self/fd";
constexpr int kSpaces =
    CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
// Threads of a kernel, where they are counted for its namespace alone.
constexpr rlim_t kThreadsMax = 256;

std::string Why(const char* what) {
  return absl::StrCat(what, ": ", strerror(errno));
}

bool Write(const char* path, const std::string& text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done =
      write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(fd);
  return done;
}

// `path` and the folders above it, below the current folder.
void MakeFolders(const std::string& path) {
  for (size_t at = path.find('/', 1); at != std::string::npos;
       at = path.find('/', at + 1)) {
    mkdir(absl::StrCat(".", path.substr(0, at)).c_str(), 0755);
  }
  mkdir(absl::StrCat(".", path).c_str(), 0755);
}

// Shows `path` of the old root at the same place below the current folder.
// False if that fails.
bool Show(const std::string& path) {
  struct stat status = {};
  if (lstat(path.c_str(), &status) != 0) return true;  // this host has none
  const std::string there = absl::StrCat(".", path);
  const std::string parent = path.substr(0, path.rfind('/'));
  if (!parent.empty()) MakeFolders(parent);
  if (S_ISLNK(status.st_mode)) {
    std::array<char, 4096> target = {};
    if (readlink(path.c_str(), target.data(), target.size() - 1) < 0) {
      return false;
    }
    return symlink(target.data(), there.c_str()) == 0;
  }
  if (S_ISDIR(status.st_mode)) {
    mkdir(there.c_str(), 0755);
  } else {
    close(open(there.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
  }
  return mount(path.c_str(), there.c_str(), nullptr, MS_BIND | MS_REC,
               nullptr) == 0;
}

// The new root takes the old one's place.
bool TakeRoot() {
  if (syscall(SYS_pivot_root, ".", ".") == 0) {
    return umount2(".", MNT_DETACH) == 0 && chdir("/") == 0;
  }
  // The first root of a computer can't be left, but hidden.
  return mount(".", "/", nullptr, MS_MOVE, nullptr) == 0 && chroot(".") == 0 &&
         chdir("/") == 0;
}

// Why there are none; empty if there are.
std::string EnterNamespaces(absl::Span<const std::string> folders) {
  const std::string user = absl::StrCat(geteuid(), " ", geteuid(), " 1");
  const std::string group = absl::StrCat(getegid(), " ", getegid(), " 1");
  const bool has_users = unshare(CLONE_NEWUSER | kSpaces) == 0;
  // Root may do without a namespace of users.
  if (!has_users && unshare(kSpaces) != 0) return Why("no namespaces");
  if (has_users) {
    Write("/proc/self/setgroups", "deny");
    if (!Write("/proc/self/uid_map", user) ||
        !Write("/proc/self/gid_map", group)) {
      return Why("no users in a namespace");
    }
  }
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("none", kRoot, "tmpfs", MS_NOSUID | MS_NODEV,
            "size=64k,mode=0755") != 0 ||
      chdir(kRoot) != 0) {
    return Why("no root of its own");
  }
  for (const std::string& folder : folders) {
    if (!Show(folder)) return Why(folder.c_str());
  }
  if (!Show(kDescriptors) || !TakeRoot()) return Why("no root of its own");
  // Nothing is written anyway, for no file can be opened for that.
  mount_attr read_only = {};
  read_only.attr_set = MOUNT_ATTR_RDONLY;
  mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &read_only, sizeof(read_only));
  if (has_users) {
    const rlimit threads = {kThreadsMax, kThreadsMax};
    setrlimit(RLIMIT_NPROC, &threads);
  }
  return "";
}

// Likewise.
std::string EnterLandlock(absl::Span<const std::string> folders) {
  constexpr uint64_t kReads =
      LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
  landlock_ruleset_attr all = {};
  // All rights of its first version.
  all.handled_access_fs = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;
  const int rules = static_cast<int>(
      syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0));
  if (rules < 0) return Why("no Landlock");
  for (const std::string& folder : folders) {
    landlock_path_beneath_attr rule = {};
    rule.parent_fd = open(folder.c_str(), O_PATH | O_CLOEXEC);
    if (rule.parent_fd < 0) continue;  // this host has none
    struct stat status = {};
    fstat(rule.parent_fd, &status);
    rule.allowed_access = S_ISDIR(status.st_mode)
                              ? kReads
                              : kReads & ~LANDLOCK_ACCESS_FS_READ_DIR;
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
  }
  const bool done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
  const std::string why = done ? "" : Why("no Landlock");
  close(rules);
  return why;
}

void DropRights() {
  __user_cap_header_struct header = {};
  header.version = _LINUX_CAPABILITY_VERSION_3;
  const std::array<__user_cap_data_struct, 2> none = {};
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  syscall(SYS_capset, &header, none.data());
  // A change of rights may have undone that the parent's end ends this process.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

// Without those that stand below another one.
std::vector<std::string> Uppermost(absl::Span<const std::string> folders) {
  std::vector<std::string> sorted(folders.begin(), folders.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::string> out;
  for (const std::string& folder : sorted) {
    const bool is_below = std::any_of(
        out.begin(), out.end(), [&folder](const std::string& other) {
          return folder == other ||
                 absl::StartsWith(folder, absl::StrCat(other, "/"));
        });
    if (!is_below) out.push_back(folder);
  }
  return out;
}

}  // namespace

PrivateView EnterPrivateView(absl::Span<const std::string> folders) {
  const std::vector<std::string> shown = Uppermost(folders);
  PrivateView out;
  out.no_namespaces = EnterNamespaces(shown);
  out.no_landlock = EnterLandlock(shown);
  DropRights();
  return out;
}

}  // namespace dogged
