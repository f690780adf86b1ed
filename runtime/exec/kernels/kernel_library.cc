#include "runtime/exec/kernels/kernel_library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "runtime/base/hash.h"
#include "runtime/base/status.h"
#include "runtime/exec/kernels/c_kernel.h"
#include "runtime/exec/kernels/compile_turn.h"

extern char** environ;

namespace dogged {
namespace {

namespace fs = std::filesystem;

// No contraction, no folding of libm, wrapping integers: see EmitC().
constexpr std::array<const char*, 8> kFlags = {
    "-std=c11", "-O3",   "-march=native", "-ffp-contract=off",
    "-fwrapv",  "-fPIC", "-fno-builtin",  "-shared"};

// Longer than most kernels take, and shorter than agents wait for each other's.
constexpr absl::Duration kTurnPatience = absl::Seconds(8);

// Text of the CPU's properties that -march=native depends on.
std::string CpuText() {
  std::ifstream in("/proc/cpuinfo");
  std::string out;
  for (std::string line; std::getline(in, line) && !line.empty();) {
    if (absl::StartsWith(line, "model name") ||
        absl::StartsWith(line, "flags") || absl::StartsWith(line, "Features")) {
      absl::StrAppend(&out, line, "\n");
    }
  }
  return out;
}

absl::StatusOr<KernelCompiler::Symbols> Open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): it is per thread in glibc.
    return absl::InternalError(
        absl::StrCat("cannot load ", path, ": ", dlerror()));
  }
  const std::shared_ptr<void> library(handle, [](void* h) { dlclose(h); });
  return [library](const std::string& name) {
    return dlsym(library.get(), name.c_str());
  };
}

// A library of the user's own in this process.
class LoadedLibrary : public KernelLibrary {
 public:
  LoadedLibrary(std::string name, void* handle)
      : name_(std::move(name)), handle_(handle) {}
  ~LoadedLibrary() override { dlclose(handle_); }

  absl::Status Find(const std::string& function) {
    functions_[function] = dlsym(handle_, function.c_str());
    if (functions_[function] != nullptr) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat(name_, " has no function ", function));
  }
  absl::Status Call(const std::string& function, NativeCall& call) override {
    std::vector<CBlock> in;
    std::vector<CBlock> out;
    for (const Value& value : call.in) {
      // The function gets it as const.
      in.push_back(
          {const_cast<void*>(value.data()), value.type(), value.shape()});
    }
    for (Value& value : call.out) {
      out.push_back({value.mutable_data(), value.type(), value.shape()});
    }
    const std::string wrong =
        CallC(functions_.at(function), in, out, call.scalars);
    if (wrong.empty()) return absl::OkStatus();
    return absl::InternalError(
        absl::StrCat("kernel ", function, " of ", name_, " ", wrong));
  }

 private:
  const std::string name_;
  void* const handle_;
  std::map<std::string, void*> functions_;
};

// A new file beside `path`, whose name nobody else has.
absl::StatusOr<std::string> TemporaryFile(const std::string& path,
                                          const std::string& suffix) {
  std::string name = absl::StrCat(path, ".XXXXXX", suffix);
  const int fd =
      mkostemps(name.data(), static_cast<int>(suffix.size()), O_CLOEXEC);
  if (fd < 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot write ", name, ": ", strerror(errno)));
  }
  close(fd);
  return name;
}

absl::Status WriteFile(const std::string& path, absl::string_view content) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  out.close();
  if (out.good()) return absl::OkStatus();
  return absl::UnavailableError(
      absl::StrCat("cannot write ", path, ": ", strerror(errno)));
}

// How a process ended that did not end well.
std::string EndWords(int status) {
  if (!WIFSIGNALED(status)) {
    return absl::StrCat("failed with exit status ", WEXITSTATUS(status));
  }
  const char* const name = sigdescr_np(WTERMSIG(status));
  return absl::StrCat("was ended by signal ", WTERMSIG(status), " (",
                      name == nullptr ? "unknown" : name, ")");
}

// The first line of a compiler's output that tells of an error, else the first.
std::string CauseIn(absl::string_view output) {
  constexpr size_t kBytesMax = 500;
  const std::vector<absl::string_view> lines =
      absl::StrSplit(output, '\n', absl::SkipWhitespace());
  absl::string_view out = lines.empty() ? "" : lines.front();
  for (const absl::string_view line : lines) {
    if (!absl::StrContains(line, "error")) continue;
    out = line;
    break;
  }
  return std::string(out.substr(0, kBytesMax));
}

}  // namespace

std::string KernelCacheDirectory(absl::string_view xdg_cache_home,
                                 absl::string_view home) {
  if (!xdg_cache_home.empty()) return absl::StrCat(xdg_cache_home, "/dogged");
  if (!home.empty()) return absl::StrCat(home, "/.cache/dogged");
  return absl::StrCat("/tmp/dogged-", getuid());
}

// Runs a program and returns its output on both streams. kUnavailable if it
// can't be started, kInternal if it fails.
absl::StatusOr<std::string> KernelCompiler::RunProgram(
    const std::vector<std::string>& words) const {
  std::vector<char*> argv;
  for (const std::string& word : words) {
    argv.push_back(const_cast<char*>(word.c_str()));
  }
  argv.push_back(nullptr);
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return absl::UnavailableError(absl::StrCat("pipe: ", strerror(errno)));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  // A group of its own: Interrupt() ends the compiler and all it started.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, &attributes,
                                 argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) {
    child_ = child;
    if (interrupted_) kill(-child, SIGTERM);
  }
  close(ends[1]);
  std::string output;
  if (error == 0) {
    std::array<char, 4096> buffer;
    ssize_t size;
    while ((size = read(ends[0], buffer.data(), buffer.size())) > 0 ||
           (size < 0 && errno == EINTR)) {
      if (size > 0) output.append(buffer.data(), static_cast<size_t>(size));
    }
  }
  close(ends[0]);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat(words[0], ": ", strerror(error)));
  }
  // The PID is not given to another process before waitpid.
  siginfo_t ended;
  while (waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT) <
             0 &&
         errno == EINTR) {
  }
  child_ = 0;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (interrupted_) {
    return absl::CancelledError(absl::StrCat(words[0], " was interrupted"));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    const std::string said = CauseIn(output);
    return absl::InternalError(
        absl::StrCat(words[0], " ", EndWords(status),
                     said.empty() ? ", without a word" : ": ", said));
  }
  return output;
}

// Leaves the library at `path` + ".so" and the source at `path` + ".c".
absl::Status KernelCompiler::Build(absl::string_view source,
                                   const std::string& path) const {
  DOGGED_ASSIGN_OR_RETURN(const std::string c_file, TemporaryFile(path, ".c"));
  auto library = TemporaryFile(path, ".so");
  absl::Status status = library.status();
  if (status.ok()) status = WriteFile(c_file, source);
  if (status.ok()) {
    std::vector<std::string> words = {options_.compiler};
    words.insert(words.end(), kFlags.begin(), kFlags.end());
    words.insert(words.end(), {"-o", *library, c_file, "-lm"});
    status = RunProgram(words).status();
  }
  if (status.ok() && (rename(c_file.c_str(), (path + ".c").c_str()) != 0 ||
                      rename(library->c_str(), (path + ".so").c_str()) != 0)) {
    status = absl::UnavailableError(
        absl::StrCat("cannot rename to ", path, ".so: ", strerror(errno)));
  }
  if (!status.ok()) {
    unlink(c_file.c_str());
    if (library.ok()) unlink(library->c_str());
  }
  return status;
}

void KernelCompiler::Interrupt() const {
  interrupted_ = true;
  const int child = child_;
  if (child > 0) kill(-child, SIGTERM);
}

// A library of the cache is code that runs here: nobody else may put one in.
absl::Status KernelCompiler::PrepareCache() const {
  const std::string& folder = options_.cache_directory;
  std::error_code error;
  fs::create_directories(fs::path(folder).parent_path(), error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::UnavailableError(
        absl::StrCat("cannot make ", folder, ": ", strerror(errno)));
  }
  struct stat status = {};
  if (lstat(folder.c_str(), &status) != 0) {
    return absl::UnavailableError(
        absl::StrCat("cannot read ", folder, ": ", strerror(errno)));
  }
  const bool is_link = S_ISLNK(status.st_mode);
  // A user's own link to a folder elsewhere is fine; that folder is checked.
  if (is_link && status.st_uid == geteuid()) stat(folder.c_str(), &status);
  if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
      (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return absl::UnavailableError(absl::StrCat(
        folder,
        " is not a folder that you own and nobody else may write to; "
        "kernels are not taken from there: remove it, or set XDG_CACHE_HOME"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<KernelLibrary>> KernelCompiler::LoadHere(
    const KernelLibrarySpec& spec) const {
  DOGGED_RETURN_IF_ERROR(PrepareCache());
  const std::string path = absl::StrCat(options_.cache_directory, "/",
                                        Hash128(spec.content).ToString());
  DOGGED_ASSIGN_OR_RETURN(const std::string file, TemporaryFile(path, ".so"));
  absl::Status status = WriteFile(file, spec.content);
  void* const handle =
      status.ok() ? dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (status.ok() && handle == nullptr) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): it is per thread in glibc.
    std::string why = dlerror();
    // The name of the copy means nothing to users.
    if (absl::StartsWith(why, file)) why = why.substr(file.size() + 2);
    status = absl::InvalidArgumentError(
        absl::StrCat(spec.name, ": can't be loaded: ", why));
  }
  // Mapped: the file is not needed any more.
  unlink(file.c_str());
  if (!status.ok()) return status;
  auto out = std::make_shared<LoadedLibrary>(spec.name, handle);
  for (const std::string& function : spec.functions) {
    DOGGED_RETURN_IF_ERROR(out->Find(function));
  }
  return out;
}

absl::StatusOr<KernelCompiler::Symbols> KernelCompiler::Load(
    absl::string_view source) const {
  DOGGED_RETURN_IF_ERROR(PrepareCache());
  std::error_code error;
  DOGGED_ASSIGN_OR_RETURN(const std::string version,
                          RunProgram({options_.compiler, "--version"}));
  std::string key = absl::StrCat(source, "\n", version, "\n", CpuText());
  for (const char* flag : kFlags) absl::StrAppend(&key, flag, " ");
  const std::string path =
      absl::StrCat(options_.cache_directory, "/", Hash128(key).ToString());
  if (fs::exists(path + ".so", error)) {
    auto cached = Open(path + ".so");
    if (cached.ok()) return cached;
    // A file that a full disk cut short: make it again.
  }
  const CompileTurn turn(path + ".so", kTurnPatience,
                         [this] { return interrupted_.load(); });
  if (interrupted_) {
    return absl::CancelledError(
        absl::StrCat(options_.compiler, " was interrupted"));
  }
  if (fs::exists(path + ".so", error)) {
    auto made = Open(path + ".so");
    if (made.ok()) return made;
  }
  DOGGED_RETURN_IF_ERROR(Build(source, path));
  return Open(path + ".so");
}

}  // namespace dogged
