#include "apps/dogged/client/result_room.h"

#include <algorithm>
#include <filesystem>

#include "apps/dogged/process/cgroup_limits.h"
#include "apps/dogged/process/memory.h"

namespace dogged {

int64_t ResultBytesMax() {
  int64_t memory = PhysicalBytes();
  if (const int64_t limit = ReadCgroupLimits().memory_bytes; limit > 0) {
    memory = std::min(memory, limit);
  }
  if (const auto limit = ProcessLimit(); limit.has_value()) {
    memory = std::min(memory, *limit);
  }
  return memory / 4;
}

ResultRoom RoomForResults(const std::vector<Output>& outputs,
                          const Environment& environment) {
  ResultRoom room{.bytes_max = ResultBytesMax(), .folders = {}};
  for (const Output& output : outputs) {
    const std::string folder =
        std::filesystem::path(output.selection.path).parent_path().string();
    room.folders.push_back(folder.empty() ? "." : folder);
  }
  room.folders.push_back("/var/tmp");
  room.folders.push_back(environment.temporary_folder);
  return room;
}

}  // namespace dogged
