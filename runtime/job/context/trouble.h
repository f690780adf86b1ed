// Trouble: a defect of an agent, and not of the job that it runs.
#ifndef DOGGED_RUNTIME_JOB_CONTEXT_TROUBLE_H_
#define DOGGED_RUNTIME_JOB_CONTEXT_TROUBLE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/bytes.h"
#include "runtime/base/ids.h"

namespace dogged {

enum class TroubleKind : uint8_t {
  kNotice = 0,  // it does its share all the same
  kSlow = 1,    // it does one only where nobody without a trouble is
  kUnable = 2,  // it does none
};

struct Trouble {
  AgentId agent;
  TroubleKind kind = TroubleKind::kNotice;
  absl::Status cause;                     // OK: there is none
  std::vector<SubmissionId> submissions;  // that ran when it was told

  Bytes Encode() const;
  static absl::StatusOr<Trouble> Decode(absl::string_view bytes);
};

// The agent's and not the job's: a limit is used up, or something that it needs
// is not to be had there.
bool IsLocalTrouble(const absl::Status& status);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_CONTEXT_TROUBLE_H_
