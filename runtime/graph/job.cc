#include "runtime/graph/job.h"

#include <algorithm>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/base/status.h"
#include "runtime/base/wire_version.h"

namespace dogged {
namespace {
// The first bytes of an encoded job: a mark, its format, and the end of a line.
constexpr absl::string_view kMark = "dogged-job-";
constexpr absl::string_view kFormat = "5";
// The same, with the tables of its program behind that. Programs without any
// keep the former format, which agents of an earlier release read.
constexpr absl::string_view kFormatWithTables = "6";
constexpr size_t kFormatDigitsMax = 9;
// Bytes of an array that is not cut, at most.
constexpr int64_t kWholeBytesMax = 64 << 10;

// Takes the first bytes of a job. True if its program has tables.
absl::StatusOr<bool> TakeMark(Decoder& in) {
  const auto size = std::min<int64_t>(in.remaining(),
                                      std::ssize(kMark) + kFormatDigitsMax + 1);
  Decoder ahead = in;
  absl::string_view words = ahead.GetRaw(size);
  const size_t end = words.find('\n');
  if (!absl::ConsumePrefix(&words, kMark) || end == absl::string_view::npos) {
    return absl::InvalidArgumentError("job: these bytes are no job");
  }
  const absl::string_view format = words.substr(0, end - kMark.size());
  const bool has_tables = format == kFormatWithTables;
  if (format != kFormat && !has_tables) {
    return absl::InvalidArgumentError(absl::StrCat(
        "job: it has format ", absl::CEscape(format), ", and dogged ",
        WireHello::Here().release, " reads formats ", kFormat, " and ",
        kFormatWithTables,
        ": submit its program again with a client of the agents' release"));
  }
  in.GetRaw(static_cast<int64_t>(end) + 1);
  return has_tables;
}

void EncodeInput(const JobInput& input, Encoder& out) {
  out.PutString(input.array);
  out.PutBool(input.IsInChunks());
  if (!input.IsInChunks()) return input.content.Encode(out);
  input.grid.Encode(out);
  for (const Digest& digest : input.chunks) {
    out.PutU64(digest.low);
    out.PutU64(digest.high);
  }
}

absl::StatusOr<JobInput> DecodeInput(Decoder& in) {
  JobInput out;
  out.array = std::string(in.GetString());
  if (!in.GetBool()) {
    DOGGED_ASSIGN_OR_RETURN(out.content, Value::Decode(in));
    return out;
  }
  out.grid = ChunkGrid::Decode(in);
  const int64_t count = in.ok() ? out.grid.count() : 0;
  constexpr int64_t kDigestBytes = 16;
  if (in.remaining() / kDigestBytes < count) in.Fail();
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    const uint64_t low = in.GetU64();
    out.chunks.push_back({low, in.GetU64()});
  }
  return out;
}

DenseBlock AllOf(const Value& content) {
  DenseBlock out{.data = static_cast<const char*>(content.data()), .box = {}};
  for (int d = 0; d < content.shape().size(); ++d) out.box.first.push_back(0);
  out.box.extents = content.shape();
  return out;
}

}  // namespace

void JobInput::Cut(const Shape& chunk) {
  grid = {.element = content.type(), .shape = content.shape(), .chunk = chunk};
  const int64_t count = grid.count();
  const DenseBlock all = AllOf(content);
  chunks.clear();
  for (int64_t i = 0; i < count; ++i) {
    chunks.push_back(DigestOf(all, grid.BoxOf(i), ElementBytes(grid.element)));
  }
}

void JobInput::CopyChunk(int64_t index, char* to) const {
  CopyBlock(AllOf(content), grid.BoxOf(index), ElementBytes(grid.element), to);
}

InputArray Job::InputAt(int32_t position) const {
  if (position < 0 || position >= std::ssize(inputs)) {
    return InputArray();
  }
  const JobInput& input = inputs[position];
  if (!input.content.IsNone()) return InputArray(input.content);
  if (!input.IsInChunks()) return InputArray();
  return InputArray(position, input.grid, chunk_source);
}

void Job::CutInputs() {
  for (size_t i = 0; i < std::min(inputs.size(), cuts.size()); ++i) {
    JobInput& input = inputs[i];
    if (input.IsInChunks() || input.content.IsNone() ||
        input.content.bytes() <= kWholeBytesMax) {
      continue;
    }
    input.Cut(cuts[i]);
  }
}

std::string Job::Encode() const {
  Encoder out;
  out.PutRaw(kMark);
  const bool has_tables = program.HasGathers();
  out.PutRaw(has_tables ? kFormatWithTables : kFormat);
  out.PutRaw("\n");
  program.Encode(out);
  if (has_tables) program.EncodeGathers(out);
  out.PutString(source);
  out.PutVarint(parameters.size());
  for (const auto& [name, value] : parameters) {
    out.PutString(name);
    out.PutString(value);
  }
  out.PutVarint(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (i < cuts.size() && !inputs[i].IsInChunks() &&
        inputs[i].content.bytes() > kWholeBytesMax) {
      JobInput input = inputs[i];
      input.Cut(cuts[i]);
      EncodeInput(input, out);
    } else {
      EncodeInput(inputs[i], out);
    }
  }
  out.PutString(numeric_class);
  out.PutString(lowering);
  return out.Take();
}

absl::StatusOr<Job> Job::Decode(absl::string_view bytes) {
  Decoder in(bytes);
  DOGGED_ASSIGN_OR_RETURN(const bool has_tables, TakeMark(in));
  Job out;
  DOGGED_ASSIGN_OR_RETURN(out.program, Program::Decode(in));
  if (has_tables) DOGGED_RETURN_IF_ERROR(out.program.DecodeGathers(in));
  out.source = std::string(in.GetString());
  const int64_t parameters = in.GetCount(2);
  for (int64_t i = 0; i < parameters && in.ok(); ++i) {
    std::string name(in.GetString());
    out.parameters.emplace_back(std::move(name), std::string(in.GetString()));
  }
  const int64_t inputs = in.GetCount(2);
  for (int64_t i = 0; i < inputs && in.ok(); ++i) {
    DOGGED_ASSIGN_OR_RETURN(JobInput input, DecodeInput(in));
    out.inputs.push_back(std::move(input));
  }
  out.numeric_class = std::string(in.GetString());
  out.lowering = std::string(in.GetString());
  DOGGED_RETURN_IF_ERROR(in.Finish("job"));
  return out;
}

}  // namespace dogged
