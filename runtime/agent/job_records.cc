#include "runtime/agent/job_records.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"

namespace dogged {

std::optional<JobRecord> JobRecords::Find(absl::string_view key) const {
  const auto& records = agent_.membership.records();
  const auto known = records.find(key);
  if (known == records.end()) return std::nullopt;
  auto record = JobRecord::Decode(known->second.bytes);
  if (!record.ok()) return std::nullopt;
  return *std::move(record);
}

std::optional<JobRecord> JobRecords::AnyOf(const Digest& job) const {
  const std::string prefix = JobRecord::KeyPrefix(job);
  const auto& records = agent_.membership.records();
  const auto known = records.lower_bound(prefix);
  if (known == records.end() || !absl::StartsWith(known->first, prefix)) {
    return std::nullopt;
  }
  return Find(known->first);
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
