// DeclaredShapes: the shapes of values as a program declares them, where the
// values themselves are elsewhere.
#ifndef DOGGED_APPS_DOGGED_REPORT_DECLARED_SHAPES_H_
#define DOGGED_APPS_DOGGED_REPORT_DECLARED_SHAPES_H_

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/ir/point_bodies.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/relations.h"

namespace dogged {

class DeclaredShapes {
 public:
  // `relations` outlive it.
  explicit DeclaredShapes(const Relations& relations);
  DeclaredShapes(const DeclaredShapes&) = delete;
  DeclaredShapes& operator=(const DeclaredShapes&) = delete;

  // Of a value that a kernel with declared blocks makes, a formula or a
  // reduction. Errors:
  // kFailedPrecondition for any other.
  absl::StatusOr<Shape> Of(const Label& label) const;

 private:
  const Relations& relations_;
  // By kernel of the program.
  std::vector<std::optional<dsl::NativeBody>> natives_;
  std::vector<std::optional<dsl::CodeBody>> codes_;
  std::vector<bool> are_reductions_;  // whose results are numbers
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_REPORT_DECLARED_SHAPES_H_
