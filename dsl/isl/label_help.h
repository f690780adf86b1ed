// Help with a label that nothing makes: other places of the program that may
// have meant it.
#ifndef DOGGED_DSL_ISL_LABEL_HELP_H_
#define DOGGED_DSL_ISL_LABEL_HELP_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "dsl/isl/proof.h"

namespace dogged::dsl {

// The text of the program between the brackets of index `i`.
absl::string_view IndexText(const Diagnostics& diagnostics,
                            const CheckedRef& ref, size_t i);

// Help where a label of `array` is missing. A maker of its labels with an empty
// range, or an input, is named before `otherwise` is said: values beside an
// input's are seldom meant.
std::string HelpWithoutLabels(const Proof& proof, int32_t array,
                              std::string otherwise);

// Help where no other place has the label `ref`, over `domain`: a task or
// boundary that has its indices in another order is named before `otherwise` is
// said.
std::string HelpWithOrder(const Proof& proof, const CheckedRef& ref,
                          const CheckedDomain& domain, std::string otherwise);

// Help with a `use` that has no producer: before `otherwise` comes that it
// reads a label behind the one that the task makes, such as u(x)(t+1) for
// u(x)(t). An index goes ahead like that where the array begins below the
// task's own range and ends with it, if it is the last index, or if the task
// reads nothing that comes before along it.
std::string HelpAhead(const Proof& proof, const CheckedTask& task,
                      const CheckedUse& use, std::string otherwise);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_LABEL_HELP_H_
