// StencilArrays: the arrays of a program that are the fields of its stencil.
// Internal to program_split and stencil.
#ifndef DOGGED_DSL_TILING_STENCIL_ARRAYS_H_
#define DOGGED_DSL_TILING_STENCIL_ARRAYS_H_

#include <cstdint>
#include <vector>

#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// How many steps back fields are read.
inline constexpr int64_t kLagMax = 8;

struct StencilArrays {
  // Rank of arrays with time and all of space: of the arrays that steps lead
  // to.
  int32_t rank = 0;
  bool has_steps = false;  // some array is made of itself
  // By array: it has time and all of space. Arrays of `rank` indices that no
  // step makes are of two kinds: those read at distances, such as a force(x)(t)
  // from a file, go along with the steps; those read in another way,
  // coefficient(x)(2) or weight(x+t)(x), have neither time nor space of their
  // own. These are coefficients, as are all of more or fewer indices.
  std::vector<bool> has_time;
};

StencilArrays FindStencilArrays(const PointProgram& points);

// By array: whether its labels depend on others of its own.
std::vector<bool> RecurrentArrays(const PointProgram& points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_STENCIL_ARRAYS_H_
