#include "apps/dogged/run/flops_time.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "dsl/kernels/point_kernels.h"

namespace dogged {
namespace {

bool DeclaresFlops(const KernelSpec& spec, const KernelRegistry& registry) {
  if (spec.kind != "native") return false;
  const auto body = dsl::NativeBody::Decode(spec.body);
  if (!body.ok()) return false;
  const NativeKernel* const native =
      body->library.empty() ? registry.Find(body->kernel) : nullptr;
  return body->has_cost || (native != nullptr && native->flops);
}

}  // namespace

class FlopsTime::Timed : public Kernel {
 public:
  Timed(std::unique_ptr<Kernel> inner, FlopsTime& time)
      : inner_(std::move(inner)), time_(time) {}

  absl::Status Run(KernelCall& call) const override {
    const absl::Time start = time_.clock_.Now();
    absl::Status status = inner_->Run(call);
    time_.nanoseconds_.fetch_add(
        absl::ToInt64Nanoseconds(time_.clock_.Now() - start),
        std::memory_order_relaxed);
    return status;
  }
  bool Fits(const TaskClass& c) const override { return inner_->Fits(c); }
  bool Updates(int use) const override { return inner_->Updates(use); }
  ByteCounts OutputBytes(const Task& task) const override {
    return inner_->OutputBytes(task);
  }
  int64_t ScratchBytes(const Task& task) const override {
    return inner_->ScratchBytes(task);
  }
  double Flops(const Task& task) const override { return inner_->Flops(task); }
  KernelLibrary* library() const override { return inner_->library(); }

 private:
  const std::unique_ptr<Kernel> inner_;
  FlopsTime& time_;
};

void FlopsTime::Watch(const Program& program, const KernelRegistry& registry,
                      KernelTable& table) {
  std::vector<bool> declares;
  for (const KernelSpec& spec : program.kernels) {
    declares.push_back(DeclaresFlops(spec, registry));
  }
  if (std::find(declares.begin(), declares.end(), true) == declares.end()) {
    return;
  }
  for (size_t k = 0; k < table.size(); ++k) {
    if (declares[k] || table[k] == nullptr) continue;
    table[k] = std::make_unique<Timed>(std::move(table[k]), *this);
  }
}

absl::Duration FlopsTime::LeftOf(absl::Duration elapsed, int workers) const {
  return std::max(absl::ZeroDuration(),
                  elapsed - absl::Nanoseconds(nanoseconds_.load()) / workers);
}

}  // namespace dogged
