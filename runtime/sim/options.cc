#include "runtime/sim/options.h"

#include <iterator>

#include "runtime/base/random.h"

namespace dogged {

SimOptions Drawn(SimOptions options) {
  if (options.job_limits.generation_interval == 0) {
    Rng limits = Rng(options.seed).Stream("limits");
    options.job_limits.generation_interval =
        limits.Chance(0.5) ? JobLimits{}.generation_interval
                           : 1 + limits.Below(6);
  }
  if (options.job_limits.credit_bytes < 0) {
    // Enough, or none: all is announced first.
    options.job_limits.credit_bytes =
        Rng(options.seed).Stream("credit").Chance(0.25)
            ? 0
            : JobLimits{}.credit_bytes;
  }
  if (options.job_limits.copies.labels_max < 0) {
    Rng limits = Rng(options.seed).Stream("copies");
    options.job_limits.copies.labels_max =
        limits.Chance(0.5) ? CopyLimits{}.labels_max : limits.Below(4);
  }
  if (options.job_limits.cuts.loss_interval == absl::ZeroDuration()) {
    // Cuts as often as there is room, now and then, or none but by chance.
    constexpr absl::Duration kIntervals[] = {
        absl::Milliseconds(1), absl::Seconds(10), absl::Hours(24)};
    options.job_limits.cuts.loss_interval = kIntervals
        [Rng(options.seed).Stream("losses").Below(std::size(kIntervals))];
  }
  if (options.job_limits.cut_bytes_min < 0) {
    options.job_limits.cut_bytes_min =
        Rng(options.seed).Stream("released").Chance(0.5)
            ? 0
            : JobLimits{}.cut_bytes_min;
  }
  if (options.job_limits.batch_bytes_max < 0) {
    // Each alone, a few, or many.
    constexpr int64_t kSizes[] = {0, 100, JobLimits{}.batch_bytes_max};
    options.job_limits.batch_bytes_max =
        kSizes[Rng(options.seed).Stream("bulks").Below(std::size(kSizes))];
  }
  if (options.arena_bytes < 0) {
    // None, too little for all, or enough.
    constexpr int64_t kSizes[] = {0, 2048, 1 << 18, 1 << 18};
    options.arena_bytes =
        kSizes[Rng(options.seed).Stream("arena").Below(std::size(kSizes))];
  }
  if (!options.gathers_first.has_value()) {
    options.gathers_first = Rng(options.seed).Stream("gathers").Chance(0.5);
  }
  return options;
}

}  // namespace dogged
