// KernelCalls: which kernels that come with dogged the tasks of a program call,
// and on which labels. That makes a program a factorisation, whatever its
// arrays are called.
#ifndef DOGGED_APPS_VERIFY_KERNEL_CALLS_H_
#define DOGGED_APPS_VERIFY_KERNEL_CALLS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "dsl/kernels/point_kernels.h"
#include "runtime/base/label.h"
#include "runtime/graph/relations.h"

namespace dogged {

class KernelCalls {
 public:
  // `relations` outlive it.
  explicit KernelCalls(const Relations& relations);

  struct Call {
    Task task;
    absl::string_view kernel;
    std::vector<Label> in;  // by formal
    std::vector<Label> out;
  };
  // How many tasks call it, over doubles or floats.
  int64_t CountOf(absl::string_view kernel) const;
  // The call that makes `label`; none unless it is one of a kernel that comes
  // with dogged, with all that it reads.
  std::optional<Call> MakerOf(const Label& label) const;
  // The value of scalar argument `position` of that call.
  double ScalarOf(const Call& call, size_t position) const;

  // A label's origin and its updates.
  struct History {
    Label origin;             // made by a task that requires nothing
    std::vector<Call> steps;  // the first one first
  };
  // Back from `label` through calls of `kernel`, which updates its first
  // argument; none if that does not end where a task requires nothing.
  std::optional<History> HistoryOf(Label label, absl::string_view kernel) const;

  const Relations& relations() const { return relations_; }

 private:
  const Relations& relations_;
  std::vector<std::optional<dsl::NativeBody>> bodies_;  // by kernel
};

// A call of a factorising kernel.
struct FactorStep {
  KernelCalls::Call call;
  KernelCalls::History history;  // of its first argument
};
// All calls of `kernel`, in order, if they can be the steps of one
// factorisation: they make results, and step k takes a label that `update` was
// applied to k times. The caller sees by which factors.
std::optional<std::vector<FactorStep>> FindFactorSteps(
    const KernelCalls& calls, absl::string_view kernel,
    absl::string_view update);

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_KERNEL_CALLS_H_
