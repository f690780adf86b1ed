#include "apps/verify/parts.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

#include "runtime/exec/worker_threads.h"

namespace dogged {

absl::Status ForEachPart(int64_t count, int threads,
                         absl::FunctionRef<absl::Status(int64_t part)> body) {
  std::atomic<int64_t> left = count;
  std::mutex mutex;
  absl::Status error;
  std::vector<int64_t> again;  // parts that found no memory beside others
  again.reserve(threads);
  const auto run = [&](int64_t part) {
    absl::Status status = body(part);
    if (status.ok()) return;
    left = 0;
    const std::lock_guard lock(mutex);
    error.Update(std::move(status));
  };
  const auto next = [&left] { return left.fetch_sub(1) - 1; };
  const auto work = [&](int) {
    for (int64_t part = next(); part >= 0; part = next()) {
      try {
        run(part);
      } catch (const std::bad_alloc&) {
        const std::lock_guard lock(mutex);
        return again.push_back(part);
      }
    }
  };
  {
    // This thread is one of them, so that one is enough.
    const auto others = std::min<int64_t>(threads, count) - 1;
    const WorkerThreads workers({.worker_count = static_cast<int>(others)},
                                work);
    work(0);
  }
  // Alone there may be memory, also for parts that no thread was left to begin.
  for (const int64_t part : again) {
    if (error.ok()) run(part);
  }
  for (int64_t part = next(); part >= 0; part = next()) run(part);
  return error;
}

void AddInOrder(const std::vector<std::vector<double>>& parts,
                std::vector<double>& sum) {
  for (const std::vector<double>& part : parts) {
    for (size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
  }
}

}  // namespace dogged
