// Names of the indices of arrays, for messages and domains. Pure.
#ifndef DOGGED_DSL_CHECK_INDEX_NAMES_H_
#define DOGGED_DSL_CHECK_INDEX_NAMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "dsl/check/checked.h"

namespace dogged::dsl {

// Names of an array's indices: from its declaration, or from `ref`, whose forms
// are over `domain`.
std::vector<std::string> IndexNames(const CheckedProgram& program,
                                    const CheckedRef& ref,
                                    const CheckedDomain& domain);

// The names that the first task to create labels of the array gives them; where
// it gives a number, that of the next one.
std::vector<std::string> IndexNames(const CheckedProgram& program,
                                    int32_t array);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_INDEX_NAMES_H_
