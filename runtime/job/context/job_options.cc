#include "runtime/job/context/job_options.h"

namespace dogged {

void JobOptions::EncodeTo(Encoder& encoder) const {
  encoder.PutSigned(replicas);
  encoder.PutBool(search_only);
  encoder.PutBool(claims);
  encoder.PutSigned(agents);
  encoder.PutSigned(workers);
  encoder.PutSigned(tasks_needed);
  encoder.PutSigned(redo_max_ms);
  encoder.PutSigned(keep_ms);
}

JobOptions JobOptions::DecodeFrom(Decoder& decoder) {
  JobOptions out;
  const int64_t replicas = decoder.GetSigned();
  out.search_only = decoder.GetBool();
  out.claims = decoder.GetBool();
  const int64_t agents = decoder.GetSigned();
  const int64_t workers = decoder.GetSigned();
  out.tasks_needed = decoder.GetSigned();
  out.redo_max_ms = decoder.GetSigned();
  out.keep_ms = decoder.GetSigned();
  if (replicas < 1 || replicas > kReplicasMax || agents < 0 ||
      agents > kTargetMax || workers < 0 || workers > kTargetMax ||
      out.tasks_needed < 0 || out.redo_max_ms < 0 || out.keep_ms < 0 ||
      out.keep_ms > kKeepMax) {
    decoder.Fail();
    return JobOptions();
  }
  out.replicas = static_cast<int>(replicas);
  out.agents = static_cast<int>(agents);
  out.workers = static_cast<int>(workers);
  return out;
}

}  // namespace dogged
