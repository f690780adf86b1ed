// Warning that a program runs point by point: a stencil because of a task that
// is no part of it, or a loop nest for which there are no tiles.
#ifndef DOGGED_DSL_POINT_WARNING_H_
#define DOGGED_DSL_POINT_WARNING_H_

#include "absl/strings/string_view.h"
#include "dsl/check/checked.h"
#include "dsl/compile.h"
#include "dsl/ir/point_program.h"
#include "dsl/text/diagnostics.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// Job::lowering of a program begins with this if each point is a task.
inline constexpr absl::string_view kPointByPoint = "point by point";
// It is this if tasks are blocks, as the program cuts its arrays: then each is
// a task too.
inline constexpr absl::string_view kOwnTiles =
    "a task for each block, as the program cuts them";
// The reason why its loop nests have no tiles stands behind this.
inline constexpr absl::string_view kNoLoopNest = "; no loop nest in tiles: ";

// `points` were made of `checked`, and `program` of them, as `how` says, which
// is Job::lowering. Silent where tasks are few, where tasks are blocks, in
// loops that end by a value, and where nobody looked for tiles of loop nests
// while the stencil by itself would run point by point as well: false then.
bool WarnOfPoints(const CheckedProgram& checked, const PointProgram& points,
                  const CompileOptions& options, const Program& program,
                  absl::string_view how, Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_POINT_WARNING_H_
