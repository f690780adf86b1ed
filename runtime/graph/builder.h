// Makes a Program from C++: for tests, and for programs that are generated.
//
//   ProgramBuilder b("wavefront");
//   int w = b.AddArray({.name = "w", .rank = 2});
//   auto i = AffineExpr::Index(0), j = AffineExpr::Index(1);
//   b.AddClass({.name = "step", .domain = Domain::Box({{"i", 0, 9}, {"j", 0,
//   9}}),
//               .creates = {{w, {i, j}}}, ...});
#ifndef DOGGED_RUNTIME_GRAPH_BUILDER_H_
#define DOGGED_RUNTIME_GRAPH_BUILDER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "runtime/graph/program.h"

namespace dogged {

class ProgramBuilder {
 public:
  explicit ProgramBuilder(std::string name) { program_.name = std::move(name); }

  // Each returns the position of the added entry. An array without
  // affinity_block gets one of ones: every label is a key of its own.
  int32_t AddArray(Array array);
  int32_t AddKernel(KernelSpec kernel);
  int32_t AddClass(TaskClass task_class);
  // The labels of `array` over `domain`, index by index.
  void AddResult(int32_t array, Domain domain);
  void SetEveryTaskNeeded() { program_.every_task_needed = true; }

  // The program, or the error of Validate().
  absl::StatusOr<Program> Build() &&;

 private:
  Program program_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_BUILDER_H_
