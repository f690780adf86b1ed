#include "runtime/agent/job_kernels.h"

#include <utility>

#include "runtime/graph/numeric_class.h"
#include "runtime/job/job_run.h"

namespace dogged {
namespace {

// An agent without kernels by then leaves the job to others, until it has some.
constexpr absl::Duration kKernelsPatience = absl::Seconds(15);

}  // namespace

void JobKernels::Prepare(absl::Time now, JobId job, JobEntry& entry) {
  if (entry.kernels != nullptr || entry.has_asked_for_kernels ||
      !MeetsNumericClass(agent_.options.self.numeric_class,
                         entry.job->numeric_class)) {
    return;
  }
  agent_.background.Submit(
      [id = job, kept = entry.job, tools = agent_.tools, made = made_] {
        auto kernels = std::make_shared<absl::StatusOr<LoadedKernels>>(
            tools->load_kernels(*kept));
        return [id, kept, kernels, made] {
          made->push_back({id, kept, std::move(*kernels)});
        };
      });
  entry.has_asked_for_kernels = true;
  entry.kernels_due = now + kKernelsPatience;
}

void JobKernels::TakeMade() {
  for (Made& made : std::exchange(*made_, {})) {
    JobEntry* const entry = table_.Find(made.id);
    if (entry == nullptr || entry->job != made.job) continue;
    // The run has ended meanwhile, or another began before this was made.
    if (entry->run == nullptr || entry->kernels != nullptr) continue;
    // The client of the job has made them, so if they are wrong it is here.
    if (!made.kernels.ok()) {
      entry->run->Suffer(TroubleKind::kUnable, made.kernels.status());
      continue;
    }
    entry->kernels =
        std::make_shared<const KernelTable>(std::move(made.kernels->table));
    entry->run->SetKernels(entry->kernels);
    entry->kernels_due = absl::InfiniteFuture();
    entry->run->Suffer(TroubleKind::kSlow, made.kernels->trouble);
  }
}

void JobKernels::CheckDue(absl::Time now) {
  if (agent_.IsDraining()) return;
  for (auto& [job, entry] : table_) {
    if (entry.run == nullptr || entry.kernels != nullptr) continue;
    if (entry.run->tasks().AwaitsKernels()) Prepare(now, job, entry);
    if (now >= entry.kernels_due) {
      entry.run->Suffer(TroubleKind::kSlow,
                        absl::DeadlineExceededError(
                            "its kernels take long to make: this computer is "
                            "busy, the compiler hangs, or a library does as it "
                            "is loaded"));
      entry.kernels_due = absl::InfiniteFuture();
    }
    agent_.outbox.WakeAt(entry.kernels_due);
  }
}

void JobKernels::Stop(JobEntry& entry) {
  if (entry.kernels != nullptr) StopKernels(*entry.kernels);
  entry.kernels.reset();
  entry.has_asked_for_kernels = false;
}

}  // namespace dogged
