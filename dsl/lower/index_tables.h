// Tables of indices that are known before the run: u(rx(r))(t) of an input rx,
// a(i + int64(pow(2, s))).
#ifndef DOGGED_DSL_LOWER_INDEX_TABLES_H_
#define DOGGED_DSL_LOWER_INDEX_TABLES_H_

#include <map>
#include <string>
#include <vector>

#include "dsl/check/checked.h"
#include "dsl/text/diagnostics.h"
#include "dsl/text/given_by.h"
#include "runtime/base/value.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// Fills in CheckedGather::tables of all uses, from `files`, dense arrays by the
// names of inputs, and from the expressions of inputs without a file. Leaves
// out the tasks of inputs that nothing but tables reads. Reports elements that
// there are not, where a task reads by them, and tables that are too large.
// After errors it does nothing. Returns the inputs whose files it read.
std::vector<std::string> FillTables(const std::map<std::string, Value>& files,
                                    GivenBy given_by, CheckedProgram& program,
                                    Diagnostics& diagnostics);

// Inputs that tables are of, that are to come from files, and have none.
std::vector<std::string> LackingIndexFiles(
    const std::map<std::string, Value>& files, const CheckedProgram& program);

// The file of an input as a part of the program that no task runs, so that its
// text can be compiled again from the job alone; and all such files.
KernelSpec IndexFileSpec(const std::string& array, const Value& content);
std::map<std::string, Value> IndexFilesOf(const Program& program);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LOWER_INDEX_TABLES_H_
