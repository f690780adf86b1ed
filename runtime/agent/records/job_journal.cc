#include "runtime/agent/records/job_journal.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "runtime/base/codec.h"
#include "runtime/base/log.h"
#include "runtime/base/wire_version.h"

namespace dogged {
namespace {

// Names of records of submissions begin like their keys in membership, names of
// job values otherwise.
constexpr absl::string_view kSubmissions = "job/";
constexpr absl::string_view kValues = "value/";
// Format of the bytes below.
constexpr uint8_t kFormat = 1;

std::string ValueName(const Digest& job) {
  return absl::StrCat(kValues, job.ToString());
}

struct StoredSubmission {
  int64_t ended_ms = 0;
  bool has_value = false;
  JobRecord record;
};

Bytes Encode(const StoredSubmission& stored) {
  Encoder out;
  out.PutU8(kFormat);
  out.PutSigned(stored.ended_ms);
  out.PutBool(stored.has_value);
  const Bytes record = stored.record.Encode();
  out.PutString(record.view());
  return Bytes(out.Take());
}

// Bytes that are whole, and of another format than kFormat.
bool IsOfOtherFormat(absl::string_view bytes) {
  return !bytes.empty() && static_cast<uint8_t>(bytes[0]) != kFormat;
}

// None for bytes of another format, and for damaged ones.
std::optional<StoredSubmission> Decode(absl::string_view bytes) {
  Decoder in(bytes);
  if (in.GetU8() != kFormat) return std::nullopt;
  StoredSubmission out;
  out.ended_ms = in.GetSigned();
  out.has_value = in.GetBool();
  auto record = JobRecord::Decode(in.GetString());
  if (!TakeOpenEnd(in, "stored submission").ok() || !record.ok()) {
    return std::nullopt;
  }
  out.record = *std::move(record);
  return out;
}

}  // namespace

JobJournal::JobJournal(Engine* engine, std::function<absl::Time()> wall_time,
                       const JobRecords& records)
    : wall_time_(std::move(wall_time)), records_(records) {
  if (engine == nullptr) return;
  store_ = std::make_unique<RecordStore>(*engine);
  store_->Scan(kSubmissions);
}

template <typename Visit>
void JobJournal::ForEachOf(const Digest& job, Visit visit) {
  const std::string prefix = JobRecord::KeyPrefix(job);
  for (auto it = submissions_.lower_bound(prefix);
       it != submissions_.end() && absl::StartsWith(it->first, prefix); ++it) {
    visit(it->first, it->second);
  }
}

// --- what is written

void JobJournal::NoteValue(const Digest& job, const Bytes& encoded) {
  if (store_ == nullptr || values_.contains(job)) return;
  // Before the records: where one of these is found, the value is, too.
  const uint64_t ticket = store_->Put(ValueName(job), encoded);
  values_[job] = ticket;
  writing_[ticket] = ValueName(job);
  for (const JobRecord& record : records_.RunningOf(JobId(job.high))) {
    Note(record);
  }
}

void JobJournal::Note(const JobRecord& record) {
  if (store_ == nullptr) return;
  const bool runs = record.state == JobState::kRunning;
  const std::string key = record.Key();
  auto known = submissions_.find(key);
  if (known == submissions_.end()) {
    if (!runs || !values_.contains(record.hash)) return;
    known = submissions_.try_emplace(key).first;
  } else if (record.version() <= known->second.version) {
    return;
  }
  Submission& submission = known->second;
  submission.version = record.version();
  submission.is_delivered = record.is_delivered;
  submission.has_value |= values_.contains(record.hash);
  if (!runs && submission.ended_ms == 0) {
    submission.ended_ms =
        std::max<int64_t>(1, absl::ToUnixMillis(wall_time_()));
    submission.end_number = record.end_number;
    ended_.insert({submission.end_number, key});
  }
  Write(key, submission);
  DropOldest();
}

void JobJournal::Write(const std::string& key, Submission& submission) {
  // Rounds of a loop may end faster than a disk writes.
  if (submission.ticket != 0) {
    submission.is_stale = true;
    return;
  }
  auto record = records_.Find(key);
  if (!record.has_value()) return;
  record->is_delivered |= submission.is_delivered;
  submission.writes_end = submission.ended_ms != 0;
  submission.ticket =
      store_->Put(key, Encode({.ended_ms = submission.ended_ms,
                               .has_value = submission.has_value,
                               .record = *std::move(record)}));
  writing_[submission.ticket] = key;
}

void JobJournal::DropOldest() {
  while (std::ssize(ended_) > kEndedMax) {
    const std::string key = ended_.begin()->second;
    ended_.erase(ended_.begin());
    submissions_.erase(key);
    store_->Erase(key);
  }
}

void JobJournal::Forget(const Digest& job) {
  if (store_ == nullptr) return;
  bool had_value = values_.erase(job) > 0;
  ForEachOf(job, [&](const std::string&, Submission& submission) {
    had_value |= submission.has_value;
  });
  if (!had_value) return;
  store_->Erase(ValueName(job));
  ForEachOf(job, [&](const std::string& key, Submission& submission) {
    if (!std::exchange(submission.has_value, false)) return;
    Write(key, submission);
  });
}

bool JobJournal::IsWriting(const Digest& job) const {
  const auto value = values_.find(job);
  if (value != values_.end() && value->second != 0) return true;
  const std::string prefix = JobRecord::KeyPrefix(job);
  for (auto it = submissions_.lower_bound(prefix);
       it != submissions_.end() && absl::StartsWith(it->first, prefix); ++it) {
    if (!it->second.is_durable) return true;
  }
  return false;
}

bool JobJournal::IsWritingEnd(const std::string& key) const {
  const auto it = submissions_.find(key);
  return it != submissions_.end() && it->second.ended_ms != 0 &&
         !it->second.end_is_durable;
}

void JobJournal::NoteWritten(uint64_t ticket) {
  const auto written = writing_.find(ticket);
  if (written == writing_.end()) return;
  const std::string name = std::move(written->second);
  writing_.erase(written);
  for (auto& [job, put] : values_) {
    if (put == ticket) put = 0;
  }
  const auto it = submissions_.find(name);
  if (it == submissions_.end() || it->second.ticket != ticket) return;
  it->second.ticket = 0;
  it->second.is_durable = true;
  it->second.end_is_durable |= it->second.writes_end;
  if (std::exchange(it->second.is_stale, false)) Write(name, it->second);
}

// The words about a disk that takes no more are those about values.
void JobJournal::GiveUp() {
  store_.reset();
  submissions_.clear();
  ended_.clear();
  values_.clear();
  writing_.clear();
  has_scanned_ = true;
  for (const Digest& job : std::exchange(loading_, {})) {
    loaded_.emplace_back(job, Bytes());
  }
}

// --- what was there

void JobJournal::Take(const EngineReply& reply) {
  if (store_ == nullptr) return;
  std::vector<RecordStore::Event> events;
  store_->Take(reply, events);
  for (const RecordStore::Event& event : events) {
    switch (event.kind) {
      case RecordStore::Event::Kind::kWritten:
        NoteWritten(event.ticket);
        break;
      case RecordStore::Event::Kind::kFound:
        NoteFound(event);
        break;
      case RecordStore::Event::Kind::kLoaded:
      case RecordStore::Event::Kind::kLost:
        NoteLoaded(event);
        break;
      case RecordStore::Event::Kind::kScanned:
        has_scanned_ = true;
        break;
      case RecordStore::Event::Kind::kFailed:
        return GiveUp();
    }
  }
}

void JobJournal::NoteFound(const RecordStore::Event& event) {
  std::optional<StoredSubmission> stored = Decode(event.bytes.view());
  if (!stored.has_value() || stored->record.Key() != event.name) {
    if (IsOfOtherFormat(event.bytes.view())) {
      ++other_format_count_;
      other_format_ = static_cast<uint8_t>(event.bytes.view()[0]);
    } else {
      ++unreadable_count_;
    }
    return;
  }
  const bool runs = stored->record.state == JobState::kRunning;
  // Records that came from others meanwhile are newer.
  const auto [it, is_new] = submissions_.try_emplace(event.name);
  if (is_new) {
    it->second = {.version = stored->record.version(),
                  .end_number = stored->record.end_number,
                  .ended_ms = stored->ended_ms,
                  .is_delivered = stored->record.is_delivered,
                  .has_value = stored->has_value,
                  .is_durable = true,
                  .end_is_durable = !runs};
    if (!runs) ended_.insert({it->second.end_number, event.name});
  }
  // A wall clock that was set back makes it younger, never older.
  const absl::Duration age =
      runs ? absl::ZeroDuration()
           : std::max(absl::ZeroDuration(),
                      wall_time_() - absl::FromUnixMillis(stored->ended_ms));
  found_.push_back({.record = std::move(stored->record),
                    .age = age,
                    .has_value = stored->has_value});
}

void JobJournal::NoteLoaded(const RecordStore::Event& event) {
  absl::string_view name = event.name;
  if (!absl::ConsumePrefix(&name, kValues)) {
    ++unreadable_count_;  // of a scan
    return;
  }
  const auto it = std::find_if(
      loading_.begin(), loading_.end(),
      [&](const Digest& job) { return ValueName(job) == event.name; });
  if (it == loading_.end()) return;
  const Digest job = *it;
  loading_.erase(it);
  const bool is_whole = event.kind == RecordStore::Event::Kind::kLoaded &&
                        Hash128(event.bytes.view()) == job;
  if (is_whole) values_.try_emplace(job, 0);
  loaded_.emplace_back(job, is_whole ? event.bytes : Bytes());
}

std::vector<JobJournal::Found> JobJournal::TakeFound() {
  if (unreadable_count_ > 0) {
    Log(LogLevel::kWarning,
        absl::StrCat(std::exchange(unreadable_count_, 0),
                     " records of jobs in the directory are damaged: these "
                     "jobs don't go on from it; submit them again"));
  }
  if (other_format_count_ > 0) {
    Log(LogLevel::kWarning,
        absl::StrCat(std::exchange(other_format_count_, 0),
                     " records of jobs in the directory are of format ",
                     other_format_, ", and dogged ", WireHello::Here().release,
                     " reads format ", kFormat,
                     ": these jobs don't go on from it; start an agent of the "
                     "release that wrote them, or submit them again"));
  }
  return std::exchange(found_, {});
}

void JobJournal::Load(const Digest& job) {
  if (store_ == nullptr) return loaded_.emplace_back(job, Bytes()), void();
  if (loading_.insert(job).second) store_->Load(ValueName(job));
}

std::vector<std::pair<Digest, Bytes>> JobJournal::TakeLoaded() {
  return std::exchange(loaded_, {});
}

bool JobJournal::Awaits(const Digest& job) const {
  if (store_ == nullptr && loaded_.empty()) return false;
  if (!is_decided_ || loading_.contains(job)) return true;
  return std::any_of(loaded_.begin(), loaded_.end(),
                     [&](const auto& one) { return one.first == job; });
}

}  // namespace dogged
