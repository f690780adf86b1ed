// Aim: kernels come from this user's own cache and from nowhere else, and a
// compiler that hangs can be ended. Method: folders of every mode, and a
// compiler that waits at a pipe.
#include "runtime/exec/kernels/kernel_library.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
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
