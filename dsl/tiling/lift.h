// Lifting: arrays of fewer indices than a stencil's fields, made of some of
// their labels, get a place among these: s(x)(y) of u(x)(y)(T) becomes
// s(x)(y)(T), seis(r)(t) of p(10*r)(3)(t) becomes seis(10*r)(3)(t). And arrays
// without any steps get one each, the number of tasks that lie behind them:
// b(x) of a(x) becomes b(x)(1) of a(x)(0). So tasks that could only run point
// by point, behind tiles or without any, become part of the tiles. Internal to
// lower_program.
#ifndef DOGGED_DSL_TILING_LIFT_H_
#define DOGGED_DSL_TILING_LIFT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// Index i of a field at which an array is lifted: `factor` times index `from`
// of the array, and `offset`; a number if `from` is -1.
struct Follow {
  int32_t from = -1;
  int64_t factor = 0;
  int64_t offset = 0;
  friend bool operator==(const Follow&, const Follow&) = default;
};
// An entry for each index of a field; empty: the array stays as it is.
using Embedding = std::vector<Follow>;

struct LiftedProgram {
  PointProgram points;
  std::vector<Embedding> embeddings;  // by array
};

// The same program with such arrays lifted, results of them too; none if there
// is nothing to lift. Not of loops.
std::optional<LiftedProgram> LiftPoints(const PointProgram& points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_LIFT_H_
