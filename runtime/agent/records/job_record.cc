#include "runtime/agent/records/job_record.h"

#include "absl/strings/str_cat.h"
#include "runtime/base/codec.h"
#include "runtime/base/status.h"
#include "runtime/base/wire_version.h"

namespace dogged {

absl::string_view JobStateName(JobState state) {
  switch (state) {
    case JobState::kRunning:
      return "running";
    case JobState::kDone:
      return "done";
    case JobState::kCancelled:
      return "cancelled";
    case JobState::kFailed:
      return "failed";
  }
  return "unknown";
}

std::string JobRecord::KeyPrefix(const Digest& hash) {
  return absl::StrCat("job/", hash.ToString(), "/");
}

std::string JobRecord::KeyOf(const Digest& hash, SubmissionId submission) {
  return absl::StrCat(KeyPrefix(hash), submission.ToString());
}

Bytes JobRecord::Encode() const {
  Encoder out;
  out.PutU64(hash.low);
  out.PutU64(hash.high);
  out.PutId(submission);
  out.PutString(name);
  out.PutU64(text_hash);
  options.EncodeTo(out);
  out.PutU8(static_cast<uint8_t>(state));
  out.PutString(message);
  out.PutSigned(static_cast<int>(code));
  out.PutU64(result_digest.low);
  out.PutU64(result_digest.high);
  out.PutBool(is_delivered);
  out.PutSigned(round);
  out.PutBool(is_last_round);
  out.PutSigned(end_number);
  out.PutRaw(more);
  if (more.empty()) PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<JobRecord> JobRecord::Decode(absl::string_view bytes) {
  Decoder in(bytes);
  JobRecord out;
  out.hash.low = in.GetU64();
  out.hash.high = in.GetU64();
  out.submission = in.GetId<SubmissionId>();
  out.name = std::string(in.GetString());
  out.text_hash = in.GetU64();
  out.options = JobOptions::DecodeFrom(in);
  const uint8_t state = in.GetU8();
  if (state < 1 || state > 4) in.Fail();
  out.message = std::string(in.GetString());
  out.code = static_cast<absl::StatusCode>(in.GetSigned());
  out.result_digest.low = in.GetU64();
  out.result_digest.high = in.GetU64();
  out.is_delivered = in.GetBool();
  out.round = in.GetSigned();
  out.is_last_round = in.GetBool();
  out.end_number = in.GetSigned();
  for (const int64_t number : {out.round, out.end_number}) {
    if (number < 0 || number >> 50 != 0) in.Fail();
  }
  out.more = std::string(in.GetRaw(in.remaining()));
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "job record"));
  out.state = static_cast<JobState>(state);
  return out;
}

}  // namespace dogged
