#include "dsl/check/check_context.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/check/affine_form.h"
#include "dsl/check/index_help.h"
#include "dsl/check/repeat.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::NameKind;

// A conjoined with B: alternatives multiply out.
CheckedGuard Conjoin(const CheckedGuard& a, const CheckedGuard& b) {
  if (a.any_of.empty()) return b;
  if (b.any_of.empty()) return a;
  CheckedGuard out;
  for (const auto& first : a.any_of) {
    for (const auto& second : b.any_of) {
      out.any_of.push_back(first);
      out.any_of.back().insert(out.any_of.back().end(), second.begin(),
                               second.end());
    }
  }
  return out;
}

}  // namespace

CheckContext::CheckContext(const CheckOptions& given,
                           const ast::Program& written, Diagnostics& reports)
    : options(given), diagnostics(reports), mentions(MentionsOf(written)) {
  const std::set<std::string> arrays = ArrayNames(written);
  array_names.assign(arrays.begin(), arrays.end());
}

Scope CheckContext::ParameterScope() const {
  Scope out;
  out.arrays = array_names;
  for (size_t p = 0; p < program.parameters.size(); ++p) {
    out.entries.push_back({.name = program.parameters[p].name,
                           .kind = NameKind::kParameter,
                           .index = static_cast<int32_t>(p),
                           .type = TypeOf(program.parameters[p].element),
                           .is_block = false,
                           .is_used = false});
  }
  for (const Scope::Element& of : KnownElements()) {
    out.inputs.push_back(of.array);
  }
  out.lacking = lacking_inputs;
  return out;
}

bool CheckContext::AddName(const ast::Name& name, NameKind kind, int32_t index,
                           Type type, bool is_block, Scope& scope) {
  if (const Scope::Entry* entry = scope.Find(name.text)) {
    const bool is_parameter = entry->kind == NameKind::kParameter;
    diagnostics
        .Error(Code::kDefinedTwice, name.range,
               absl::StrCat(name.text, is_parameter ? " is a parameter already"
                                       : entry->kind == NameKind::kDimension
                                           ? " is an index already"
                                       : entry->kind == NameKind::kUse
                                           ? " is the name of a label already"
                                           : " has a meaning already"))
        .Help(is_parameter && kind == NameKind::kDimension
                  ? "an index has a name of its own, as in  x = 0:N-1"
                  : "give it another name");
    return false;
  }
  scope.entries.push_back({.name = name.text,
                           .kind = kind,
                           .index = index,
                           .type = type,
                           .is_block = is_block,
                           .is_used = false});
  return true;
}

std::optional<Expr> CheckContext::ValueOf(const Expr& expr, Type to,
                                          absl::string_view what,
                                          Scope& scope) {
  Expr out = expr;
  if (!CheckTypes(out, scope, diagnostics) ||
      !ConvertTo(to, what, out, diagnostics)) {
    return std::nullopt;
  }
  return out;
}

std::optional<int32_t> CheckContext::ArrayOf(const ast::Ref& ref,
                                             const std::string& rank_help) {
  const auto rank = static_cast<int32_t>(ref.index.size());
  const int32_t found = program.FindArray(ref.array.text);
  if (found >= 0) {
    const CheckedArray& array = ArrayAt(found);
    if (array.rank == rank) return found;
    diagnostics
        .Error(
            Code::kIndexCount, ref.range,
            absl::StrCat(array.name, " has ", array.rank,
                         array.rank == 1 ? " index" : " indices", " on line ",
                         diagnostics.LineAndColumn(array.range.begin).first,
                         ", and here ", rank))
        .Help(rank_help);
    return std::nullopt;
  }
  if (rank > kMaxIndices) {
    diagnostics.Error(Code::kTooLarge, ref.range,
                      absl::StrCat("at most ", kMaxIndices,
                                   " indices are possible, not ", rank));
    return std::nullopt;
  }
  CheckedArray array;
  array.name = ref.array.text;
  array.rank = rank;
  array.range = ref.range;
  // A reference whose rank differs from that of most others is the wrong one.
  const auto most = mentions.arrays.find(array.name);
  const bool differs =
      most != mentions.arrays.end() && most->second.rank != rank;
  if (differs) {
    array.rank = most->second.rank;
    array.range = most->second.range;
  }
  program.arrays.push_back(std::move(array));
  if (differs) return ArrayOf(ref, rank_help);
  return static_cast<int32_t>(program.arrays.size()) - 1;
}

std::optional<CheckedRef> CheckContext::RefOf(const ast::Ref& ref, Scope& scope,
                                              int dim_count,
                                              const RefHelp& help) {
  const auto array = ArrayOf(ref, help.rank);
  CheckedRef out{.array = array.value_or(0), .index = {}, .range = ref.range};
  AffineForms forms(dim_count, program, diagnostics);
  if (help.gather != nullptr) forms.SetTakesTables();
  bool is_good = array.has_value();
  std::vector<std::string> indices;
  for (const Scope::Entry& entry : scope.entries) {
    if (entry.kind == NameKind::kDimension) indices.push_back(entry.name);
  }
  for (size_t i = 0; i < ref.index.size(); ++i) {
    if (ref.is_slice[i]) {
      out.index.push_back(forms.Constant(0));
      continue;
    }
    const auto index = ValueOf(ref.index[i], Type::kInt64, "an index", scope);
    if (help.is_use) forms.SetHelp(HelpWithRing(ref, i, indices));
    if (index && help.gather != nullptr && forms.IsOfTables(*index)) {
      auto split = forms.IndexOfTables(*index);
      is_good = is_good && split.has_value();
      if (!split) continue;
      out.index.push_back(std::move(split->form));
      if (!help.gather->has_value()) help.gather->emplace();
      (*help.gather)
          ->entries.push_back({.position = static_cast<int32_t>(i),
                               .value = *std::move(split->rest)});
      continue;
    }
    const auto form = index ? forms.Index(*index) : std::nullopt;
    if (form) out.index.push_back(*form);
    is_good = is_good && form;
  }
  if (!is_good) return std::nullopt;
  return out;
}

std::vector<Scope::Element> CheckContext::KnownElements() const {
  std::vector<Scope::Element> out;
  for (const CheckedTask& task : program.tasks) {
    if (task.origin != CheckedTask::Origin::kInput) continue;
    const int32_t position = task.creates.front().ref.array;
    const CheckedArray& array = program.arrays[position];
    if (!array.block.empty()) continue;
    out.push_back({.array = array.name,
                   .position = position,
                   .rank = array.rank,
                   .element = array.element});
  }
  return out;
}

CheckedDomain CheckContext::DomainOf(
    const std::vector<ast::Dimension>& dimensions, Scope& scope) {
  CheckedDomain out;
  const int count = static_cast<int>(dimensions.size());
  if (count > kMaxIndices) {
    diagnostics.Error(
        Code::kTooLarge, dimensions[kMaxIndices].name.range,
        absl::StrCat("at most ", kMaxIndices, " indices are possible"));
    return out;
  }
  AffineForms forms(count, program, diagnostics);
  const std::string help = std::exchange(
      scope.unknown_help,
      "ranges are made of parameters, as in  param N = 100,  and of indices "
      "before them");
  for (int d = 0; d < count; ++d) {
    const ast::Dimension& from = dimensions[d];
    CheckedDimension to{.name = from.name.text,
                        .range = from.range.range,
                        .lower = {},
                        .upper = {}};
    const auto lower =
        ValueOf(from.range.lower, Type::kInt64, "the end of a range", scope);
    const auto upper =
        ValueOf(from.range.upper, Type::kInt64, "the end of a range", scope);
    const auto lower_bounds = lower ? forms.Lower(*lower) : std::nullopt;
    const auto upper_bounds = upper ? forms.Upper(*upper) : std::nullopt;
    to.lower = lower_bounds.value_or(std::vector<CheckedBound>());
    to.upper = upper_bounds.value_or(std::vector<CheckedBound>());
    if (from.range.step > 1 && lower_bounds) {
      const auto first = forms.Index(*lower);
      const auto offset =
          first ? Combine(forms.Dimension(d), 1, *first, -1) : std::nullopt;
      if (offset) {
        out.guard = Conjoin(out.guard,
                            {.any_of = {{{.form = *offset,
                                          .kind = Constraint::Kind::kDivisible,
                                          .modulus = from.range.step}}}});
      }
    }
    AddName(from.name, NameKind::kDimension, d, Type::kInt64, false, scope);
    out.dimensions.push_back(std::move(to));
  }
  scope.unknown_help = help;
  return out;
}

void CheckContext::Restrict(const std::optional<Expr>& where, Scope& scope,
                            int dim_count, CheckedGuard& guard) {
  if (!where) return;
  const std::string help = std::exchange(
      scope.unknown_help,
      "'where' knows indices and parameters; what depends on values is chosen "
      "in the code:  c > 0 ? a : b");
  const auto condition = ValueOf(*where, Type::kBool, "'where'", scope);
  scope.unknown_help = help;
  if (!condition) return;
  AffineForms forms(dim_count, program, diagnostics);
  const auto more = forms.Condition(*condition);
  if (more) guard = Conjoin(guard, *more);
}

}  // namespace dogged::dsl
