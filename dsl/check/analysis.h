// Analyze: proves of a CheckedProgram, for all its points at once, that it is a
// dependency description: every label has exactly one producer, every label
// that is read or wanted has one, indices stay within declared ranges, no
// cycle. A failed proof is reported with a smallest witness. Analyze also fills
// in all that follows from the set of labels: domains of boundaries, default
// results and slices, extents of arrays, which points are needed.
//
// This header knows no isl; AnalyzeWithIsl (dsl/isl/analysis_isl.h) is the one
// implementation, in a target of its own that only executables link.
//
// Source: [REM] "Dependency Description"; single assignment is what makes it
// a DAG. Exact sets instead of enumeration: the graph is never unrolled.
#ifndef DOGGED_DSL_CHECK_ANALYSIS_H_
#define DOGGED_DSL_CHECK_ANALYSIS_H_

#include "dsl/check/checked.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// Completes the program, whose tables FillTables() has filled in; its results
// and boundaries are only complete if there are no errors afterwards.
using AnalyzeFunction = void (*)(CheckedProgram&, Diagnostics&);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_ANALYSIS_H_
