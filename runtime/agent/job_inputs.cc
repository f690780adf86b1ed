#include "runtime/agent/job_inputs.h"

#include <memory>
#include <utility>

#include "runtime/job/inputs/input_chunks.h"

namespace dogged {

InputChunks* JobInputs::Find(JobId job) {
  JobEntry* const entry = table_.Find(job);
  return entry == nullptr ? nullptr : entry->inputs.get();
}

void JobInputs::Open(JobEntry& entry, Job& job) {
  if (!InputChunks::IsNeededFor(job)) return;
  entry.inputs = std::make_unique<InputChunks>(
      InputChunks::Options{
          .self = agent_.id(),
          .id = JobId(entry.hash.high),
          .hash = entry.hash,
          .limits = agent_.options.limits,
          .memory_bytes_max = agent_.options.job_limits.memory_bytes_max,
          .store = agent_.values.get(),
          .keeps_values = agent_.options.keeps_values,
          .lending = agent_.lending.get()},
      job);
  if (agent_.IsDraining()) entry.inputs->HandOver();
  if (entry.has_supplier) {
    entry.inputs->SetSupplier(true);
    AdoptFromOthers(*entry.inputs);
  }
  job.chunk_source = entry.inputs->source();
}

void JobInputs::AdoptFromOthers(InputChunks& inputs) {
  for (auto& [job, entry] : table_) {
    if (entry.inputs == nullptr || entry.inputs.get() == &inputs) continue;
    inputs.Adopt(*entry.inputs);
  }
}

void JobInputs::Receive(absl::Time now, AgentId from, JobId job,
                        const Bytes& body) {
  if (InputChunks* const inputs = Find(job)) {
    agent_.Count(inputs->Receive({now, agent_.outbox}, from, body.view()));
    return;
  }
  Bytes answer = InputChunks::AnswerWithout(body.view());
  if (answer.empty()) return;
  agent_.outbox.Send(from, InputChunks::kKind, job, std::move(answer));
}

void JobInputs::Tick(absl::Time now) {
  std::vector<AgentId> others;
  for (auto& [job, entry] : table_) {
    if (entry.inputs == nullptr) continue;
    if (others.empty()) others = agent_.Others();
    entry.inputs->Tick({now, agent_.outbox}, others);
  }
}

void JobInputs::SetSupplier(JobId job, bool is_there) {
  JobEntry* const entry = table_.Find(job);
  if (entry == nullptr) return;
  entry->has_supplier = is_there;
  if (entry->inputs == nullptr) return;
  entry->inputs->SetSupplier(is_there);
  if (is_there) AdoptFromOthers(*entry->inputs);
}

std::vector<ChunkId> JobInputs::TakeWishes(JobId job) {
  InputChunks* const inputs = Find(job);
  if (inputs == nullptr) return {};
  return inputs->TakeWishes();
}

absl::Status JobInputs::Supply(JobId job, const ChunkId& chunk,
                               absl::string_view bytes) {
  InputChunks* const inputs = Find(job);
  if (inputs == nullptr) {
    return absl::NotFoundError("inputs of no job that runs here");
  }
  return inputs->Supply(chunk, bytes);
}

}  // namespace dogged
