#include "runtime/job/context/trouble.h"

#include <string>

#include "absl/strings/str_replace.h"
#include "runtime/base/codec.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

// Bytes of the words about a trouble, on one line.
constexpr size_t kWordsMax = 500;

}  // namespace

bool IsLocalTrouble(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status);
}

Bytes Trouble::Encode() const {
  Encoder out;
  out.PutId(agent);
  out.PutU8(static_cast<uint8_t>(kind));
  out.PutSigned(static_cast<int>(cause.code()));
  const std::string words =
      absl::StrReplaceAll(cause.message(), {{"\n", " "}, {"\r", " "}});
  out.PutString(words.substr(0, kWordsMax));
  out.PutVarint(submissions.size());
  for (const SubmissionId submission : submissions) out.PutId(submission);
  return Bytes(out.Take());
}

absl::StatusOr<Trouble> Trouble::Decode(absl::string_view bytes) {
  Decoder in(bytes);
  Trouble out;
  out.agent = in.GetId<AgentId>();
  const uint8_t kind = in.GetU8();
  if (kind > static_cast<uint8_t>(TroubleKind::kUnable)) in.Fail();
  out.kind = static_cast<TroubleKind>(kind);
  const auto code = static_cast<absl::StatusCode>(in.GetSigned());
  const absl::string_view words = in.GetString();
  if (code == absl::StatusCode::kOk) in.Fail();
  const int64_t count = in.GetCount(8);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    out.submissions.push_back(in.GetId<SubmissionId>());
  }
  DOGGED_RETURN_IF_ERROR(in.Finish("trouble"));
  out.cause = absl::Status(code, {words.data(), words.size()});
  return out;
}

}  // namespace dogged
