// Aim: kernels come from this user's own cache and from nowhere else, and a
// compiler that hangs can be ended. Method: folders of every mode, and a
// compiler that waits at a pipe.
#include "runtime/exec/kernels/kernel_library.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "gmock/gmock.h"
#include "runtime/exec/kernels/compile_turn.h"
#include "tests/output/temporary_folder.h"

namespace dogged {
namespace {

using ::testing::HasSubstr;

constexpr char kSource[] = "int answer(void) { return 42; }\n";

TEST(KernelLibrary, CompilesIntoAFolderOfItsOwn) {
  const TemporaryFolder folder;
  const std::string cache = folder / "deep/cache";
  const KernelCompiler compiler({.compiler = "cc", .cache_directory = cache});
  const auto symbols = compiler.Load(kSource);
  ASSERT_TRUE(symbols.ok()) << symbols.status();
  const auto answer = reinterpret_cast<int (*)()>((*symbols)("answer"));
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(answer(), 42);
  EXPECT_EQ((*symbols)("question"), nullptr);
  struct stat status = {};
  ASSERT_EQ(stat(cache.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

// A library of the cache is code that will run here.
TEST(KernelLibrary, TakesNothingFromAFolderThatOthersMayWriteTo) {
  const TemporaryFolder folder;
  const std::string cache = folder / "cache";
  ASSERT_EQ(mkdir(cache.c_str(), 0700), 0);
  for (const mode_t mode : {0777u, 0770u, 01777u}) {
    ASSERT_EQ(chmod(cache.c_str(), mode), 0);
    const KernelCompiler compiler({.compiler = "cc", .cache_directory = cache});
    const auto symbols = compiler.Load(kSource);
    EXPECT_EQ(symbols.status().code(), absl::StatusCode::kUnavailable) << mode;
    EXPECT_THAT(
        std::string(symbols.status().message()),
        HasSubstr(absl::StrCat(cache, " is not a folder that you own")));
  }
  const std::string file = folder.Write("file", "x");
  EXPECT_EQ(KernelCompiler({.compiler = "cc", .cache_directory = file})
                .Load(kSource)
                .status()
                .code(),
            absl::StatusCode::kUnavailable);
}

// Agents of one host begin a job at the same time.
TEST(KernelLibrary, IsCompiledOnceForAllThatWantItTogether) {
  const TemporaryFolder folder;
  const std::string runs = folder / "runs";
  const std::string script = folder.Write(
      "cc", absl::StrCat("#!/bin/sh\n[ \"$1\" = --version ] || echo >>", runs,
                         "\nexec cc \"$@\"\n"));
  ASSERT_EQ(chmod(script.c_str(), 0700), 0);
  constexpr int kCompilers = 4;
  std::vector<absl::Status> statuses(kCompilers);
  std::vector<std::thread> compiling;
  for (absl::Status& status : statuses) {
    compiling.emplace_back([&] {
      const KernelCompiler compiler(
          {.compiler = script, .cache_directory = folder / "cache"});
      status = compiler.Load(kSource).status();
    });
  }
  for (std::thread& one : compiling) one.join();
  for (const absl::Status& status : statuses)
    EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(std::filesystem::file_size(runs), 1u);
}

// A turn that is given up, as its holder dies, is another's, and none waits for
// a holder that hangs.
TEST(CompileTurn, EndsWithTheFileTheHolderOrPatience) {
  const TemporaryFolder folder;
  const std::string path = folder / "kernel.so";
  const auto never = [] { return false; };
  auto held =
      std::make_unique<CompileTurn>(path, absl::InfiniteDuration(), never);
  { const CompileTurn impatient(path, absl::Milliseconds(1), never); }
  {
    const CompileTurn told(path, absl::InfiniteDuration(), [] { return true; });
  }
  for (const bool is_made : {false, true}) {
    absl::Notification waits;
    std::unique_ptr<CompileTurn> next;
    std::thread waiting([&] {
      next = std::make_unique<CompileTurn>(path, absl::InfiniteDuration(),
                                           [&waits] {
                                             if (!waits.HasBeenNotified())
                                               waits.Notify();
                                             return false;
                                           });
    });
    waits.WaitForNotification();
    if (is_made) {
      std::filesystem::rename(folder.Write("made", "x"), path);
      waiting.join();  // though the holder still has its turn
      held.reset();
    } else {
      held.reset();
      waiting.join();
      held = std::move(next);
    }
  }
}

TEST(KernelLibrary, ACompilerThatHangsIsEnded) {
  const TemporaryFolder folder;
  const std::string gate = folder / "gate";
  ASSERT_EQ(mkfifo(gate.c_str(), 0600), 0);
  const std::string script = folder.Write(
      "cc", absl::StrCat("#!/bin/sh\n[ \"$1\" = --version ] || cat ", gate,
                         "\nexec cc \"$@\"\n"));
  ASSERT_EQ(chmod(script.c_str(), 0700), 0);
  const KernelCompiler compiler(
      {.compiler = script, .cache_directory = folder / "cache"});
  absl::Status status;
  std::thread compiling([&] { status = compiler.Load(kSource).status(); });
  const int open_gate = open(gate.c_str(), O_WRONLY);  // it waits there now
  compiler.Interrupt();
  compiling.join();
  close(open_gate);
  EXPECT_EQ(status.code(), absl::StatusCode::kCancelled) << status;
  EXPECT_EQ(compiler.Load(kSource).status().code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace dogged
