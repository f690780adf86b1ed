// A call of a user's function by the C ABI of docs/LANGUAGE.md, in this
// process.
#ifndef DOGGED_RUNTIME_EXEC_KERNELS_C_KERNEL_H_
#define DOGGED_RUNTIME_EXEC_KERNELS_C_KERNEL_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/base/value.h"

namespace dogged {

// A value of a call, wherever its data lie.
struct CBlock {
  void* data = nullptr;
  ElementType type = ElementType::kDouble;
  Shape shape;
};

// Calls the function at `address`. Returns its error as words that go on after
// its name: "threw std::runtime_error: boom", "gave up with code 7"; empty if
// there is none.
std::string CallC(void* address, absl::Span<const CBlock> in,
                  absl::Span<const CBlock> out,
                  absl::Span<const double> numbers);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_KERNELS_C_KERNEL_H_
