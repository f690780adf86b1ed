#include "runtime/agent/loop/control.h"

#include <cstdint>

#include "runtime/base/codec.h"
#include "runtime/base/status.h"
#include "runtime/base/wire_version.h"

namespace dogged {

Bytes SubmitRequest::Encode() const {
  Encoder out;
  out.PutId(submission);
  options.EncodeTo(out);
  out.PutU64(text_hash);
  out.PutBool(supplies);
  out.PutString(job);
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<SubmitRequest> SubmitRequest::Decode(absl::string_view body) {
  Decoder in(body);
  SubmitRequest out;
  out.submission = in.GetId<SubmissionId>();
  out.options = JobOptions::DecodeFrom(in);
  out.text_hash = in.GetU64();
  out.supplies = in.GetBool();
  out.job = in.GetString();
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "submit"));
  return out;
}

Bytes StatusRequest::Encode() const {
  Encoder out;
  out.PutId(jobs.job);
  out.PutId(jobs.submission);
  out.PutSigned(jobs.ended_max);
  out.PutU64(text_hash);
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<StatusRequest> StatusRequest::Decode(absl::string_view body) {
  Decoder in(body);
  StatusRequest out;
  out.jobs.job = in.GetId<JobId>();
  out.jobs.submission = in.GetId<SubmissionId>();
  out.jobs.ended_max = in.GetSigned();
  out.text_hash = in.GetU64();
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "status request"));
  return out;
}

void MemberStatus::EncodeTo(Encoder& encoder) const {
  member.EncodeTo(encoder);
  encoder.PutString(state);
  encoder.PutString(cause);
  encoder.PutVarint(stats.size());
  for (const auto& [job, of_job] : stats) {
    encoder.PutId(job);
    of_job.Encode(encoder);
  }
}

MemberStatus MemberStatus::DecodeFrom(Decoder& decoder) {
  MemberStatus out;
  out.member = Member::DecodeFrom(decoder);
  out.state = std::string(decoder.GetString());
  out.cause = std::string(decoder.GetString());
  const int64_t count = decoder.GetCount(8);
  for (int64_t i = 0; i < count && decoder.ok(); ++i) {
    const JobId job = decoder.GetId<JobId>();
    out.stats.emplace_back(job, JobStats::Decode(decoder));
  }
  return out;
}

Bytes StatusReply::Encode() const {
  Encoder out;
  out.PutId(self);
  out.PutSigned(memory_bytes);
  out.PutSigned(memory_bytes_peak);
  out.PutSigned(memory_limit);
  out.PutSigned(host_bytes);
  out.PutSigned(messages_sent);
  out.PutSigned(bytes_sent);
  out.PutSigned(refused);
  out.PutSigned(dropped);
  out.PutVarint(keys.size());
  for (const std::string& key : keys) out.PutString(key);
  out.PutVarint(members.size());
  for (const MemberStatus& m : members) m.EncodeTo(out);
  out.PutVarint(jobs.size());
  for (const JobSummary& job : jobs) {
    out.PutString(job.record.Encode().view());
    job.stats.Encode(out);
    out.PutSigned(job.tasks_needed);
    out.PutSigned(job.results_needed);
    out.PutSigned(job.submissions);
    out.PutString(job.note);
    out.PutVarint(job.troubles.size());
    for (const std::string& words : job.troubles) out.PutString(words);
    out.PutSigned(job.kept_labels);
    out.PutSigned(job.kept_bytes);
    out.PutSigned(job.keep_left_ms);
  }
  out.PutSigned(jobs_known);
  out.PutVarint(sizes.size());
  for (const auto& [agents, workers] : sizes) {
    out.PutVarint(static_cast<uint64_t>(agents));
    out.PutVarint(static_cast<uint64_t>(workers));
  }
  out.PutVarint(stored.size());
  for (const StoredJob& job : stored) {
    out.PutU64(job.hash.high);
    out.PutU64(job.hash.low);
    out.PutVarint(static_cast<uint64_t>(job.agents));
    out.PutVarint(static_cast<uint64_t>(job.workers));
  }
  out.PutVarint(links.size());
  for (const LinkStatus& link : links) {
    out.PutId(link.to);
    out.PutDouble(link.bytes_per_second);
    out.PutDouble(link.round_trip_seconds);
  }
  out.PutBool(reads_directory);
  for (const MemberStatus& m : members) {
    for (const auto& [job, of_job] : m.stats) of_job.EncodeLater(out);
  }
  for (const JobSummary& job : jobs) job.stats.EncodeLater(out);
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<StatusReply> StatusReply::Decode(absl::string_view body) {
  Decoder in(body);
  StatusReply out;
  out.self = in.GetId<AgentId>();
  out.memory_bytes = in.GetSigned();
  out.memory_bytes_peak = in.GetSigned();
  out.memory_limit = in.GetSigned();
  out.host_bytes = in.GetSigned();
  out.messages_sent = in.GetSigned();
  out.bytes_sent = in.GetSigned();
  out.refused = in.GetSigned();
  out.dropped = in.GetSigned();
  const int64_t keys = in.GetCount();
  for (int64_t i = 0; i < keys && in.ok(); ++i) {
    out.keys.emplace_back(in.GetString());
  }
  const int64_t members = in.GetCount(8);
  for (int64_t i = 0; i < members && in.ok(); ++i) {
    out.members.push_back(MemberStatus::DecodeFrom(in));
  }
  const int64_t jobs = in.GetCount(8);
  for (int64_t i = 0; i < jobs && in.ok(); ++i) {
    JobSummary job;
    DOGGED_ASSIGN_OR_RETURN(job.record, JobRecord::Decode(in.GetString()));
    job.stats = JobStats::Decode(in);
    job.tasks_needed = in.GetSigned();
    job.results_needed = in.GetSigned();
    job.submissions = in.GetSigned();
    job.note = std::string(in.GetString());
    const int64_t troubles = in.GetCount(1);
    for (int64_t j = 0; j < troubles && in.ok(); ++j) {
      job.troubles.emplace_back(in.GetString());
    }
    job.kept_labels = in.GetSigned();
    job.kept_bytes = in.GetSigned();
    job.keep_left_ms = in.GetSigned();
    out.jobs.push_back(std::move(job));
  }
  out.jobs_known = in.GetSigned();
  const int64_t sizes = in.GetCount(2);
  for (int64_t i = 0; i < sizes && in.ok(); ++i) {
    const uint64_t agents = in.GetVarint();
    const uint64_t workers = in.GetVarint();
    if (agents > JobOptions::kTargetMax || workers > JobOptions::kTargetMax) {
      in.Fail();
    }
    out.sizes.emplace_back(agents, workers);
  }
  const int64_t stored = in.GetCount(18);
  for (int64_t i = 0; i < stored && in.ok(); ++i) {
    StoredJob job;
    job.hash.high = in.GetU64();
    job.hash.low = in.GetU64();
    const uint64_t agents = in.GetVarint();
    const uint64_t workers = in.GetVarint();
    if (agents > JobOptions::kTargetMax || workers > JobOptions::kTargetMax) {
      in.Fail();
    }
    job.agents = static_cast<int>(agents);
    job.workers = static_cast<int>(workers);
    out.stored.push_back(job);
  }
  const int64_t links = in.GetCount(24);
  for (int64_t i = 0; i < links && in.ok(); ++i) {
    LinkStatus link;
    link.to = in.GetId<AgentId>();
    link.bytes_per_second = in.GetDouble();
    link.round_trip_seconds = in.GetDouble();
    out.links.push_back(link);
  }
  if (in.remaining() > 0) out.reads_directory = in.GetU8() == 1;
  for (MemberStatus& member : out.members) {
    for (auto& [job, stats] : member.stats) stats.DecodeLater(in);
  }
  for (JobSummary& job : out.jobs) job.stats.DecodeLater(in);
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "status"));
  return out;
}

Bytes WantRequest::Encode() const {
  Encoder out;
  out.PutId(job);
  out.PutBool(may_borrow);
  out.PutVarint(labels.size());
  for (const Label& label : labels) label.Encode(out);
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<WantRequest> WantRequest::Decode(absl::string_view body) {
  Decoder in(body);
  WantRequest out;
  out.job = in.GetId<JobId>();
  out.may_borrow = in.GetBool();
  const int64_t count = in.GetCount(2);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    out.labels.push_back(Label::Decode(in));
  }
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "want"));
  return out;
}

Bytes ValuesReply::Encode() const {
  Encoder out;
  out.PutId(job);
  out.PutVarint(values.size());
  for (const auto& [label, value] : values) {
    label.Encode(out);
    value.Encode(out);
  }
  out.PutVarint(lent.size());
  for (const LentValue& entry : lent) {
    entry.label.Encode(out);
    out.PutString(entry.arena);
    entry.loan.EncodeTo(out);
  }
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<ValuesReply> ValuesReply::Decode(absl::string_view body) {
  Decoder in(body);
  ValuesReply out;
  out.job = in.GetId<JobId>();
  const int64_t count = in.GetCount(2);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    const Label label = Label::Decode(in);
    DOGGED_ASSIGN_OR_RETURN(Value value, Value::Decode(in));
    out.values.emplace_back(label, std::move(value));
  }
  const int64_t lent = in.GetCount(2);
  for (int64_t i = 0; i < lent && in.ok(); ++i) {
    LentValue entry;
    entry.label = Label::Decode(in);
    entry.arena = std::string(in.GetString());
    entry.loan = Loan::DecodeFrom(in);
    out.lent.push_back(std::move(entry));
  }
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "values"));
  return out;
}

Bytes ChunksWanted::Encode() const {
  Encoder out;
  out.PutId(job);
  out.PutVarint(chunks.size());
  for (const ChunkId& chunk : chunks) {
    out.PutSigned(chunk.input);
    out.PutSigned(chunk.index);
  }
  PutOpenEnd(out);
  return Bytes(out.Take());
}

static ChunkId GetChunkId(Decoder& in) {
  const int64_t input = in.GetSigned();
  if (input < 0 || input > INT32_MAX) in.Fail();
  return {static_cast<int32_t>(input), in.GetSigned()};
}

absl::StatusOr<ChunksWanted> ChunksWanted::Decode(absl::string_view body) {
  Decoder in(body);
  ChunksWanted out;
  out.job = in.GetId<JobId>();
  const int64_t count = in.GetCount(2);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    out.chunks.push_back(GetChunkId(in));
  }
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "chunks wanted"));
  return out;
}

std::string ChunkPart::EncodeWith(const JobInput& input) const {
  Encoder head;
  head.PutId(job);
  head.PutSigned(chunk.input);
  head.PutSigned(chunk.index);
  std::string out = head.Take();
  const size_t at = out.size();
  out.resize(at + input.grid.BytesOf(chunk.index));
  input.CopyChunk(chunk.index, out.data() + at);
  return out;
}

absl::StatusOr<ChunkPart> ChunkPart::Decode(absl::string_view body) {
  Decoder in(body);
  ChunkPart out;
  out.job = in.GetId<JobId>();
  out.chunk = GetChunkId(in);
  DOGGED_RETURN_IF_ERROR(in.status("chunk"));
  out.bytes = in.GetRaw(in.remaining());
  return out;
}

Bytes ReturnedNotice::Encode() const {
  Encoder out;
  out.PutVarint(number);
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::StatusOr<ReturnedNotice> ReturnedNotice::Decode(absl::string_view body) {
  Decoder in(body);
  const ReturnedNotice out{.number = in.GetVarint()};
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "returned"));
  return out;
}

Bytes EncodeError(const absl::Status& status) {
  Encoder out;
  out.PutSigned(static_cast<int>(status.code()));
  out.PutString({status.message().data(), status.message().size()});
  PutOpenEnd(out);
  return Bytes(out.Take());
}

absl::Status DecodeError(absl::string_view body) {
  Decoder in(body);
  const auto code = static_cast<absl::StatusCode>(in.GetSigned());
  const absl::string_view message = in.GetString();
  DOGGED_RETURN_IF_ERROR(TakeOpenEnd(in, "error"));
  if (code == absl::StatusCode::kOk) return absl::UnknownError(message);
  return absl::Status(code, message);
}

}  // namespace dogged
