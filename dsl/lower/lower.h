// From a checked and analysed program to a PointProgram: the meaning of every
// task as numbers and code blocks.
#ifndef DOGGED_DSL_LOWER_LOWER_H_
#define DOGGED_DSL_LOWER_LOWER_H_

#include <string>

#include "dsl/check/checked.h"
#include "dsl/ir/point_program.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// Makes the PointProgram of a program that has passed Check and Analyze without
// errors. A feature that the back end lacks is an error in `diagnostics`, and
// the result of no use.
PointProgram MakePointProgram(const CheckedProgram& program,
                              const std::string& name,
                              Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_LOWER_H_
