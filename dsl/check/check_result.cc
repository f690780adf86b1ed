// Results of the program, and the files that they go to.
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/check/checker.h"
#include "dsl/check/file_endings.h"

namespace dogged::dsl {

// Before anything runs: it has a known format, and a file one content.
void Checker::CheckFile(const ast::Result& result) {
  if (result.file_range.end == result.file_range.begin) return;
  if (!HasFileEnding(result.file)) {
    diagnostics_
        .Error(Code::kSyntax, result.file_range,
               absl::StrCat("the file ends in none of ",
                            absl::StrJoin(kFileEndings, ", ")))
        .Help("as in  to \"heat.npy\"");
  }
  for (const CheckedResult& other : program_.results) {
    if (other.file != result.file) continue;
    diagnostics_
        .Error(Code::kDefinedTwice, result.file_range,
               absl::StrCat("two results go to ", result.file))
        .Help("give each a file of its own");
  }
}

void Checker::Result(const ast::Result& declared) {
  CheckedResult out;
  CheckFile(declared);
  out.file = declared.file;
  out.file_range = declared.file_range;
  out.range = declared.ref.range;
  ast::Ref ref = declared.ref;
  // A bare name is all of the array.
  if (const int32_t found = program_.FindArray(ref.array.text);
      found >= 0 && ref.index.empty()) {
    ref.index.resize(static_cast<size_t>(ArrayAt(found).rank));
    ref.is_slice.assign(ref.index.size(), true);
  }
  std::vector<ast::Dimension> dimensions = declared.dimensions;
  NameRanges(ref, dimensions);
  for (const ast::Expr& index : ref.index) {
    out.index_range.push_back(index.range);
  }
  Scope scope = ParameterScope();
  scope.unknown_help = "name the index,  for x = ...,  or write  (:)";
  out.domain = DomainOf(dimensions, scope);
  const int dim_count = static_cast<int>(dimensions.size());
  Restrict(declared.where, scope, dim_count, out.domain.guard);
  const auto checked = RefOf(ref, scope, dim_count);
  if (!checked) return;
  out.ref = *checked;
  out.is_slice = ref.is_slice;
  program_.results.push_back(std::move(out));
}

}  // namespace dogged::dsl
