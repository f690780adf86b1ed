// Names and types of expressions: which parameter, index or value a name
// stands for, which type each operation has, and where conversions go.
#ifndef DOGGED_DSL_CHECK_TYPE_CHECK_H_
#define DOGGED_DSL_CHECK_TYPE_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// The names that an expression may use. A later one hides none: Check refuses
// names with two meanings.
struct Scope {
  struct Entry {
    std::string name;
    ast::NameKind kind = ast::NameKind::kNone;
    int32_t index = 0;
    Type type = Type::kNone;
    bool is_block = false;  // a value with extents: no arithmetic on it
    bool is_used = false;
    bool is_constant = false;  // as Expr::is_constant
  };
  std::vector<Entry> entries;
  std::string unknown_help;  // where a name is not among them; may be empty
  std::vector<std::string> arrays;  // of the program: names of no value here
  bool is_code = false;             // so labels have names
  // Arrays whose elements are known before the run, where these may stand.
  struct Element {
    std::string array;
    int32_t position = 0;
    int32_t rank = 0;
    ElementType element = ElementType::kInt64;
  };
  std::vector<Element> elements;
  std::vector<std::string> inputs;
  std::vector<std::string> lacking;  // inputs without a file, which was said
  std::string elements_help;  // where an array is none of these; may be empty

  // Null if there is none.
  Entry* Find(absl::string_view name);
  std::vector<std::string> Names() const;
};

// Says that `name` is none of `known`.
void SayUnknownName(const ast::Expr& name,
                    const std::vector<std::string>& known, std::string help,
                    Diagnostics& diagnostics);

// Resolves and types `expr` in `scope`. False after an error, which has been
// reported.
bool CheckTypes(ast::Expr& expr, Scope& scope, Diagnostics& diagnostics);

// A quotient that the integer `expr`, which is typed, is, or is a product of;
// null if there is none. Not of a sum, which counts points, as x - N/2.
const ast::Expr* FindQuotient(const ast::Expr& expr);
// Text of a quotient with one operand made real: "1.0/4".
std::string RealQuotient(const ast::Expr& quotient);

// Converts `expr`, which is typed, to type `to`. False, with a report that
// starts with `what`, where that would lose more than digits: a real number is
// no index, a condition no number.
bool ConvertTo(Type to, absl::string_view what, ast::Expr& expr,
               Diagnostics& diagnostics);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_TYPE_CHECK_H_
