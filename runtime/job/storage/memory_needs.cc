#include "runtime/job/storage/memory_needs.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/job/storage/value_spill.h"

namespace dogged {
namespace {

// While a task runs, agents of this host may still hold values that another
// task read or made.
constexpr int64_t kTasksAtOnce = 2;
// Versions of a row are dropped once a later retained generation is there.
constexpr int64_t kPinsAtOnce = 2;
// Bytes in memory of a value too small to be spilled, or the header of a
// spilled value.
constexpr int64_t kKeptBytes = Value::kHeaderBytes + kSpilledMin;

}  // namespace

absl::Status MemoryNeeds::SetKernels(std::shared_ptr<const KernelTable> kernels,
                                     int workers, int64_t generation_interval) {
  kernels_ = std::move(kernels);
  task_bytes_.emplace(relations_, *kernels_);
  int64_t scratch = 0;
  Task widest;
  task_bytes_->ForEachSample([&](const Task& task) {
    scratch = std::max(scratch, task_bytes_->ScratchOf(task));
    const int64_t bytes = task_bytes_->AllOf(task);
    if (bytes <= widest_bytes_) return;
    widest_bytes_ = bytes;
    widest = task;
  });
  // Results stay until a client has all of them.
  const double labels =
      task_bytes_->LabelsAtOnce(kPinsAtOnce * generation_interval) +
      static_cast<double>(relations_.program().ResultCount());
  kept_bytes_ = workers * scratch +
                static_cast<int64_t>(std::min(labels * kKeptBytes, 1e15));
  return Judge(widest, widest_bytes_);
}

absl::Status MemoryNeeds::Judge(const Task& task, int64_t bytes) const {
  if (bytes <= bytes_max_) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat(
      "task ", relations_.program().TaskText(task), " needs ", bytes,
      " bytes for its inputs and output; --memory ", bytes_max_,
      " is too little, ", Enough(0, bytes), " would do"));
}

int64_t MemoryNeeds::Enough(int64_t live, int64_t bytes) const {
  // An eighth above: what is kept of values on disk grows until the job ends,
  // and a number that falls short by some bytes next time helps nobody. Readers
  // of a task wider than all that were looked at take more still.
  const int64_t widest = bytes > widest_bytes_ ? 2 * bytes : widest_bytes_;
  const int64_t needed =
      std::max(live + bytes, kTasksAtOnce * widest + kept_bytes_);
  return needed + needed / 8;
}

}  // namespace dogged
