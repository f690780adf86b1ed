// Results: the labels that each of them names, and the result of a program that
// names none.
#ifndef DOGGED_DSL_ISL_RESOLVE_RESULTS_H_
#define DOGGED_DSL_ISL_RESOLVE_RESULTS_H_

#include "dsl/isl/proof.h"

namespace dogged::dsl {

// Gives every result a domain and fills in Proof::wanted. Errors: labels that
// are not there, a result without labels or without a simple range.
void ResolveResults(Proof& proof);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_RESOLVE_RESULTS_H_
