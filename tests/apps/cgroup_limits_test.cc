// Aim: an agent takes what its control groups allow, and no more. Method: files
// as Linux shows them, of both versions and as containers see them, in a folder
// of the test.
#include "apps/dogged/process/cgroup_limits.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace dogged {
namespace {

class CgroupLimitsTest : public ::testing::Test {
 protected:
  CgroupLimitsTest() {
    std::string name =
        (std::filesystem::temp_directory_path() / "cgroupXXXXXX");
    path_ = mkdtemp(name.data());
  }
  ~CgroupLimitsTest() override { std::filesystem::remove_all(path_); }

  void Write(const std::string& file, const std::string& text) const {
    const std::filesystem::path place = path_ / file;
    std::filesystem::create_directories(place.parent_path());
    std::ofstream(place) << text << "\n";
  }
  CgroupLimits Read(const std::string& groups) const {
    Write("self", groups);
    return ReadCgroupLimits((path_ / "self").string(),
                            (path_ / "mount").string());
  }

  std::filesystem::path path_;
};

TEST_F(CgroupLimitsTest, TheLeastOfAllGroupsCounts) {
  Write("mount/a/memory.max", "4194304");
  Write("mount/a/cpu.max", "max 100000");
  Write("mount/a/b/memory.max", "8388608");
  Write("mount/a/b/cpu.max", "250000 100000");
  Write("mount/a/b/c/memory.max", "max");
  const CgroupLimits limits = Read("0::/a/b/c");
  EXPECT_EQ(limits.memory_bytes, 4194304);
  EXPECT_EQ(limits.processors, 2.5);
}

TEST_F(CgroupLimitsTest, Version1HasAFolderForEachController) {
  Write("mount/memory/job/memory.limit_in_bytes", "1073741824");
  Write("mount/memory/memory.limit_in_bytes", "9223372036854771712");
  Write("mount/cpu,cpuacct/job/cpu.cfs_quota_us", "150000");
  Write("mount/cpu,cpuacct/job/cpu.cfs_period_us", "100000");
  Write("mount/cpu,cpuacct/cpu.cfs_quota_us", "-1");
  Write("mount/cpu,cpuacct/cpu.cfs_period_us", "100000");
  const CgroupLimits limits =
      Read("9:name=systemd:/\n4:memory:/job\n2:cpu,cpuacct:/job\n0::/");
  EXPECT_EQ(limits.memory_bytes, 1073741824);
  EXPECT_EQ(limits.processors, 1.5);
}

// Its own group stands uppermost, whatever its name is outside.
TEST_F(CgroupLimitsTest, AContainerSeesItsOwnGroupAlone) {
  Write("mount/memory.max", "2097152");
  Write("mount/cpu.max", "50000 100000");
  const CgroupLimits limits = Read("0::/docker/3f2a");
  EXPECT_EQ(limits.memory_bytes, 2097152);
  EXPECT_EQ(limits.processors, 0.5);
}

TEST_F(CgroupLimitsTest, WithoutLimitsOrWithNonsenseThereAreNone) {
  for (const char* groups : {"", "0::/", "nonsense", "0::", "1:memory"}) {
    const CgroupLimits limits = Read(groups);
    EXPECT_EQ(limits.memory_bytes, 0) << groups;
    EXPECT_EQ(limits.processors, 0) << groups;
  }
  Write("mount/memory.max", "-5");
  Write("mount/cpu.max", "100000 0");
  const CgroupLimits limits = Read("0::/");
  EXPECT_EQ(limits.memory_bytes, 0);
  EXPECT_EQ(limits.processors, 0);
}

}  // namespace
}  // namespace dogged
