// InputShapes: the shapes of files that a program wants as inputs, with these
// or those parameters.
//
// Immutable.
#ifndef DOGGED_DSL_LOWER_INPUT_SHAPES_H_
#define DOGGED_DSL_LOWER_INPUT_SHAPES_H_

#include <optional>

#include "absl/strings/string_view.h"
#include "dsl/check/check.h"
#include "dsl/check/checked.h"
#include "dsl/text/ast.h"
#include "runtime/base/value.h"

namespace dogged::dsl {

class InputShapes {
 public:
  // `tree` outlives it; parameters of `options` don't count.
  InputShapes(const ast::Program& tree, CheckOptions options)
      : tree_(tree), options_(std::move(options)) {}

  // The program with these parameters; none if it has errors then.
  std::optional<CheckedProgram> Checked(const ParameterValues& values) const;
  // The shape of the file that is wanted for `array`, which is one of
  // CheckOptions::input_files; empty if there is none.
  Shape Wanted(const ParameterValues& values, absl::string_view array) const;

 private:
  const ast::Program& tree_;
  const CheckOptions options_;
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_INPUT_SHAPES_H_
