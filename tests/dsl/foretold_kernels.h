// Kernels that check, as they run, what they said of their outputs before.
#ifndef DOGGED_TESTS_DSL_FORETOLD_KERNELS_H_
#define DOGGED_TESTS_DSL_FORETOLD_KERNELS_H_

#include <memory>
#include <utility>

#include "gtest/gtest.h"
#include "runtime/graph/kernel.h"

namespace dogged {

class ForetoldKernel : public Kernel {
 public:
  explicit ForetoldKernel(std::unique_ptr<Kernel> kernel)
      : kernel_(std::move(kernel)) {}
  absl::Status Run(KernelCall& call) const override {
    const ByteCounts foretold = kernel_->OutputBytes(call.task);
    const absl::Status status = kernel_->Run(call);
    if (!status.ok()) return status;
    ByteCounts made;
    for (const Value& output : call.outputs) made.push_back(output.bytes());
    EXPECT_EQ(foretold, made) << "class " << call.task.task_class << " at "
                              << call.task.index.ToString();
    return status;
  }
  bool Updates(int use) const override { return kernel_->Updates(use); }
  double Flops(const Task& task) const override { return kernel_->Flops(task); }
  KernelLibrary* library() const override { return kernel_->library(); }

 private:
  const std::unique_ptr<Kernel> kernel_;
};

inline KernelTable Foretold(KernelTable kernels) {
  for (std::unique_ptr<Kernel>& kernel : kernels) {
    if (kernel == nullptr) continue;
    kernel = std::make_unique<ForetoldKernel>(std::move(kernel));
  }
  return kernels;
}

}  // namespace dogged

#endif  // DOGGED_TESTS_DSL_FORETOLD_KERNELS_H_
