// A walk through the tile of a loop nest without a compiler: point by point,
// each by the interpreter, and checked against the sizes of the blocks.
#ifndef DOGGED_DSL_KERNELS_NEST_WALK_H_
#define DOGGED_DSL_KERNELS_NEST_WALK_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "dsl/ir/nest_body.h"

namespace dogged::dsl {

// NestWalker: what a body needs to be walked. Immutable, thread-safe; `body`
// outlives it.
class NestWalker {
 public:
  explicit NestWalker(const NestBody& body);
  // Runs tile `tile`. `blocks` are where the blocks of the body begin; null for
  // a use that is not there. kInvalidArgument where the body reaches beyond a
  // block, which no compiler makes.
  absl::Status Run(const IndexVector& tile,
                   absl::Span<void* const> blocks) const;

 private:
  const NestBody& body_;
  std::vector<std::unique_ptr<BoxFunction>> functions_;  // by statement
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_NEST_WALK_H_
