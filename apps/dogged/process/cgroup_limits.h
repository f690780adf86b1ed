// Limits that control groups set on this process: of memory, and of time on
// processors.
#ifndef DOGGED_APPS_DOGGED_PROCESS_CGROUP_LIMITS_H_
#define DOGGED_APPS_DOGGED_PROCESS_CGROUP_LIMITS_H_

#include <cstdint>
#include <string>

namespace dogged {

struct CgroupLimits {
  int64_t memory_bytes = 0;  // 0: none
  double processors = 0;     // likewise
};

// The least of all groups that this process is in, of version 1 or 2.
// `membership` is the file that names the groups, `mount` the folder that has
// them; a container may see its own group there alone, as the uppermost.
CgroupLimits ReadCgroupLimits(
    const std::string& membership = "/proc/self/cgroup",
    const std::string& mount = "/sys/fs/cgroup");

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_CGROUP_LIMITS_H_
