// AnalyzeWithIsl: the proofs of dsl/check/analysis.h by isl. Passes in their
// order stand in the source file, each in a file of its own; they hand on a
// Proof. Headers of this folder but this one are for the adapter alone.
#ifndef DOGGED_DSL_ISL_ANALYSIS_ISL_H_
#define DOGGED_DSL_ISL_ANALYSIS_ISL_H_

#include "dsl/check/checked.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// Completes `program`; its results and boundaries are only complete if
// `diagnostics` has no errors afterwards.
void AnalyzeWithIsl(CheckedProgram& program, Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_ANALYSIS_ISL_H_
