// The kernels of chunks (ir/chunk_body.h).
#ifndef DOGGED_DSL_KERNELS_CHUNK_KERNEL_H_
#define DOGGED_DSL_KERNELS_CHUNK_KERNEL_H_

#include <memory>
#include <vector>

#include "dsl/ir/chunk_body.h"
#include "dsl/ir/kernel_ir.h"
#include "runtime/graph/kernel.h"

namespace dogged::dsl {

// `functions` run the code of the pieces.
std::unique_ptr<Kernel> MakeChunkKernel(
    ChunkPieces body, std::vector<std::unique_ptr<BoxFunction>> functions);

std::unique_ptr<Kernel> MakeChunkReduceKernel(ChunkReduction body);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_CHUNK_KERNEL_H_
