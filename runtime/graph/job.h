// Job: everything that decides the bits of a run, as one value with a hash.
// The submitter makes it once; agents run it as it stands.
#ifndef DOGGED_RUNTIME_GRAPH_JOB_H_
#define DOGGED_RUNTIME_GRAPH_JOB_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/base/ids.h"
#include "runtime/base/value.h"
#include "runtime/graph/program.h"

namespace dogged {

// A file that a program reads: the whole array, dense.
struct JobInput {
  std::string array;
  Value content;
};

struct Job {
  Program program;
  std::string source;  // the program text, for people
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<JobInput> inputs;
  // The parts that a host must have to give these bits: see numeric_class.h.
  std::string numeric_class;
  // Compiler, flags, tile shape: whatever else the program was lowered under.
  std::string lowering;

  // Equal jobs give equal bytes.
  std::string Encode() const;
  static absl::StatusOr<Job> Decode(absl::string_view bytes);
};

// The name of a job: the hash of its encoded form.
inline Digest JobHash(absl::string_view encoded) { return Hash128(encoded); }
inline JobId JobIdOf(const Digest& hash) { return JobId(hash.high); }

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_JOB_H_
