#include "kvstore/storage/record_store.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/codec.h"
#include "runtime/base/hash.h"

namespace dogged {
namespace {

constexpr int64_t kRecordPageBytes = 4 << 20;

// "r", then the name: keys of values and of stored jobs begin otherwise.
constexpr absl::string_view kPrefix = "r";

Digest DigestOf(absl::string_view name, absl::string_view bytes) {
  DigestStream stream;
  stream.Add(name);
  stream.Add(bytes);
  return stream.Finish();
}

// A record is the digest of name and bytes, then the bytes.
absl::StatusOr<Bytes> Decode(absl::string_view name, const Bytes& record) {
  Decoder in(record.view());
  Digest digest;
  digest.low = in.GetU64();
  digest.high = in.GetU64();
  const int64_t size = in.remaining();
  if (!in.ok()) return absl::DataLossError("a record without its digest");
  const Bytes body = record.Slice(record.size() - size, size);
  if (DigestOf(name, body.view()) != digest) {
    return absl::DataLossError("the bytes on disk are not those written");
  }
  return body;
}

}  // namespace

uint64_t RecordStore::Submit(EngineRequest request, std::string name) {
  request.ticket = next_ticket_++;
  names_[request.ticket] = std::move(name);
  const uint64_t ticket = request.ticket;
  engine_.Submit(std::move(request));
  return ticket;
}

uint64_t RecordStore::Put(absl::string_view name, const Bytes& bytes) {
  const Digest digest = DigestOf(name, bytes.view());
  Encoder head;
  head.PutU64(digest.low);
  head.PutU64(digest.high);
  return Submit({.kind = EngineRequest::Kind::kPut,
                 .key = absl::StrCat(kPrefix, name),
                 .value = Bytes(head.Take()),
                 .rest = bytes},
                std::string(name));
}

void RecordStore::Load(absl::string_view name) {
  Submit(
      {.kind = EngineRequest::Kind::kGet, .key = absl::StrCat(kPrefix, name)},
      std::string(name));
}

void RecordStore::Erase(absl::string_view name) {
  Submit(
      {.kind = EngineRequest::Kind::kErase, .key = absl::StrCat(kPrefix, name)},
      std::string(name));
}

void RecordStore::ScanBehind(std::string prefix, std::string after) {
  EngineRequest request{.kind = EngineRequest::Kind::kScan,
                        .key = absl::StrCat(kPrefix, prefix),
                        .after = std::move(after),
                        .bytes_max = kRecordPageBytes};
  Submit(std::move(request), std::move(prefix));
}

void RecordStore::NotePage(const EngineReply& reply, const std::string& prefix,
                           std::vector<Event>& events) {
  for (const auto& [key, record] : reply.found) {
    std::string name = key.substr(kPrefix.size());
    absl::StatusOr<Bytes> bytes = Decode(name, record);
    Event event{.kind = bytes.ok() ? Event::Kind::kFound : Event::Kind::kLost,
                .name = std::move(name)};
    if (bytes.ok()) event.bytes = *std::move(bytes);
    events.push_back(std::move(event));
  }
  if (reply.more && !reply.found.empty()) {
    return ScanBehind(prefix, reply.found.back().first);
  }
  events.push_back({.kind = Event::Kind::kScanned, .name = prefix});
}

void RecordStore::Take(const EngineReply& reply, std::vector<Event>& events) {
  const auto it = names_.find(reply.ticket);
  if (it == names_.end()) return;
  Event event{.ticket = reply.ticket, .name = std::move(it->second)};
  names_.erase(it);
  if (reply.status.code() == absl::StatusCode::kResourceExhausted) {
    events.push_back({.kind = Event::Kind::kFailed, .status = reply.status});
  }
  switch (reply.kind) {
    case EngineRequest::Kind::kPut:
      if (!reply.status.ok()) return;
      event.kind = Event::Kind::kWritten;
      return events.push_back(std::move(event));
    case EngineRequest::Kind::kGet: {
      absl::StatusOr<Bytes> bytes = reply.status.ok()
                                        ? Decode(event.name, reply.value)
                                        : absl::StatusOr<Bytes>(reply.status);
      event.kind = bytes.ok() ? Event::Kind::kLoaded : Event::Kind::kLost;
      if (bytes.ok()) event.bytes = *std::move(bytes);
      return events.push_back(std::move(event));
    }
    case EngineRequest::Kind::kScan:
      return NotePage(reply, event.name, events);
    case EngineRequest::Kind::kErase:
    case EngineRequest::Kind::kErasePrefix:
      return;
  }
}

}  // namespace dogged
