#include "kvstore/dictionary/conflict_check.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

// As far back as labels are made again while pins live; and 32 MB.
constexpr int64_t kDigestVersions = 64;
constexpr int64_t kDigestsMax = int64_t{1} << 21;

}  // namespace

ConflictCheck::ConflictCheck(LabelContext& job, LabelTable& labels)
    : job_(job), labels_(labels), log_(kDigestVersions, kDigestsMax) {}

std::optional<bool> ConflictCheck::BindHere(const Label& label,
                                            const Value& value, AgentId from) {
  if (!LogDigestOf(label, value, from)) return std::nullopt;
  const absl::StatusOr<bool> bound = labels_.shard.Bind(label, value);
  if (bound.ok()) return *bound;
  FailOfConflict(label, labels_.shard.Find(label)->value.digest(),
                 value.digest(), from);
  return std::nullopt;
}

bool ConflictCheck::CompareDigest(const Label& label, const Digest& digest,
                                  AgentId from) {
  const LabelEntry* entry = labels_.shard.FindBound(label);
  if (entry != nullptr && entry->value.digest() != digest) {
    FailOfConflict(label, entry->value.digest(), digest, from);
    return false;
  }
  return LogDigest(label, digest, from);
}

bool ConflictCheck::LogDigest(const Label& label, const Digest& digest,
                              AgentId from) {
  const Label row = job_.relations.RowOf(label);
  const int64_t version = job_.relations.VersionOf(label);
  if (log_.Note(row, version, digest)) return true;
  FailOfConflict(label, *log_.Find(row, version), digest, from);
  return false;
}

bool ConflictCheck::LogDigests(const std::vector<RowDigests>& rows,
                               AgentId from) {
  for (const RowDigests& row : rows) {
    for (const auto& [version, digest] : row.versions) {
      const Label label = job_.relations.WithVersion(row.row, version);
      if (!CompareDigest(label, digest, from)) return false;
    }
  }
  return true;
}

bool ConflictCheck::LogDigestOf(const Label& label, const Value& value,
                                AgentId from) {
  if (!value.HasDigest() && !log_.Find(job_.relations.RowOf(label),
                                       job_.relations.VersionOf(label))) {
    return true;
  }
  return LogDigest(label, value.digest(), from);
}

std::optional<Digest> ConflictCheck::KnownDigest(const Label& label) const {
  const LabelEntry* entry = labels_.shard.FindBound(label);
  if (entry != nullptr && entry->value.HasDigest()) {
    return entry->value.digest();
  }
  return log_.Find(job_.relations.RowOf(label),
                   job_.relations.VersionOf(label));
}

void ConflictCheck::NoteDigestFrom(absl::Time now, AgentId from,
                                   const Label& label) {
  const AgentId home = labels_.places.HomeOf(label);
  if (from == home || home == job_.self) return;
  log_.MarkUntold(job_.relations.RowOf(label), now);
}

void ConflictCheck::MarkDigestsUntold(
    absl::Time now, absl::FunctionRef<bool(const Label& row)> moved) {
  for (const RowDigests& row : log_.Select(moved)) {
    if (!labels_.places.IsHome(row.row)) log_.MarkUntold(row.row, now);
  }
}

void ConflictCheck::TellDigests(const Pass& pass) {
  // Some packets: a stream would take the place of values.
  constexpr int64_t kDigestsAtOnce = 1 << 5;
  struct Part {
    WatermarksBody body;
    int64_t digest_count = 0;
  };
  std::map<AgentId, Part> parts;
  const auto send = [&](AgentId home, Part& part) {
    job_.messenger.SendTo(home, LabelMessage::kWatermarks,
                          EncodeWatermarks(part.body), pass.out);
    part = Part();
  };
  for (RowDigests& row : log_.TakeUntold(pass.now)) {
    const AgentId home = labels_.places.HomeOf(row.row);
    if (home == job_.self) continue;
    Part& part = parts[home];
    part.digest_count += std::ssize(row.versions);
    part.body.digests.push_back(std::move(row));
    if (part.digest_count >= kDigestsAtOnce) send(home, part);
  }
  for (auto& [home, part] : parts) {
    if (part.digest_count > 0) send(home, part);
  }
}

void ConflictCheck::FailOfConflict(const Label& label, const Digest& mine,
                                   const Digest& other, AgentId from) {
  const LabelEntry* entry = labels_.shard.Find(label);
  const std::optional<Reader> producer = job_.relations.ProducerOf(label);
  const auto who = [this](AgentId agent, bool made) {
    return absl::StrCat("agent ", agent.ToString(),
                        made ? ", which ran the task" : "");
  };
  job_.Fail(absl::DataLossError(absl::StrCat(
      "label ", job_.relations.TextOf(label), " of task ",
      producer.has_value() ? job_.relations.TextOf(*producer) : "none",
      " has two values: ", mine.ToString(), " at ",
      who(job_.self, entry != nullptr && entry->made_here && from != job_.self),
      ", and ", other.ToString(), " from ", who(from, from == job_.self),
      "; a kernel that is not deterministic, or memory that is broken")));
}

std::vector<RowDigests> ConflictCheck::AllDigests() const {
  return log_.Select([](const Label&) { return true; });
}

void ConflictCheck::NoteMadeAway(absl::Time now, const Label& label) {
  log_.MarkUntold(job_.relations.RowOf(label),
                  now + job_.limits.grant_silence_max);
}

void ConflictCheck::NoteStoredAtHome(const Label& label) {
  log_.MarkTold(job_.relations.RowOf(label));
}

}  // namespace dogged
