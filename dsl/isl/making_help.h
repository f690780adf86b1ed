// Help to make missing labels: a line to add, where the program with it keeps
// its present meaning.
#ifndef DOGGED_DSL_ISL_MAKING_HELP_H_
#define DOGGED_DSL_ISL_MAKING_HELP_H_

#include <isl/cpp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/isl/proof.h"

namespace dogged::dsl {

// The labels of the piece as the program would write them: an index is a number
// where all have the same, else the name at the reader.
std::string LabelsText(const std::string& array, const isl::set& piece,
                       const std::vector<std::string>& names);

struct Steps {
  const CheckedTask* task = nullptr;
  std::string range;  // of the index, "t = 1:49:2"
  size_t index = 0;
};
// The index along which tasks leave out the missing labels, by their steps.
std::optional<Steps> SteppedOver(const Proof& proof, int32_t array,
                                 const isl::set& piece);

// Help with labels that `use` of `task` reads and no task makes. A line to add
// is only offered where the program with it keeps its present meaning: within
// the grid of the array, or at an end of it that nothing else has set; and not
// for a receiver, a task that makes no label of the array, far off the grid.
std::string HelpToMake(const Proof& proof, const CheckedTask& task,
                       const CheckedUse& use, const isl::set& piece,
                       const std::vector<std::string>& names);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_ISL_MAKING_HELP_H_
