#include "runtime/agent/job_table.h"

namespace dogged {

JobTable::~JobTable() {
  for (const auto& [job, entry] : jobs_) {
    if (entry.kernels != nullptr) StopKernels(*entry.kernels);
  }
}

JobEntry* JobTable::Find(JobId job) {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? nullptr : &it->second;
}

const JobEntry* JobTable::Find(JobId job) const {
  const auto it = jobs_.find(job);
  return it == jobs_.end() ? nullptr : &it->second;
}

JobRun* JobTable::FindRun(JobId job) const {
  const JobEntry* const entry = Find(job);
  return entry == nullptr ? nullptr : entry->run.get();
}

JobEntry* JobTable::FindNamed(absl::Time now, JobId job) {
  if (JobEntry* const entry = Find(job)) return entry;
  const JobIndex::Known* known = records_.index().Find(job);
  if (known == nullptr) return nullptr;
  JobEntry& entry = jobs_[job];
  entry.hash = known->hash;
  entry.is_done = known->done > 0;
  entry.is_delivered = known->IsDelivered();
  entry.over_since = now;
  return &entry;
}

std::vector<JobId> JobTable::RunIds() const {
  std::vector<JobId> out;
  for (const auto& [job, entry] : jobs_) {
    if (entry.run != nullptr) out.push_back(job);
  }
  return out;
}

}  // namespace dogged
