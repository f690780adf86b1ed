// Buffers of loop nests in which versions overwrite each other.
#ifndef DOGGED_DSL_NEST_FOLD_GROUPS_H_
#define DOGGED_DSL_NEST_FOLD_GROUPS_H_

#include "dsl/nest/nest.h"

namespace dogged::dsl {

// Folds groups that tiles of `component` make along each dimension in which one
// plane is enough: no element is overwritten before it was read, or packed, for
// the last time. A group is left as it is where isl takes long over it.
void FoldGroups(int32_t component, Nest& nest);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_FOLD_GROUPS_H_
