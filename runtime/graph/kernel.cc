#include "runtime/graph/kernel.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/check.h"
#include "runtime/graph/float_kernel.h"

namespace dogged {

Value TakeOrCopy(Value& value) {
  if (value.IsWritable()) return std::move(value);
  Value out = Value::Allocate(value.type(), value.shape());
  std::memcpy(out.mutable_data(), value.data(), value.bytes());
  return out;
}

void StopKernels(const KernelTable& kernels) {
  for (const auto& kernel : kernels) {
    if (kernel != nullptr && kernel->library() != nullptr) {
      kernel->library()->Stop();
    }
  }
}

void RestKernels(const KernelTable& kernels) {
  for (const auto& kernel : kernels) {
    if (kernel != nullptr && kernel->library() != nullptr) {
      kernel->library()->Rest();
    }
  }
}

void KernelRegistry::Add(NativeKernel kernel) {
  auto place = std::lower_bound(
      kernels_.begin(), kernels_.end(), kernel.name,
      [](const NativeKernel& k, const std::string& n) { return k.name < n; });
  DOGGED_CHECK(place == kernels_.end() || place->name != kernel.name)
      << "kernel " << kernel.name << " is registered twice";
  DOGGED_CHECK(kernel.elements.empty() ||
               static_cast<int>(kernel.elements.size()) ==
                   kernel.in_count + kernel.out_count)
      << "kernel " << kernel.name << " has values without a type";
  kernels_.insert(place, std::move(kernel));
}

const NativeKernel* KernelRegistry::Find(absl::string_view name) const {
  for (const NativeKernel& kernel : kernels_) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

std::vector<std::string> KernelRegistry::Names() const {
  std::vector<std::string> out;
  for (const NativeKernel& kernel : kernels_) {
    if (!IsFloatVariant(kernel.name)) out.push_back(kernel.name);
  }
  return out;
}

}  // namespace dogged
