// Points of tasks and labels as messages write them. Pure.
#ifndef DOGGED_DSL_ISL_POINT_TEXT_H_
#define DOGGED_DSL_ISL_POINT_TEXT_H_

#include <isl/cpp.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dsl/check/checked.h"

namespace dogged::dsl {

// " at x = 1, t = 3".
std::string PointText(const CheckedTask& task,
                      const std::vector<int64_t>& point);

// The smallest box around `points`: " at x = 1:9, t = 3".
std::string RangesText(const CheckedTask& task, const isl::set& points);

// The first point of `task` that `map` relates to a label, and the first of
// its labels.
std::pair<std::vector<int64_t>, std::vector<int64_t>> FirstOf(
    const isl::map& map, const CheckedTask& task);

// The label that `ref` is at a point.
std::string LabelText(const CheckedProgram& program, const CheckedRef& ref,
                      const std::vector<int64_t>& point);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_POINT_TEXT_H_
