// Operands of the tasks of a ChunkBody, gathered for its kernel.
#ifndef DOGGED_DSL_KERNELS_CHUNK_READS_H_
#define DOGGED_DSL_KERNELS_CHUNK_READS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "dsl/ir/chunk_body.h"
#include "runtime/graph/kernel.h"

namespace dogged::dsl {

// Where the elements of one group stand: found when the first task of each
// place runs, kept for all that follow.
class GroupReads;

// Thread-safe.
class ChunkReads {
 public:
  // `body` outlives it.
  explicit ChunkReads(const ChunkBody& body);
  ~ChunkReads();

  // Operands of one task: of each load the elements of all points side by side,
  // null where its use has no label. They lie in the values of the call or in
  // `copies`.
  struct Operands {
    std::vector<const void*> loads;
    std::vector<std::unique_ptr<char[]>> copies;
  };
  // Errors: kInvalidArgument if a value is none of what the body reads.
  absl::StatusOr<Operands> Gather(const KernelCall& call) const;

  // The uses that groups name are there.
  bool Fits(const TaskClass& c) const;

 private:
  absl::StatusOr<const void*> Place(size_t load, size_t within_group,
                                    const KernelCall& call,
                                    std::unique_ptr<char[]>& copies) const;

  const ChunkBody& body_;
  std::vector<std::unique_ptr<GroupReads>> reads_;  // by group
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_CHUNK_READS_H_
