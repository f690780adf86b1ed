// Numeric parts: all that decides bits of results on this host beside the job,
// by the kernels that depend on it. Agents that lack a part that a job needs do
// not run its tasks.
#ifndef DOGGED_APPS_TILES_NUMERIC_CLASS_H_
#define DOGGED_APPS_TILES_NUMERIC_CLASS_H_

#include <string>

#include "runtime/graph/numeric_class.h"

namespace dogged {

// "glibc 2.36 avx avx2 fma": the library's version, and the processor features
// that its mathematics use here.
std::string MathematicsClass();

// "tiles 3 of 8 doubles": the version of our own tile kernels, and their
// vectors. They depend on nothing else, but where they call OpenBLAS.
std::string TilesClass();
// The class of kernels that multiply matrices, and of kernels that take squares
// from one: the above, and "OpenBLAS 0.3.21 Haswell" where that does it.
// SetUpBlas() came before.
std::string ProductsClass();
std::string SquaresClass();

// The parts of this host.
NumericParts NumericPartsHere();

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_NUMERIC_CLASS_H_
