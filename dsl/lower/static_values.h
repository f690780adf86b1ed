// Static values: arrays that are known before the first task runs, of which a
// task by points takes its elements as it starts. As labels they would be there
// from the start, wake every task that reads them, and have each of these wait
// in a record for the value that comes last.
#ifndef DOGGED_DSL_LOWER_STATIC_VALUES_H_
#define DOGGED_DSL_LOWER_STATIC_VALUES_H_

#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// `points` with the formulas of its static arrays in the code of the tasks that
// read them, elements of files as reads, and without the classes that made
// them. A scalar array is static if all that makes it is a formula or a file,
// and it is read by code alone: no result, reduction or native kernel has it.
// Nothing changes in a program that has_static_labels.
PointProgram WithStaticValues(const PointProgram& points);

// The same for arrays that are files, and for formulas whose values are read a
// time or two: other formulas stay tasks, which compute each value once.
PointProgram WithSeldomReadValues(const PointProgram& points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_STATIC_VALUES_H_
