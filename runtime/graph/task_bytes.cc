#include "runtime/graph/task_bytes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

namespace dogged {
namespace {

// Samples of a class, at most.
constexpr double kSamplesMax = 1024;
constexpr int64_t kSamplesInARowMax = 256;

// Sampler: visits points that are, in each dimension, at both ends of the range
// that outer dimensions leave, and evenly between them.
class Sampler {
 public:
  Sampler(const Domain& domain,
          absl::FunctionRef<void(const IndexVector&)> visit)
      : domain_(domain), visit_(visit) {
    const int dims = std::max(1, domain.size());
    const auto in_a_row =
        static_cast<int64_t>(std::pow(kSamplesMax, 1.0 / dims) + 1e-9);
    steps_ = std::clamp<int64_t>(in_a_row, 2, kSamplesInARowMax) - 1;
  }

  void Visit(IndexVector& index) {
    const int d = index.size();
    if (d == domain_.size()) {
      if (domain_.Contains(index)) visit_(index);
      return;
    }
    const Dimension& dimension = domain_.dimensions[d];
    const int64_t lower = dimension.Lower(index);
    const int64_t upper = dimension.Upper(index);
    const int64_t steps = std::min(upper - lower, steps_);
    for (int64_t step = 0; step <= steps; ++step) {
      index.push_back(
          lower + (steps == 0 ? 0
                              : (upper - lower) / steps * step +
                                    (upper - lower) % steps * step / steps));
      Visit(index);
      index.pop_back();
    }
  }

 private:
  const Domain& domain_;
  const absl::FunctionRef<void(const IndexVector&)> visit_;
  int64_t steps_ = 1;  // between samples of a row
};

}  // namespace

const Kernel* TaskBytes::KernelOf(const Task& task) const {
  const TaskClass& task_class = relations_.ClassOf(task);
  return kernels_[task_class.kernel].get();
}

int64_t TaskBytes::OutputsOf(const Task& task) const {
  const ByteCounts bytes = KernelOf(task)->OutputBytes(task);
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

int64_t TaskBytes::AllOf(const Task& task) const {
  int64_t out = OutputsOf(task);
  relations_.ForEachRequired(task, [&](int, const Label& label) {
    const std::optional<Task> producer = relations_.ProducerOf(label);
    if (!producer.has_value()) return;
    const ByteCounts made = KernelOf(*producer)->OutputBytes(*producer);
    if (made.empty()) return;
    relations_.ForEachCreated(*producer, [&](int create, const Label& created) {
      if (created == label) out += made[create];
    });
  });
  return out;
}

int64_t TaskBytes::ScratchOf(const Task& task) const {
  return KernelOf(task)->ScratchBytes(task);
}

void TaskBytes::ForEachSample(
    absl::FunctionRef<void(const Task&)> visit) const {
  const Program& program = relations_.program();
  for (size_t c = 0; c < program.classes.size(); ++c) {
    IndexVector index;
    Sampler(program.classes[c].domain, [&](const IndexVector& point) {
      visit(Task{static_cast<int32_t>(c), point});
    }).Visit(index);
  }
}

double TaskBytes::LabelsAtOnce(int64_t versions_max) const {
  struct Labels {
    double count = 0;
    int64_t first = INT64_MAX;  // version
    int64_t last = INT64_MIN;
  };
  const Program& program = relations_.program();
  std::vector<Labels> made(program.arrays.size());
  for (const TaskClass& task_class : program.classes) {
    for (const Create& create : task_class.creates) {
      made[create.array].count +=
          static_cast<double>(task_class.domain.Count());
    }
  }
  ForEachSample([&](const Task& task) {
    relations_.ForEachCreated(task, [&](int, const Label& label) {
      const auto a = static_cast<size_t>(label.array);
      const int32_t version = program.arrays[a].version_index;
      if (version < 0) return;
      made[a].first = std::min(made[a].first, label.index[version]);
      made[a].last = std::max(made[a].last, label.index[version]);
    });
  });
  double out = 0;
  for (const Labels& labels : made) {
    const bool has_versions = labels.first < labels.last;
    const auto versions =
        has_versions ? static_cast<double>(labels.last - labels.first + 1) : 1;
    out += labels.count *
           std::min(1.0, static_cast<double>(versions_max) / versions);
  }
  return out;
}

}  // namespace dogged
