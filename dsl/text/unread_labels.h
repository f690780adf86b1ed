// Labels that are made beside those that are read: `creates f(SX)(t)` with
// SX = 500 where tasks read f(x)(t) of x = 0:299. Pure.
#ifndef DOGGED_DSL_TEXT_UNREAD_LABELS_H_
#define DOGGED_DSL_TEXT_UNREAD_LABELS_H_

#include <cstdint>
#include <map>
#include <string>

#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// Warns of tasks of which all labels have an index beyond all that is read and
// wanted of their array. `parameters`: the integer ones.
void WarnOfUnreadLabels(const ast::Program& program,
                        const std::map<std::string, int64_t>& parameters,
                        Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_UNREAD_LABELS_H_
