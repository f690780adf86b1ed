// ResultRoom: memory and folders that a client has for results on their way to
// the user's files.
#ifndef DOGGED_APPS_DOGGED_CLIENT_RESULT_ROOM_H_
#define DOGGED_APPS_DOGGED_CLIENT_RESULT_ROOM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "apps/dogged/process/environment.h"
#include "apps/dogged/report/outputs.h"

namespace dogged {

struct ResultRoom {
  // A fourth of the memory that this process may have: values take that much,
  // and so does an array that is put together of them.
  int64_t bytes_max = 0;
  // Folders for values beyond that, the best one first: the files of `outputs`
  // need room there anyway. A folder of temporary files may be memory.
  std::vector<std::string> folders;
};

// ResultRoom::bytes_max.
int64_t ResultBytesMax();

ResultRoom RoomForResults(const std::vector<Output>& outputs,
                          const Environment& environment);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLIENT_RESULT_ROOM_H_
