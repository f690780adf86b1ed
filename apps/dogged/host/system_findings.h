// Findings about this computer as Linux gives it to a process: limits, memory,
// huge pages, clock, disk.
#ifndef DOGGED_APPS_DOGGED_HOST_SYSTEM_FINDINGS_H_
#define DOGGED_APPS_DOGGED_HOST_SYSTEM_FINDINGS_H_

#include <string>
#include <vector>

#include "apps/dogged/host/finding.h"

namespace dogged {

// Folders that agents write to.
struct WrittenFolders {
  std::string directory;  // DOGGED_DIR; empty: none
  std::string temporary;  // where values are spilled to
};

std::vector<Finding> SystemFindings(const WrittenFolders& folders);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_HOST_SYSTEM_FINDINGS_H_
