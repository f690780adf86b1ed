// CarriedOver: the part of a job's state that an incarnation of an agent leaves
// to the next one in the same process. The first counted as dead, or was cut
// off from all agents; its values are right all the same.
#ifndef DOGGED_RUNTIME_JOB_CARRIED_OVER_H_
#define DOGGED_RUNTIME_JOB_CARRIED_OVER_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "kvstore/dictionary/digest_log.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

struct CarriedOver {
  // In label order, in memory that does not depend on other processes. Without
  // those whose bytes are on disk only.
  std::vector<std::pair<Label, Value>> values;
  // How far rows were bound and dropped, see Watermarks.
  std::vector<std::pair<Label, int64_t>> bound_rows;
  std::vector<std::pair<Label, int64_t>> retired_rows;
  std::vector<RowDigests> digests;  // see DigestLog
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_CARRIED_OVER_H_
