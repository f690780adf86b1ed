// Numeric classes: the properties of a host that decide the bits of results, as
// a list of parts, "x86_64; glibc 2.36 avx avx2 fma". A host has all of its
// parts, a job needs the parts on which its kernels depend. Pure functions.
#ifndef DOGGED_RUNTIME_GRAPH_NUMERIC_CLASS_H_
#define DOGGED_RUNTIME_GRAPH_NUMERIC_CLASS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace dogged {

// The parts of several classes, each once, sorted.
std::string JoinNumericClasses(absl::Span<const std::string> classes);

// A host of class `host` gives a job that needs `needed` the bits that all such
// hosts give it.
bool MeetsNumericClass(absl::string_view host, absl::string_view needed);

// The classes that jobs may need, on this host.
struct NumericParts {
  std::string all_jobs;
  std::string mathematics;  // code that calls functions of libm
  std::string host;         // whatever there is: kernels of a user's own
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_NUMERIC_CLASS_H_
