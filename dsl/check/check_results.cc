#include "dsl/check/check_results.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/check/file_endings.h"

namespace dogged::dsl {
namespace {

// Before anything runs: it has a known format, and a file one content.
void CheckFile(CheckContext& context, const ast::Result& result) {
  if (result.file_range.end == result.file_range.begin) return;
  if (!HasFileEnding(result.file)) {
    context.diagnostics
        .Error(Code::kSyntax, result.file_range,
               absl::StrCat("the file ends in none of ",
                            absl::StrJoin(kFileEndings, ", ")))
        .Help("as in  to \"heat.npy\"");
  }
  for (const CheckedResult& other : context.program.results) {
    if (other.file != result.file) continue;
    context.diagnostics
        .Error(Code::kDefinedTwice, result.file_range,
               absl::StrCat("two results go to ", result.file))
        .Help("give each a file of its own");
  }
}

// u(5:20:3) is u(x) for x = 5:20:3, where no program can write this name for x.
void NameRanges(ast::Ref& ref, std::vector<ast::Dimension>& dimensions) {
  for (size_t i = 0; i < ref.last.size(); ++i) {
    if (!ref.last[i]) continue;
    ast::Expr& index = ref.index[i];
    const SourceRange range = Join(index.range, ref.last[i]->range);
    const std::string name = absl::StrCat("index ", i + 1);
    dimensions.push_back({.name = {.text = name, .range = range},
                          .range = {.lower = index,
                                    .upper = *ref.last[i],
                                    .step = ref.step[i],
                                    .range = range}});
    index = {.kind = ast::Expr::Kind::kName, .range = range, .text = name};
  }
}

}  // namespace

void CheckResult(CheckContext& context, const ast::Result& declared) {
  CheckedResult out;
  CheckFile(context, declared);
  out.file = declared.file;
  out.file_range = declared.file_range;
  out.range = declared.ref.range;
  ast::Ref ref = declared.ref;
  // A bare name is all of the array.
  if (const int32_t found = context.program.FindArray(ref.array.text);
      found >= 0 && ref.index.empty()) {
    ref.index.resize(context.ArrayAt(found).rank);
    ref.is_slice.assign(ref.index.size(), true);
  }
  std::vector<ast::Dimension> dimensions = declared.dimensions;
  NameRanges(ref, dimensions);
  for (const ast::Expr& index : ref.index) {
    out.index_range.push_back(index.range);
  }
  Scope scope = context.ParameterScope();
  scope.unknown_help = absl::StrCat(
      "name the index,  for x = ...,  or write  (:)",
      scope.entries.empty() ? ""
                            : absl::StrCat("; parameters are ",
                                           absl::StrJoin(scope.Names(), ", ")));
  out.domain = context.DomainOf(dimensions, scope);
  const int dim_count = static_cast<int>(dimensions.size());
  context.Restrict(declared.where, scope, dim_count, out.domain.guard);
  const auto checked = context.RefOf(ref, scope, dim_count);
  if (!checked) return;
  out.ref = *checked;
  out.is_slice = ref.is_slice;
  context.program.results.push_back(std::move(out));
}

}  // namespace dogged::dsl
