// C source for tiles of loop nests: one function per tile class.
#ifndef DOGGED_DSL_KERNELS_NEST_C_H_
#define DOGGED_DSL_KERNELS_NEST_C_H_

#include <string>

#include "dsl/ir/nest_body.h"

namespace dogged::dsl {

// Code before the first of these functions, behind CPrelude().
std::string CNestPrelude();
// void symbol(const int64_t* tile, void* const* blocks), which does what
// WalkNest() does, bit by bit, if it is compiled as EmitC() says.
std::string EmitNestC(const NestBody& body, const std::string& symbol);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_NEST_C_H_
