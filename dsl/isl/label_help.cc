#include "dsl/isl/label_help.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "dsl/isl/boundary_forms.h"
#include "runtime/graph/index_range.h"

namespace dogged::dsl {
namespace {

absl::string_view TextAt(const Diagnostics& diagnostics, SourceRange range) {
  return absl::string_view(diagnostics.text())
      .substr(range.begin, static_cast<size_t>(range.end - range.begin));
}

// The indices of a label whose forms are over `domain`: a name, or "" where it
// is not made of one alone. Empty if one is there twice.
std::vector<std::string> PlainIndices(const CheckedRef& ref,
                                      const CheckedDomain& domain) {
  std::vector<std::string> out;
  for (const LinearForm& form : ref.index) {
    std::string name;
    int count = 0;
    for (size_t d = 0; d < domain.dimensions.size(); ++d) {
      if (form.dims[d] == 0) continue;
      name = ++count == 1 ? domain.dimensions[d].name : "";
    }
    if (!name.empty() && std::find(out.begin(), out.end(), name) != out.end()) {
      return {};
    }
    out.push_back(std::move(name));
  }
  return out;
}

// True if all names of `some` are in `all`, and not all at their places.
bool AreMixed(const std::vector<std::string>& some,
              const std::vector<std::string>& all) {
  bool out = false;
  for (size_t i = 0; i < some.size(); ++i) {
    if (some[i].empty()) continue;
    const auto it = std::find(all.begin(), all.end(), some[i]);
    if (it == all.end()) return false;
    out |= static_cast<size_t>(it - all.begin()) != i;
  }
  return out;
}

// True if some index of `ref` is less by a number than in `made`.
bool StepsBack(const CheckedProgram& program, const CheckedRef& ref,
               const AffineMap& made) {
  const AffineMap read = Instantiate(ref, program);
  for (size_t i = 0; i < made.size(); ++i) {
    const AffineExpr step = read[i] - made[i];
    if (step.IsConstant() && step.constant < 0) return true;
  }
  return false;
}

}  // namespace

absl::string_view IndexText(const Diagnostics& diagnostics,
                            const CheckedRef& ref, size_t i) {
  const absl::string_view text = TextAt(diagnostics, ref.range);
  size_t begin = 0;
  int depth = 0;
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '(' && depth++ == 0) begin = at + 1;
    if (text[at] != ')' || --depth > 0) continue;
    if (count++ == i) {
      return absl::StripAsciiWhitespace(text.substr(begin, at - begin));
    }
  }
  return "";
}

std::string HelpWithoutLabels(const Proof& proof, int32_t array,
                              std::string otherwise) {
  const CheckedTask* maker = nullptr;
  for (const CheckedTask& task : proof.program.tasks) {
    for (const CheckedCreate& create : task.creates) {
      if (create.ref.array == array) maker = &task;
    }
  }
  // A task of an empty range is named first.
  bool is_empty = proof.created[array].is_empty();
  for (size_t k = 0; k < proof.tasks.size(); ++k) {
    const CheckedTask& task = proof.program.tasks[k];
    if (task.creates.front().ref.array != array) continue;
    if (!proof.tasks[k].domain.is_empty()) continue;
    maker = &task;
    is_empty = true;
  }
  const bool is_input =
      maker != nullptr && maker->origin == CheckedTask::Origin::kInput;
  if (maker == nullptr || !(is_empty || is_input)) return otherwise;
  return absl::StrCat(
      is_empty ? "the range of " : "",
      maker->origin == CheckedTask::Origin::kTask ? "task " : "", maker->name,
      ", on line ", proof.diagnostics.LineAndColumn(maker->range.begin).first,
      is_empty ? ", has no point with these parameters: widen it, or turn it "
                 "round"
               : ", does not reach there: widen it, or shrink the other range");
}

std::string HelpWithOrder(const Proof& proof, const CheckedRef& ref,
                          const CheckedDomain& domain, std::string otherwise) {
  const std::vector<std::string> own = PlainIndices(ref, domain);
  const auto help = [&](const CheckedRef& other, const CheckedDomain& of) {
    const std::vector<std::string> names = PlainIndices(other, of);
    const bool is_mixed = other.array == ref.array &&
                          names.size() == own.size() &&
                          (AreMixed(own, names) || AreMixed(names, own));
    if (!is_mixed) return std::string();
    const absl::string_view text = TextAt(proof.diagnostics, other.range);
    return absl::StrCat(
        "line ", proof.diagnostics.LineAndColumn(other.range.begin).first,
        " has the indices in another order:  ", text);
  };
  for (const CheckedTask& task : proof.program.tasks) {
    if (task.origin == CheckedTask::Origin::kBoundary) continue;
    for (const CheckedCreate& create : task.creates) {
      const std::string found = help(create.ref, task.domain);
      if (!found.empty()) return found;
    }
  }
  for (const CheckedBoundary& boundary : proof.program.boundaries) {
    const std::string found = help(boundary.ref, FreeOf(boundary));
    if (!found.empty()) return found;
  }
  return otherwise;
}

std::string HelpAhead(const Proof& proof, const CheckedTask& task,
                      const CheckedUse& use, std::string otherwise) {
  const Domain domain = Instantiate(task.domain, proof.program);
  const auto begins_below = [&](size_t i, const AffineExpr& made) {
    const IndexRange range = RangesOf(domain, {made}).front();
    bool is_below = false;
    bool is_above = false;
    for (const CheckedTask& other : proof.program.tasks) {
      for (const CheckedCreate& create : other.creates) {
        if (create.ref.array != use.ref.array || &other == &task) continue;
        const AffineExpr at = Instantiate(create.ref, proof.program)[i];
        is_below |= at.IsConstant() && at.constant < range.lower;
        is_above |= at.IsConstant() && at.constant > range.upper;
      }
    }
    return is_below && !is_above;
  };
  for (const CheckedCreate& create : task.creates) {
    if (create.ref.array != use.ref.array || use.over) continue;
    const AffineMap made = Instantiate(create.ref, proof.program);
    for (size_t i = 0; i < made.size(); ++i) {
      const auto steps_ahead = [&](const CheckedUse& one) {
        if (one.ref.array != use.ref.array) return true;
        const AffineExpr step =
            Instantiate(one.ref, proof.program)[i] - made[i];
        return !one.over && step.IsConstant() && step.constant > 0;
      };
      const bool is_ahead =
          i + 1 == made.size()
              ? steps_ahead(use) && !StepsBack(proof.program, use.ref, made)
              : std::all_of(task.uses.begin(), task.uses.end(), steps_ahead);
      if (!is_ahead || !begins_below(i, made[i])) continue;
      return absl::StrCat(
          TextAt(proof.diagnostics, use.ref.range), " comes after ",
          TextAt(proof.diagnostics, create.ref.range), ", which ", task.name,
          " makes of it: read an earlier one");
    }
  }
  return otherwise;
}

}  // namespace dogged::dsl
