// Parameters: their numbers, given or by default, definitions in others, and
// the rounds of a loop over one.
#ifndef DOGGED_DSL_CHECK_CHECK_PARAMETERS_H_
#define DOGGED_DSL_CHECK_CHECK_PARAMETERS_H_

#include "dsl/check/check_context.h"
#include "dsl/text/ast.h"

namespace dogged::dsl {

// Reports what `given` has that no parameter takes: unknown names, and texts
// that are no number of the parameter's type. For a program whose sizes are not
// known yet, so that nothing else can be checked.
void CheckGivenParameters(const ast::Program& program,
                          const ParameterValues& given,
                          Diagnostics& diagnostics);

// Adds all parameters, before anything that names one.
void CheckParameters(CheckContext& context, const ast::Program& program);

// Fills in CheckedProgram::repeat, and moves the loop's parameter, the last
// one, to its last round.
void CheckRepeat(CheckContext& context, const ast::Repeat& declared);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECK_PARAMETERS_H_
