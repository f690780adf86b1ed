// Aim: a file is written whole or stays as it was; every error names the file.
// Method: a file-size limit in a child, folders, pipes, links, modes.
#include "apps/output/file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/output/temporary_folder.h"

namespace dogged {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::Status Write(absl::string_view path, absl::string_view content) {
  const absl::string_view pieces[] = {content.substr(0, content.size() / 2),
                                      content.substr(content.size() / 2)};
  return WriteWholeFile(path, pieces);
}

TEST(File, IsWrittenWholeAndReplaced) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  ASSERT_TRUE(Write(path, "a longer content").ok());
  EXPECT_EQ(ContentOf(path), "a longer content");
  ASSERT_TRUE(Write(path, "short").ok());
  EXPECT_EQ(ContentOf(path), "short");
  EXPECT_EQ(folder.FileCount(), 1);
}

TEST(File, KeepsTheModeOfTheFileItReplaces) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a", "x");
  ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  ASSERT_TRUE(Write(path, "y").ok());
  struct stat status = {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST(File, GoesThroughASymbolicLink) {
  const TemporaryFolder folder;
  const std::string target = folder.Write("target", "old");
  const std::string link = folder / "link";
  ASSERT_EQ(symlink(target.c_str(), link.c_str()), 0);
  ASSERT_TRUE(Write(link, "fresh").ok());
  EXPECT_EQ(ContentOf(target), "fresh");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST(File, GoesThroughALinkToAFileThatIsYetToBeMade) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "d");
  ASSERT_EQ(symlink("d/second", (folder / "first").c_str()), 0);
  ASSERT_EQ(symlink("target", (folder / "d/second").c_str()), 0);
  const std::string link = folder / "first";
  ASSERT_TRUE(CheckWritable(link).ok());
  EXPECT_FALSE(std::filesystem::exists(link));
  ASSERT_TRUE(Write(link, "fresh").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "d/second"));
  EXPECT_EQ(ContentOf(folder / "d/target"), "fresh");
}

TEST(File, RefusesALinkThatLeadsNowhere) {
  const TemporaryFolder folder;
  const std::string lost = folder / "lost";
  ASSERT_EQ(symlink("none/target", lost.c_str()), 0);
  EXPECT_THAT(std::string(CheckWritable(lost).message()),
              StartsWith(absl::StrCat(lost, ": is a link to ", folder / "none",
                                      "/target, and there is no folder ",
                                      folder / "none", "/; make it first")));
  const std::string ring = folder / "ring";
  ASSERT_EQ(symlink("ring", ring.c_str()), 0);
  for (const std::string& path : {lost, ring}) {
    EXPECT_FALSE(CheckWritable(path).ok());
    EXPECT_FALSE(Write(path, "x").ok());
    EXPECT_TRUE(std::filesystem::is_symlink(path));
  }
  EXPECT_EQ(folder.FileCount(), 2);
}

// A writer that was killed leaves a file without a lock.
TEST(File, RemovesWhatDeadWritersOfItLeft) {
  const TemporaryFolder folder;
  const std::string path = folder / "a";
  const std::string stale = folder.Write("a.part-1", "half");
  const std::string written = folder.Write("a.part-2", "more than half");
  const std::string other = folder.Write("a.part-of-mine", "x");
  const std::string others = folder.Write("ab.part-1", "x");
  const int writer = open(written.c_str(), O_WRONLY);
  ASSERT_TRUE(MarkAsWritten(writer));
  ASSERT_TRUE(Write(path, "y").ok());
  EXPECT_FALSE(std::filesystem::exists(stale));
  EXPECT_EQ(ContentOf(written), "more than half");
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_TRUE(std::filesystem::exists(others));
  close(writer);
  ASSERT_TRUE(Write(path, "z").ok());
  EXPECT_FALSE(std::filesystem::exists(written));
}

// Neither waits for somebody who reads.
TEST(File, RefusesDevicesAndPipes) {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const std::string link = folder / "null";
  ASSERT_EQ(symlink("/dev/null", link.c_str()), 0);
  for (const std::string& path : {pipe, link, std::string("/dev/full")}) {
    for (const absl::Status& status : {CheckWritable(path), Write(path, "x")}) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
      EXPECT_THAT(std::string(status.message()), StartsWith(path));
      EXPECT_THAT(std::string(status.message()), HasSubstr("device or pipe"));
    }
  }
  EXPECT_EQ(folder.FileCount(), 2);
}

TEST(File, AWriteThatFailsHalfwayLeavesTheOldFile) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("a", "old");
  // The limit counts for the whole process, so a child has it.
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {.rlim_cur = 1000, .rlim_max = 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const absl::Status status = Write(path, std::string(5000, 'x'));
    _exit(status.code() == absl::StatusCode::kResourceExhausted ? 0 : 1);
  }
  int wait_status = -1;
  ASSERT_EQ(waitpid(child, &wait_status, 0), child);
  EXPECT_EQ(wait_status, 0);
  EXPECT_EQ(ContentOf(path), "old");
  EXPECT_EQ(folder.FileCount(), 1);
}

TEST(File, RefusesFoldersAndMissingFolders) {
  const TemporaryFolder folder;
  EXPECT_EQ(Write(folder / "", "x").code(), absl::StatusCode::kInvalidArgument);
  const std::string path = folder / "none/a";
  const absl::Status status = Write(path, "x");
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()), StartsWith(path));
}

// Before hours of work, not after them.
TEST(File, KnowsBeforehandWhatCannotBeMade) {
  const TemporaryFolder folder;
  for (const std::string& path :
       {folder / std::string(256, 'a'), std::string("/proc/a.npy")}) {
    const absl::Status status = CheckWritable(path);
    EXPECT_FALSE(status.ok()) << path;
    EXPECT_EQ(status, Write(path, "x"));
  }
  const std::string longest = folder / std::string(255, 'a');
  EXPECT_TRUE(CheckWritable(longest).ok());
  EXPECT_EQ(folder.FileCount(), 0);
  EXPECT_TRUE(Write(longest, "x").ok());
  EXPECT_EQ(folder.FileCount(), 1);
}

TEST(File, RespectsPermissions) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TemporaryFolder folder;
  const std::string path = folder.Write("a", "old");
  ASSERT_EQ(chmod(path.c_str(), 0400), 0);
  EXPECT_EQ(Write(path, "x").code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(ContentOf(path), "old");
  ASSERT_EQ(chmod(path.c_str(), 0000), 0);
  EXPECT_EQ(InputFile::Open(path).status().code(),
            absl::StatusCode::kPermissionDenied);
}

TEST(File, ErrorsHaveOneCodeEach) {
  const auto code = [](int system_error) {
    return FileError("f", "cannot write", system_error).code();
  };
  EXPECT_EQ(code(ENOSPC), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(EDQUOT), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(code(EACCES), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code(EROFS), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(code(EIO), absl::StatusCode::kUnavailable);
  EXPECT_EQ(FileError("f", "cannot write", ENOSPC).message(),
            "f: cannot write: No space left on device");
}

TEST(File, OpensRegularFilesOnly) {
  const TemporaryFolder folder;
  EXPECT_EQ(InputFile::Open(folder / "none").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(InputFile::Open(folder / "").status().code(),
            absl::StatusCode::kInvalidArgument);
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(InputFile::Open(pipe).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace dogged
