#include "apps/dogged_bench/peers/tbb.h"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"

namespace dogged {
namespace {

using oneapi::tbb::task_group;

// Runs `submit` on one of `threads` threads, and its tasks on all.
void InArena(int threads, absl::FunctionRef<void(task_group&)> submit) {
  const oneapi::tbb::global_control limit(
      oneapi::tbb::global_control::max_allowed_parallelism,
      static_cast<size_t>(threads));
  oneapi::tbb::task_arena arena(threads);
  arena.execute([&] {
    task_group group;
    submit(group);
    group.wait();
  });
}

// n x n tasks that add their left and upper neighbours' doubles.
class Wavefront {
 public:
  Wavefront(int64_t n, task_group& group)
      : n_(n),
        group_(group),
        values_(static_cast<size_t>(n * n)),
        marks_(std::make_unique<std::atomic<int8_t>[]>(
            static_cast<size_t>(n * n))) {}

  void Run(int64_t i, int64_t j) {
    const int64_t at = i * n_ + j;
    const double left = j > 0 ? values_[at - 1] : 0;
    const double up = i > 0 ? values_[at - n_] : 0;
    values_[at] = 1 + left + up;
    for (const auto& [down, right] : {std::pair{i + 1, j}, {i, j + 1}}) {
      if (down < n_ && right < n_ && IsLastInput(down, right)) {
        group_.run([this, i = down, j = right] { Run(i, j); });
      }
    }
  }

 private:
  bool IsLastInput(int64_t i, int64_t j) {
    const int inputs = (i > 0 ? 1 : 0) + (j > 0 ? 1 : 0);
    return marks_[i * n_ + j].fetch_add(1) + 1 == inputs;
  }

  const int64_t n_;
  task_group& group_;
  std::vector<double> values_;
  std::unique_ptr<std::atomic<int8_t>[]> marks_;  // inputs that are there
};

}  // namespace

void TbbIndependent(int64_t count, int threads) {
  std::vector<double> out(static_cast<size_t>(count));
  InArena(threads, [&](task_group& group) {
    for (double& value : out) group.run([&value] { value = 1; });
  });
}

void TbbWavefront(int64_t n, int threads) {
  std::unique_ptr<Wavefront> wavefront;
  InArena(threads, [&](task_group& group) {
    wavefront = std::make_unique<Wavefront>(n, group);
    wavefront->Run(0, 0);
  });
}

void TbbWideRelease(int64_t count, int threads) {
  double root = 0;
  std::vector<double> out(static_cast<size_t>(count));
  InArena(threads, [&](task_group& group) {
    group.run([&] {
      root = 1;
      for (double& value : out) {
        group.run([&value, &root] { value = root + 1; });
      }
    });
  });
}

}  // namespace dogged
