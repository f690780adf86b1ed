#include "runtime/agent/job_records.h"

#include <string>
#include <utility>

namespace dogged {

std::optional<JobRecord> JobRecords::Find(absl::string_view key) const {
  const KeptRecord* known = agent_.membership.records().Find(key);
  if (known == nullptr) return std::nullopt;
  auto record = JobRecord::Decode(known->bytes());
  if (!record.ok()) return std::nullopt;
  return *std::move(record);
}

std::optional<JobRecord> JobRecords::AnyOf(const Digest& job) const {
  const auto kept =
      agent_.membership.records().StartingWith(JobRecord::KeyPrefix(job));
  return kept.empty() ? std::nullopt : Find(kept.front()->key());
}

std::vector<JobRecord> JobRecords::RunningOf(JobId job) const {
  std::vector<JobRecord> out;
  for (const SubmissionId submission : index_.RunningOf(job)) {
    auto record = Find(JobRecord::KeyOf(index_.Find(job)->hash, submission));
    if (record.has_value()) out.push_back(*std::move(record));
  }
  return out;
}

void JobRecords::Publish(absl::Time now, const JobRecord& record) {
  agent_.membership.PutRecord({now, agent_.outbox}, record.Key(),
                              record.version(), record.Encode());
}

}  // namespace dogged
