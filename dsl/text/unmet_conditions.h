// Conditions that hold nowhere: `x == SX` where the task has x = 0:299, and the
// command line says SX = 500. Values there are right and hardly meant. Pure.
#ifndef DOGGED_DSL_TEXT_UNMET_CONDITIONS_H_
#define DOGGED_DSL_TEXT_UNMET_CONDITIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// Warns of comparisons that put an index between two ends, or at one value,
// beyond its range. Bounds to one side are no such: `x > 0` is there for more
// points than there may be today. Words that hold for another task are none
// either. `parameters`: the integer ones.
void WarnOfUnmetConditions(const ast::Program& program,
                           const std::map<std::string, int64_t>& parameters,
                           Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_UNMET_CONDITIONS_H_
