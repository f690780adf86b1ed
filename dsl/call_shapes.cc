#include "dsl/call_shapes.h"

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "dsl/kernels/point_kernels.h"
#include "runtime/graph/float_kernel.h"

namespace dogged::dsl {
namespace {

constexpr int kPointsMax = 10'000;  // of a task

// "k = 1, j = 0".
std::string PlaceText(const Domain& domain, const IndexVector& index) {
  std::string out;
  for (int d = 0; d < domain.size(); ++d) {
    absl::StrAppend(&out, d == 0 ? "" : ", ", domain.dimensions[d].name, " = ",
                    index[d]);
  }
  return out;
}

SourceRange RangeOf(const CheckedProgram& checked, const std::string& name) {
  for (const CheckedTask& task : checked.tasks) {
    if (task.name == name) return task.range;
  }
  return {};
}

}  // namespace

void CheckCallShapes(const CheckedProgram& checked, const PointProgram& points,
                     const KernelRegistry& registry, Diagnostics& diagnostics) {
  for (const PointClass& c : points.classes) {
    if (c.body != PointClass::Body::kNative || !c.native.library.empty()) {
      continue;
    }
    const NativeKernel* const kernel = registry.Find(c.native.kernel);
    if (kernel == nullptr || !kernel->fits) continue;
    int left = kPointsMax;
    c.domain.ForEach([&](const IndexVector& index) {
      const absl::Status fits = kernel->fits(
          ShapesAt(c.native.in_shapes, index), ScalarsOf(c.native, index));
      if (fits.ok()) return --left > 0;
      const std::string place = PlaceText(c.domain, index);
      diagnostics
          .Error(Code::kKernel, RangeOf(checked, c.name),
                 absl::StrCat(WrittenName(kernel->name), ": ", fits.message()))
          .Note(place.empty() ? "" : absl::StrCat("at ", place))
          .Help(
              "a matrix needs at least as many rows as columns: leave columns "
              "out, or take the transposed matrix");
      return false;
    });
  }
}

}  // namespace dogged::dsl
