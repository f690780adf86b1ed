// Tables of indices that are known before the run: u(rx(r))(t) of an input rx,
// a(i + int64(pow(2, s))).
#ifndef DOGGED_DSL_LOWER_INDEX_TABLES_H_
#define DOGGED_DSL_LOWER_INDEX_TABLES_H_

#include <map>
#include <string>

#include "dsl/check/checked.h"
#include "dsl/text/diagnostics.h"
#include "dsl/text/given_by.h"
#include "runtime/base/value.h"

namespace dogged::dsl {

// Fills in CheckedGather::tables of all uses, from `files`, dense arrays by the
// names of inputs, and from the expressions of inputs without a file. Leaves
// out the tasks of inputs that nothing but tables reads. Reports elements that
// there are not, where a task reads by them, and tables that are too large.
// After errors it does nothing.
void FillTables(const std::map<std::string, Value>& files, GivenBy given_by,
                CheckedProgram& program, Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_INDEX_TABLES_H_
