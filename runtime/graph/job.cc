#include "runtime/graph/job.h"

#include "runtime/base/status.h"

namespace dogged {
namespace {
// The first bytes of an encoded job: says what it is, and the version.
constexpr absl::string_view kMagic = "dogged-job-3\n";
}  // namespace

std::string Job::Encode() const {
  Encoder out;
  out.PutRaw(kMagic);
  program.Encode(out);
  out.PutString(source);
  out.PutVarint(parameters.size());
  for (const auto& [name, value] : parameters) {
    out.PutString(name);
    out.PutString(value);
  }
  out.PutVarint(inputs.size());
  for (const JobInput& input : inputs) {
    out.PutString(input.array);
    input.content.Encode(out);
  }
  out.PutString(numeric_class);
  out.PutString(lowering);
  return out.Take();
}

absl::StatusOr<Job> Job::Decode(absl::string_view bytes) {
  Decoder in(bytes);
  if (in.GetRaw(static_cast<int64_t>(kMagic.size())) != kMagic) {
    return absl::InvalidArgumentError("job: not a job, or another version");
  }
  Job out;
  DOGGED_ASSIGN_OR_RETURN(out.program, Program::Decode(in));
  out.source = std::string(in.GetString());
  const int64_t parameters = in.GetCount(2);
  for (int64_t i = 0; i < parameters && in.ok(); ++i) {
    std::string name(in.GetString());
    out.parameters.emplace_back(std::move(name), std::string(in.GetString()));
  }
  const int64_t inputs = in.GetCount(2);
  for (int64_t i = 0; i < inputs && in.ok(); ++i) {
    JobInput input;
    input.array = std::string(in.GetString());
    DOGGED_ASSIGN_OR_RETURN(input.content, Value::Decode(in));
    out.inputs.push_back(std::move(input));
  }
  out.numeric_class = std::string(in.GetString());
  out.lowering = std::string(in.GetString());
  DOGGED_RETURN_IF_ERROR(in.Finish("job"));
  return out;
}

}  // namespace dogged
