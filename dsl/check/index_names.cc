#include "dsl/check/index_names.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dogged::dsl {

std::vector<std::string> IndexNames(const CheckedProgram& program,
                                    const CheckedRef& ref,
                                    const CheckedDomain& domain) {
  const CheckedArray& array = program.arrays[ref.array];
  std::vector<std::string> out;
  for (size_t i = 0; i < ref.index.size(); ++i) {
    const std::vector<int64_t>& dims = ref.index[i].dims;
    const auto first = std::find_if(dims.begin(), dims.end(),
                                    [](int64_t c) { return c != 0; });
    std::string name;
    if (first != dims.end()) {
      name = domain.dimensions[first - dims.begin()].name;
    }
    // The declaration's own, unless it gives none.
    if (array.declared &&
        array.declared->dimensions[i].name.find(' ') == std::string::npos) {
      name = array.declared->dimensions[i].name;
    }
    if (name.empty() || std::find(out.begin(), out.end(), name) != out.end()) {
      name = absl::StrCat("i", i + 1);
    }
    out.push_back(std::move(name));
  }
  return out;
}

std::vector<std::string> IndexNames(const CheckedProgram& program,
                                    int32_t array) {
  CheckedRef none{.array = array, .index = {}, .range = {}};
  none.index.resize(program.arrays[array].rank);
  const std::vector<std::string> unnamed = IndexNames(program, none, {});
  std::vector<std::string> out = unnamed;
  for (const CheckedTask& task : program.tasks) {
    for (const CheckedCreate& create : task.creates) {
      if (create.ref.array != array) continue;
      const auto names = IndexNames(program, create.ref, task.domain);
      for (size_t i = 0; i < out.size(); ++i) {
        const bool is_new =
            std::find(out.begin(), out.end(), names[i]) == out.end();
        if (out[i] == unnamed[i] && is_new) out[i] = names[i];
      }
    }
  }
  return out;
}

}  // namespace dogged::dsl
