#include "kvstore/storage/value_store.h"

#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/codec.h"

namespace dogged {
namespace {

constexpr int64_t kScanPageBytes = 4 << 20;

// "v", the job's hash, the label.
std::string PrefixOf(const Digest& job) {
  Encoder out;
  out.PutU8('v');
  out.PutU64(job.high);
  out.PutU64(job.low);
  return out.Take();
}

std::string KeyOf(const Digest& job, const Label& label) {
  Encoder out;
  label.Encode(out);
  return absl::StrCat(PrefixOf(job), out.Take());
}

absl::StatusOr<Label> LabelOf(absl::string_view key, const Digest& job) {
  key.remove_prefix(PrefixOf(job).size());
  // Chunks of inputs lie under an array of no program, which labels of messages
  // can't have.
  constexpr auto kNoArray = static_cast<uint64_t>(int32_t{-1});
  Decoder in(key);
  Label label{.array = -1};
  if (in.GetVarint() == kNoArray) {
    label.index = IndexVector::Decode(in);
  } else {
    in = Decoder(key);
    label = Label::Decode(in);
  }
  absl::Status status = in.Finish("key");
  if (!status.ok()) return status;
  return label;
}

Digest RecordDigest(std::initializer_list<absl::string_view> parts) {
  DigestStream stream;
  for (const absl::string_view part : parts) stream.Add(part);
  return stream.Finish();
}

// A record is the digest of key and value, then the value. This is all of it
// but for the value's data.
Bytes EncodeRecordHead(absl::string_view key, const Value& value) {
  Encoder head;
  value.EncodeHead(head);
  const std::string encoded = head.Take();
  const Digest digest = RecordDigest({key, encoded, value.view()});
  Encoder out;
  out.PutU64(digest.low);
  out.PutU64(digest.high);
  return Bytes(absl::StrCat(out.Take(), encoded));
}

// Keys of StoredJobs: "j", the job's hash.
constexpr absl::string_view kJobsPrefix = "j";

std::string JobKeyOf(const Digest& job) {
  return absl::StrCat(kJobsPrefix, PrefixOf(job).substr(1));
}

std::string EncodeJob(const StoredJob& job) {
  Encoder out;
  out.PutU64(job.hash.high);
  out.PutU64(job.hash.low);
  out.PutU64(job.text_hash);
  out.PutVarint(static_cast<uint64_t>(job.agents));
  out.PutVarint(static_cast<uint64_t>(job.workers));
  const std::string body = out.Take();
  return absl::StrCat(body, RecordDigest({body}).ToString());
}

// None if its bytes are not those written.
std::optional<StoredJob> DecodeJob(absl::string_view record) {
  Decoder in(record);
  StoredJob out;
  out.hash.high = in.GetU64();
  out.hash.low = in.GetU64();
  out.text_hash = in.GetU64();
  const uint64_t agents = in.GetVarint();
  const uint64_t workers = in.GetVarint();
  if (!in.ok() || agents > StoredJob::kTargetMax ||
      workers > StoredJob::kTargetMax) {
    return std::nullopt;
  }
  out.agents = static_cast<int>(agents);
  out.workers = static_cast<int>(workers);
  if (record != EncodeJob(out)) return std::nullopt;
  return out;
}

// The data of `value`, which lives as long.
Bytes DataOf(const Value& value) {
  return {std::make_shared<const Value>(value), value.view()};
}

absl::StatusOr<Value> DecodeRecord(absl::string_view key,
                                   absl::string_view record) {
  Decoder in(record);
  Digest digest;
  digest.low = in.GetU64();
  digest.high = in.GetU64();
  const absl::string_view body = in.GetRaw(in.remaining());
  if (!in.ok() || RecordDigest({key, body}) != digest) {
    return absl::DataLossError("the bytes on disk are not those written");
  }
  Decoder inner(body);
  absl::StatusOr<Value> value = Value::Decode(inner);
  if (!value.ok()) return value.status();
  absl::Status status = inner.Finish("value");
  if (!status.ok()) return status;
  return value;
}

}  // namespace

uint64_t ValueStore::Submit(EngineRequest request, const Digest& job,
                            const Label& label, bool is_of_jobs) {
  const uint64_t ticket = next_ticket_++;
  request.ticket = ticket;
  const int64_t bytes = request.value.size() + request.rest.size();
  requests_[request.ticket] = {job, label, bytes, is_of_jobs};
  writing_bytes_ += bytes;
  engine_.Submit(std::move(request));
  return ticket;
}

uint64_t ValueStore::Write(const Digest& job, const Label& label,
                           const Value& value) {
  const std::string key = KeyOf(job, label);
  written_jobs_.insert(job);
  return Submit({.kind = EngineRequest::Kind::kPut,
                 .key = key,
                 .value = EncodeRecordHead(key, value),
                 .rest = DataOf(value)},
                job, label);
}

void ValueStore::Load(const Digest& job, const Label& label) {
  Submit({.kind = EngineRequest::Kind::kGet, .key = KeyOf(job, label)}, job,
         label);
}

void ValueStore::Erase(const Digest& job, const Label& label) {
  Submit({.kind = EngineRequest::Kind::kErase, .key = KeyOf(job, label)}, job,
         label);
}

void ValueStore::EraseJob(const Digest& job) {
  const bool was_written = written_jobs_.erase(job) > 0;
  if (!was_written && !reads_jobs_ && !stored_jobs_.contains(job)) return;
  if (reads_jobs_) erased_jobs_.insert(job);
  Submit({.kind = EngineRequest::Kind::kErasePrefix, .key = PrefixOf(job)}, job,
         {});
  Submit({.kind = EngineRequest::Kind::kErase, .key = JobKeyOf(job)}, job, {});
  stored_jobs_.erase(job);
}

void ValueStore::NoteJob(const StoredJob& job) {
  stored_jobs_[job.hash] = job;
  Submit({.kind = EngineRequest::Kind::kPut,
          .key = JobKeyOf(job.hash),
          .value = Bytes(EncodeJob(job))},
         job.hash, {}, /*is_of_jobs=*/true);
}

void ValueStore::ScanJobs() {
  reads_jobs_ = true;
  Submit({.kind = EngineRequest::Kind::kScan,
          .key = std::string(kJobsPrefix),
          .bytes_max = kScanPageBytes},
         {}, {}, /*is_of_jobs=*/true);
}

void ValueStore::NoteJobs(const EngineReply& reply) {
  for (const auto& [key, record] : reply.found) {
    const std::optional<StoredJob> job = DecodeJob(record.view());
    if (!job.has_value() || erased_jobs_.contains(job->hash)) continue;
    stored_jobs_.try_emplace(job->hash, *job);
  }
  if (reply.kind != EngineRequest::Kind::kScan) return;
  if (!reply.more || reply.found.empty()) {
    reads_jobs_ = false;
    erased_jobs_.clear();
    return;
  }
  Submit({.kind = EngineRequest::Kind::kScan,
          .key = std::string(kJobsPrefix),
          .after = reply.found.back().first,
          .bytes_max = kScanPageBytes},
         {}, {}, /*is_of_jobs=*/true);
}

void ValueStore::Scan(const Digest& job) {
  Submit({.kind = EngineRequest::Kind::kScan,
          .key = PrefixOf(job),
          .bytes_max = kScanPageBytes},
         job, {});
}

void ValueStore::NotePage(const EngineReply& reply, const Request& request,
                          std::vector<Event>& events) {
  for (const auto& [key, record] : reply.found) {
    const absl::StatusOr<Label> label = LabelOf(key, request.job);
    if (!label.ok()) continue;
    absl::StatusOr<Value> value = DecodeRecord(key, record.view());
    if (value.ok()) {
      events.push_back({.kind = Event::Kind::kFound,
                        .job = request.job,
                        .label = *label,
                        .value = *std::move(value)});
    } else {
      Erase(request.job, *label);
    }
  }
  if (reply.more && !reply.found.empty()) {
    Submit({.kind = EngineRequest::Kind::kScan,
            .key = PrefixOf(request.job),
            .after = reply.found.back().first,
            .bytes_max = kScanPageBytes},
           request.job, {});
  } else {
    events.push_back({.kind = Event::Kind::kScanned, .job = request.job});
  }
}

void ValueStore::Poll(std::vector<Event>& events) {
  replies_.clear();
  engine_.Poll(replies_);
  for (EngineReply& reply : replies_) {
    const auto it = requests_.find(reply.ticket);
    if (it == requests_.end()) {
      others_.push_back(std::move(reply));
      continue;
    }
    const Request request = it->second;
    requests_.erase(it);
    writing_bytes_ -= request.bytes;
    Event event{
        .ticket = reply.ticket, .job = request.job, .label = request.label};
    if (request.is_of_jobs && reply.status.ok()) {
      NoteJobs(reply);
      continue;
    }
    if (reply.status.code() == absl::StatusCode::kResourceExhausted) {
      event.kind = Event::Kind::kFailed;
      event.status = reply.status;
      events.push_back(event);
      event.status = absl::OkStatus();
      // Waiters for this value must not wait longer.
      if (reply.kind == EngineRequest::Kind::kGet) {
        event.kind = Event::Kind::kLost;
        events.push_back(std::move(event));
      } else if (reply.kind == EngineRequest::Kind::kScan) {
        event.kind = Event::Kind::kScanned;
        events.push_back(std::move(event));
      }
      continue;
    }
    switch (reply.kind) {
      case EngineRequest::Kind::kPut:
        event.kind = Event::Kind::kWritten;
        events.push_back(std::move(event));
        break;
      case EngineRequest::Kind::kGet: {
        absl::StatusOr<Value> value =
            reply.status.ok() ? DecodeRecord(KeyOf(request.job, request.label),
                                             reply.value.view())
                              : absl::StatusOr<Value>(reply.status);
        event.kind = value.ok() ? Event::Kind::kLoaded : Event::Kind::kLost;
        if (value.ok()) event.value = *std::move(value);
        events.push_back(std::move(event));
        break;
      }
      case EngineRequest::Kind::kErase:
      case EngineRequest::Kind::kErasePrefix:
        break;
      case EngineRequest::Kind::kScan:
        NotePage(reply, request, events);
        break;
    }
  }
}

}  // namespace dogged
