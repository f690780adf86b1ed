#include "dsl/check/index_help.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/check/repeat.h"
#include "dsl/text/print.h"

namespace dogged::dsl {
namespace {

using ast::Expr;
using ast::Op;

bool IsBinary(const Expr& expr, Op op) {
  return expr.kind == Expr::Kind::kBinary && expr.op == op;
}

// `expr` without a summand that reads `summand`: x - 1 of x - 1 + N.
Expr Without(const std::string& summand, const Expr& expr) {
  if (IsBinary(expr, Op::kAdd)) {
    if (Print(expr.args[1]) == summand) return expr.args[0];
    if (Print(expr.args[0]) == summand) return expr.args[1];
  }
  if (!IsBinary(expr, Op::kAdd) && !IsBinary(expr, Op::kSubtract)) return expr;
  Expr out = expr;
  out.args[0] = Without(summand, expr.args[0]);
  return out;
}

// The first of `indices` in `expr`; empty if there is none.
std::string IndexIn(const Expr& expr, const std::vector<std::string>& indices) {
  if (expr.kind == Expr::Kind::kName) {
    const bool is_one =
        std::count(indices.begin(), indices.end(), expr.text) > 0;
    return is_one ? expr.text : "";
  }
  for (const Expr& arg : expr.args) {
    std::string found = IndexIn(arg, indices);
    if (!found.empty()) return found;
  }
  return "";
}

}  // namespace

std::string HelpWithIndex(const Expr& expr) {
  if (IsBinary(expr, Op::kModulo)) {
    return "a remainder stands on the left of == or !=, as in  x % 2 == 0";
  }
  std::string out =
      "indices, ranges and conditions are sums of indices times numbers; only "
      "parameters may be multiplied or divided";
  if (IsBinary(expr, Op::kDivide) && expr.args[0].kind == Expr::Kind::kName &&
      expr.args[0].text != kRoundIndex &&
      expr.args[1].kind == Expr::Kind::kInteger) {
    const std::string by = Print(expr.args[1]);
    absl::StrAppend(&out, "; for ", Print(expr), " let a task create at ", by,
                    "*i and read at i, another one at ", by, "*i+1, ...");
  }
  return out;
}

std::string HelpWithRing(const ast::Ref& ref, size_t i,
                         const std::vector<std::string>& indices) {
  if (!IsBinary(ref.index[i], Op::kModulo)) return "";
  const std::string along = IndexIn(ref.index[i], indices);
  if (along.empty()) return "";
  ast::Ref form = ref;
  ast::Ref plain = ref;
  for (size_t k = 0; k < ref.index.size(); ++k) {
    const Expr& index = ref.index[k];
    if (IsBinary(index, Op::kModulo)) {
      plain.index[k] = Without(Print(index.args[1]), index.args[0]);
    }
    const std::string name = IndexIn(index, indices);
    if (name.empty()) continue;
    form.index[k] = Expr();
    form.index[k].kind = Expr::Kind::kName;
    form.index[k].text = name;
  }
  return absl::StrCat("a ring is  boundary ", Print(form), " = periodic(",
                      along, "),  and  ", Print(plain),
                      "  then reads round it");
}

}  // namespace dogged::dsl
