// ChunkBody: points of a task class as one task, or as a piece of one. A chunk
// is a run of points along one index, and labels lie in blocks of as many. No
// point of a chunk needs another one. Points read by affine forms or by tables,
// so the task copies what they read together before it runs the code. Plain
// data; part of the job.
//
// Source: the inspector and executor of Mirchandaney, Saltz et al. 1988: the
// blocks that a chunk reads are found once, and so are the places in them.
#ifndef DOGGED_DSL_IR_CHUNK_BODY_H_
#define DOGGED_DSL_IR_CHUNK_BODY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dsl/ir/kernel_ir.h"
#include "dsl/text/reduce_kind.h"
#include "runtime/base/codec.h"
#include "runtime/base/label.h"
#include "runtime/graph/affine.h"
#include "runtime/graph/gather.h"

namespace dogged::dsl {

// The array of a program whose labels are blocks of those of array `name`.
inline std::string NameInBlocks(const std::string& name) {
  return name + "'chunk";
}

// A load of the code: the element `at`, plus the value of the table if there is
// one, of the elements that lie in blocks side by side. Both are of a point.
struct ChunkLoad {
  int32_t group = 0;
  AffineExpr at;
  std::shared_ptr<const Gather> table;  // null: there is none
  // If not 0, the elements from `ring_first` on are a ring of so many.
  int64_t ring_length = 0;
  int64_t ring_first = 0;
};

// Loads that share their blocks: values of the uses from `first_use` on. The
// blocks follow from the task's indices that `places` names, a box without
// tables; those of chunks count these.
struct ChunkGroup {
  int32_t first_use = 0;
  int32_t use_count = 0;
  Gather places;
};

struct ChunkBody {
  static constexpr int64_t kNone = -1;

  // The index along which the chunks go is the last one, the others come
  // before it in order.
  CodeBlock code;
  int32_t rank = 0;    // of a task
  int32_t dim = -1;    // the index that counts chunks; -1: a task is a point
  int64_t origin = 0;  // the point of `dim` with which block 0 begins
  int64_t end = 0;     // the last point of the last block
  int64_t first = 0;   // points of `dim`
  int64_t last = 0;
  int32_t shift = 0;  // a chunk and a block have 2^shift points
  // By store of the code: the output of the task.
  std::vector<int32_t> outputs;
  std::vector<ChunkGroup> groups;
  std::vector<ChunkLoad> loads;  // by load of the code

  int64_t Size() const { return int64_t{1} << shift; }
  // Places of all groups; more than Gather::kPlacesMax saturates.
  int64_t PlaceCount() const;
  // Points of a task; 0 where other pieces have all of them.
  int64_t PointCount(const IndexVector& task) const;
  // The first point of a task.
  IndexVector PointOf(const IndexVector& task) const;
  // Elements of a task's outputs, and the first one that it makes.
  int64_t ElementCount(const IndexVector& task) const;
  int64_t FirstElement(const IndexVector& task) const;

  // Points of a task whose loads of the group differ: PointCount(), or 1 where
  // all read the same.
  int64_t ReadCount(int32_t group, const IndexVector& task) const;
  // Blocks that the loads of a group read at a task, by their first reader:
  // load by load, point by point; `elements`, if not null, gets the element of
  // each, counted through these blocks. ReadCount() points of each load. False
  // if there is a point without an entry in its table, or with a negative
  // element.
  bool FindBlocks(int32_t group, const IndexVector& task,
                  std::vector<int64_t>& blocks,
                  std::vector<int64_t>* elements) const;

  void Encode(Encoder& out) const;
  // With every position in range, or the decoder fails.
  static ChunkBody Decode(Decoder& in);
};

// Kernel kind "chunk": pieces of a task, each of some points along the same
// index. They make each element of its outputs once at most; what none makes
// is 0.
struct ChunkPieces {
  std::vector<ChunkBody> pieces;

  std::string Encode() const;
  // Errors: kInvalidArgument if there is none, or one is malformed.
  static absl::StatusOr<ChunkPieces> Decode(absl::string_view body);
};

// Kernel kind "chunk-reduce": a chunk of a reduction: as ChunkBody, but with no
// code. Either each point is the reduction of its loads, or the chunk is that
// of all its points.
struct ChunkReduction {
  ReduceKind kind = ReduceKind::kSum;
  bool is_along = false;  // of all points: a partial result
  ElementType element = ElementType::kDouble;  // of what is read
  ChunkBody chunk;

  std::string Encode() const;
  // Errors: as ChunkBody.
  static absl::StatusOr<ChunkReduction> Decode(absl::string_view body);
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_IR_CHUNK_BODY_H_
