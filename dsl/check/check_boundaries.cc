#include "dsl/check/check_boundaries.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/text/print.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::NameKind;

// The names in an expression that are not in `scope`, in order, each once.
void CollectFree(const Expr& expr, Scope& scope,
                 std::vector<ast::Name>& names) {
  if (expr.kind == Expr::Kind::kName && scope.Find(expr.text) == nullptr) {
    for (const ast::Name& name : names) {
      if (name.text == expr.text) return;
    }
    names.push_back({expr.text, expr.range});
  }
  for (const Expr& arg : expr.args) CollectFree(arg, scope, names);
}

// Finds the index that periodic(x) names. False after an error.
bool FindPeriodic(CheckContext& context, const ast::Boundary& declared,
                  CheckedBoundary& out) {
  const ast::Name& name = declared.periodic;
  for (size_t i = 0; i < out.free.size(); ++i) {
    if (out.free[i] == name.text) out.periodic_free = static_cast<int32_t>(i);
  }
  int mentioned = 0;
  bool is_plain = false;
  for (size_t i = 0; i < declared.ref.index.size(); ++i) {
    const LinearForm& form = out.ref.index[i];
    if (out.periodic_free < 0) break;
    if (form.dims[out.periodic_free] == 0) continue;
    ++mentioned;
    out.periodic_index = static_cast<int32_t>(i);
    is_plain = declared.ref.index[i].kind == Expr::Kind::kName;
  }
  if (mentioned == 1 && is_plain) return true;
  context.diagnostics
      .Error(Code::kBoundary, name.range,
             absl::StrCat("a periodic index stands by itself in ",
                          Print(declared.ref), DidYouMean(name.text, out.free)))
      .Help("as in  boundary phi(x)(t) = periodic(x)");
  return false;
}

}  // namespace

void CheckBoundary(CheckContext& context, const ast::Boundary& declared) {
  CheckedBoundary out;
  out.name = absl::StrCat("boundary ", Print(declared.ref));
  out.range = declared.ref.range;
  Scope scope = context.ParameterScope();
  std::vector<ast::Name> names;
  for (const Expr& index : declared.ref.index) {
    CollectFree(index, scope, names);
  }
  if (names.size() > static_cast<size_t>(kMaxIndices)) {
    context.diagnostics.Error(
        Code::kTooLarge, declared.ref.range,
        absl::StrCat("at most ", kMaxIndices, " indices are possible"));
    return;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    context.AddName(names[i], NameKind::kDimension, static_cast<int32_t>(i),
                    Type::kInt64, false, scope);
    out.free.push_back(names[i].text);
  }
  const int dim_count = static_cast<int>(names.size());
  const auto ref = context.RefOf(declared.ref, scope, dim_count);
  if (!ref) return;
  out.ref = *ref;
  const CheckedArray& array = context.ArrayAt(ref->array);
  if (!array.block.empty()) {
    context.diagnostics
        .Error(Code::kNotSupported, declared.range,
               "boundaries of block values are not supported yet")
        .Help("write a task that calls a kernel");
    return;
  }
  if (!declared.periodic.text.empty()) {
    if (!FindPeriodic(context, declared, out)) return;
  } else {
    const auto value = context.ValueOf(declared.value, TypeOf(array.element),
                                       "the value of a boundary", scope);
    if (!value) return;
    out.value = *value;
  }
  context.Restrict(declared.where, scope, dim_count, out.where);
  context.program.boundaries.push_back(std::move(out));
}

}  // namespace dogged::dsl
