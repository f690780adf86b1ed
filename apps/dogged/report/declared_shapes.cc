#include "apps/dogged/report/declared_shapes.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/kernels/point_kernels.h"
#include "dsl/kernels/reduce_kernel.h"
#include "runtime/graph/program.h"
#include "runtime/graph/task.h"

namespace dogged {

DeclaredShapes::DeclaredShapes(const Relations& relations)
    : relations_(relations) {
  for (const KernelSpec& spec : relations.program().kernels) {
    natives_.emplace_back();
    codes_.emplace_back();
    bool is_number = false;
    if (spec.kind == "native") {
      auto body = dsl::NativeBody::Decode(spec.body);
      if (body.ok()) natives_.back() = *std::move(body);
    } else if (spec.kind == "code") {
      auto body = dsl::CodeBody::Decode(spec.body);
      if (body.ok()) codes_.back() = *std::move(body);
    } else if (spec.kind == "reduce") {
      const auto body = dsl::ReduceBody::Decode(spec.body);
      is_number = body.ok() && body->step == dsl::ReduceBody::Step::kRoot;
    }
    are_reductions_.push_back(is_number);
  }
}

absl::StatusOr<Shape> DeclaredShapes::Of(const Label& label) const {
  const std::optional<Task> task = relations_.ProducerOf(label);
  if (task.has_value()) {
    const auto kernel = static_cast<size_t>(relations_.ClassOf(*task).kernel);
    if (are_reductions_[kernel]) return Shape();
    int create = -1;
    relations_.ForEachCreated(*task, [&](int c, const Label& created) {
      if (created == label) create = c;
    });
    if (natives_[kernel].has_value()) {
      const dsl::NativeBody& body = *natives_[kernel];
      const auto out = std::find(body.out.begin(), body.out.end(), create);
      const std::vector<Shape> shapes =
          dsl::ShapesAt(body.out_shapes, task->index);
      const auto at = static_cast<size_t>(out - body.out.begin());
      if (at < shapes.size()) return shapes[at];
    } else if (codes_[kernel].has_value()) {
      const std::vector<Shape> shapes =
          dsl::ShapesAt(codes_[kernel]->shapes, task->index);
      const auto at = static_cast<size_t>(create);
      return at < shapes.size() ? shapes[at] : Shape();
    }
  }
  return absl::FailedPreconditionError(
      absl::StrCat(relations_.program().LabelText(label),
                   " has a shape that the program does not tell beforehand"));
}

}  // namespace dogged
