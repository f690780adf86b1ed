#include "runtime/exec/kernels/kernel_jail.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/kernels/private_view.h"
#include "runtime/exec/kernels/system_call_filter.h"

namespace dogged {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kCanLimitMemory = false;  // sanitizers map as much as there is
#else
constexpr bool kCanLimitMemory = true;
#endif

constexpr rlim_t kDescriptorsMax = 64;
// Bytes that a kernel may print to a log that is a file.
constexpr rlim_t kPrintedMax = rlim_t{64} << 20;

void Limit(__rlimit_resource resource, rlim_t most) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, most);
  limit.rlim_max = std::min(limit.rlim_max, most);
  setrlimit(resource, &limit);
}

// Adds the folders that the loader's configuration names.
void AddConfigured(std::vector<std::string>& folders) {
  std::vector<std::filesystem::path> files = {"/etc/ld.so.conf"};
  std::error_code ignored;
  for (const auto& file :
       std::filesystem::directory_iterator("/etc/ld.so.conf.d", ignored)) {
    files.push_back(file.path());
  }
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      if (absl::StartsWith(line, "/")) folders.push_back(line);
    }
  }
}

// Folders in which the loader finds libraries that a library needs: those of
// the system, and of LD_LIBRARY_PATH. Debian chooses among libraries of one
// name by links in /etc/alternatives.
std::vector<std::string> LibraryFolders() {
  std::vector<std::string> out = {"/etc/alternatives",
                                  "/etc/ld.so.cache",
                                  "/lib",
                                  "/lib32",
                                  "/lib64",
                                  "/opt",
                                  "/usr/lib",
                                  "/usr/lib32",
                                  "/usr/lib64",
                                  "/usr/local/lib",
                                  "/usr/local/lib32",
                                  "/usr/local/lib64"};
  AddConfigured(out);
  void* const self = dlopen(nullptr, RTLD_NOW);
  Dl_serinfo size = {};
  if (self == nullptr || dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) {
    return out;
  }
  std::vector<char> memory(size.dls_size);
  auto* const list = reinterpret_cast<Dl_serinfo*>(memory.data());
  if (dlinfo(self, RTLD_DI_SERINFOSIZE, list) != 0 ||
      dlinfo(self, RTLD_DI_SERINFO, list) != 0) {
    return out;
  }
  for (unsigned i = 0; i < list->dls_cnt; ++i) {
    std::string folder = list->dls_serpath[i].dls_name;
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    if (folder.size() > 1 && folder.front() == '/') out.push_back(folder);
  }
  return out;
}

}  // namespace

absl::StatusOr<std::string> KernelJail::Enter() const {
  if (!is_on) return "";
  std::vector<std::string> folders = LibraryFolders();
  for (size_t i = 0, count = folders.size(); i < count; ++i) {
    std::error_code ignored;
    const std::string real =
        std::filesystem::canonical(folders[i], ignored).string();
    if (!real.empty() && real != folders[i]) folders.push_back(real);
  }
  const PrivateView view = EnterPrivateView(folders);
  struct stat printed = {};
  const bool is_file =
      fstat(STDERR_FILENO, &printed) == 0 && S_ISREG(printed.st_mode);
  signal(SIGXFSZ, SIG_IGN);
  Limit(RLIMIT_FSIZE,
        (is_file ? static_cast<rlim_t>(printed.st_size) : 0) + kPrintedMax);
  Limit(RLIMIT_CORE, 0);
  Limit(RLIMIT_NOFILE, kDescriptorsMax);
  if (kCanLimitMemory && memory_bytes_max > 0) {
    Limit(RLIMIT_DATA, static_cast<rlim_t>(memory_bytes_max));
  }
  DOGGED_RETURN_IF_ERROR(FilterSystemCalls());
  if (view.HidesFiles()) return "";
  return absl::StrCat("kernels of users can read files of this user here (",
                      view.no_namespaces, "; ", view.no_landlock, ")");
}

}  // namespace dogged
