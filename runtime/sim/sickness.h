// Sickness: a defect that a simulated agent has from its beginning, and which
// is no fault of the job's.
#ifndef DOGGED_RUNTIME_SIM_SICKNESS_H_
#define DOGGED_RUNTIME_SIM_SICKNESS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "runtime/agent/job_tools.h"

namespace dogged {

enum class Sickness : uint8_t {
  kNone,
  kShortMemory,      // less than any task takes
  kFullDisk,         // takes nothing; only where agents have disks
  kNoKernels,        // they can't be made
  kSlowKernels,      // a compiler fails: tasks take thirty times as long
  kNoValues,         // every other task finds no memory for its outputs
  kHangingCompiler,  // kernels are made after an hour
};
inline constexpr int kSicknesses = 6;  // without kNone

// How many times as long tasks take.
inline double SlownessOf(Sickness sickness) {
  return sickness == Sickness::kSlowKernels ? 30 : 1;
}
inline absl::Duration CompileTime(Sickness sickness, absl::Duration usual) {
  return sickness == Sickness::kHangingCompiler ? absl::Hours(1) : usual;
}
inline constexpr int64_t kShortMemoryBytes = 8;

// `load` as an agent with this sickness has it.
inline KernelLoader SickLoader(KernelLoader load, Sickness sickness) {
  if (sickness == Sickness::kNoKernels) {
    return [](const Job&) -> absl::StatusOr<LoadedKernels> {
      return absl::UnavailableError("no kernels can be made here");
    };
  }
  if (sickness != Sickness::kSlowKernels) return load;
  return [load = std::move(load)](
             const Job& job) -> absl::StatusOr<LoadedKernels> {
    absl::StatusOr<LoadedKernels> made = load(job);
    if (made.ok()) made->trouble = absl::InternalError("the compiler failed");
    return made;
  };
}

}  // namespace dogged

#endif  // DOGGED_RUNTIME_SIM_SICKNESS_H_
