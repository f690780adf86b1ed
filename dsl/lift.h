// Lifting: arrays of fewer indices than a stencil's fields, made of some of
// their labels, get a place among these: s(x)(y) of u(x)(y)(T) becomes
// s(x)(y)(T), seis(r)(t) of p(10*r)(3)(t) becomes seis(10*r)(3)(t). And arrays
// without any steps get one each, how many tasks lie behind them: b(x) of a(x)
// becomes b(x)(1) of a(x)(0). What could only run point by point behind tiles,
// or without them, is part of them then. Internal to lower_program.
#ifndef DOGGED_DSL_LIFT_H_
#define DOGGED_DSL_LIFT_H_

#include <optional>

#include "dsl/point_program.h"

namespace dogged::dsl {

// The same program with such arrays lifted, results of them too; none if there
// is nothing to lift. Not of loops.
std::optional<PointProgram> LiftPoints(const PointProgram& points);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_LIFT_H_
