// ChunkLayout: which chunks the large inputs of one job consist of. Chunks are
// numbered through all inputs; the number is a chunk's *position*. The layout
// says of a position which chunk it is, its digest and its size, and makes a
// value of bytes that came. Constant after construction.
#ifndef DOGGED_RUNTIME_JOB_INPUTS_CHUNK_LAYOUT_H_
#define DOGGED_RUNTIME_JOB_INPUTS_CHUNK_LAYOUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/base/hash.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/input_array.h"
#include "runtime/graph/job.h"

namespace dogged {

class ChunkLayout {
 public:
  // `label.array` of a chunk's record on disk; of no label of a program.
  static constexpr int32_t kArrayOnDisk = -1;

  // The inputs of `job`, which has some in chunks.
  explicit ChunkLayout(const Job& job);

  int64_t size() const { return std::ssize(chunks_); }
  bool Contains(int64_t at) const { return at >= 0 && at < size(); }
  int64_t PositionOf(const ChunkId& id) const;  // -1: there is no such chunk
  const ChunkId& IdOf(int64_t at) const { return Find(at).id; }
  const Digest& DigestOf(int64_t at) const { return Find(at).digest; }
  int64_t BytesOf(int64_t at) const;
  const ChunkGrid& GridOf(int32_t input) const { return grids_[input]; }
  const std::string& NameOf(int32_t input) const { return names_[input]; }
  // The name of a chunk's record on disk, and the position of such a record;
  // -1: of no chunk.
  Label LabelOf(int64_t at) const;
  int64_t PositionOf(const Label& label) const;
  // The value of a chunk, in memory of its own; none if the size is another.
  Value ValueOf(int64_t at, absl::string_view bytes) const;
  // `value` has the type and the shape of a chunk.
  bool IsOfForm(int64_t at, const Value& value) const;

 private:
  struct Chunk {
    Digest digest;
    ChunkId id;
  };
  const Chunk& Find(int64_t at) const { return chunks_[at]; }

  std::vector<std::string> names_;  // by input
  std::vector<ChunkGrid> grids_;    // by input
  std::vector<int64_t> first_;      // position of an input's first chunk
  std::vector<Chunk> chunks_;       // by position
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_INPUTS_CHUNK_LAYOUT_H_
