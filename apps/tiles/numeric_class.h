// The numeric class: what decides the bits of a result beside the job. Agents
// of another class do not run a job's tasks.
#ifndef DOGGED_APPS_TILES_NUMERIC_CLASS_H_
#define DOGGED_APPS_TILES_NUMERIC_CLASS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace dogged {

// "OpenBLAS 0.3.21 Haswell; tiles 2; glibc 2.36; avx avx2 fma avx512f": `blas`
// from BlasName(), the version of our own tile kernels, then what these and
// glibc's mathematics dispatch on. Hosts with equal text give equal bits.
std::string NumericClass(absl::string_view blas);

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_NUMERIC_CLASS_H_
