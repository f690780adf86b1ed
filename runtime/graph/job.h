// Job: everything that decides the bits of a run, as one value with a hash.
// The submitter makes it once; agents run it as it stands.
#ifndef DOGGED_RUNTIME_GRAPH_JOB_H_
#define DOGGED_RUNTIME_GRAPH_JOB_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/base/bytes.h"
#include "runtime/base/hash.h"
#include "runtime/base/ids.h"
#include "runtime/base/value.h"
#include "runtime/graph/input_array.h"
#include "runtime/graph/program.h"

namespace dogged {

// A file that a program reads: the whole array, dense. A small one travels in
// the job, of a large one only how it is cut and what its chunks' digests are.
struct JobInput {
  std::string array;
  // None of one that is in chunks, but where it comes from.
  Value content;
  ChunkGrid grid;              // of one in chunks
  std::vector<Digest> chunks;  // of all of them; empty: it travels in the job

  bool IsInChunks() const { return !chunks.empty(); }
  int64_t bytes() const {
    return IsInChunks() ? grid.bytes() : content.bytes();
  }
  // Cuts the content, in this way. Cost: reads all of it.
  void Cut(const Shape& chunk);
  // Copies a chunk from the content.
  void CopyChunk(int64_t index, char* to) const;
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
  // Chunk shapes in which inputs are cut when the job is encoded, by position;
  // empty: they are not. The maker of the job knows what its tasks read.
  std::vector<Shape> cuts;
  // Source of chunks for inputs that came without content; not part of the job
  // itself.
  std::shared_ptr<const ChunkSource> chunk_source;

  // None if no input has `position`, or it lacks its content.
  InputArray InputAt(int32_t position) const;
  // Cuts large inputs, once. Encode() does it by itself, each time.
  void CutInputs();
  // Equal jobs give equal bytes.
  std::string Encode() const;
  static absl::StatusOr<Job> Decode(absl::string_view bytes);
};

// The name of a job: the hash of its encoded form.
inline Digest JobHash(absl::string_view encoded) { return Hash128(encoded); }
inline JobId JobIdOf(const Digest& hash) { return JobId(hash.high); }

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_JOB_H_
