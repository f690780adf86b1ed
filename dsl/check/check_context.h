// CheckContext: the program as far as it is checked, and the parts that all
// declarations are made of: names, values, references, domains, conditions.
// Each kind of declaration has a file of its own, which adds to `program`.
#ifndef DOGGED_DSL_CHECK_CHECK_CONTEXT_H_
#define DOGGED_DSL_CHECK_CHECK_CONTEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "dsl/check/check.h"
#include "dsl/check/checked.h"
#include "dsl/check/mentions.h"
#include "dsl/check/type_check.h"
#include "dsl/text/ast.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {

// Help with errors in a reference.
struct RefHelp {
  std::string rank;     // where it has too many or too few indices
  bool is_use = false;  // a label under `using`, which may go round a ring
  // Takes the indices that are known by their values; null: there may be none.
  std::optional<CheckedGather>* gather = nullptr;
};

struct CheckContext {
  CheckContext(const CheckOptions& given, const ast::Program& written,
               Diagnostics& reports);

  // The names of parameters.
  Scope ParameterScope() const;
  // False, and reported, if the name has a meaning already.
  bool AddName(const ast::Name& name, ast::NameKind kind, int32_t index,
               Type type, bool is_block, Scope& scope);
  // Typed, and of type `to`.
  std::optional<ast::Expr> ValueOf(const ast::Expr& expr, Type to,
                                   absl::string_view what, Scope& scope);
  // The array of that name, inferred from `ref` if there is none yet; none if
  // the number of indices differs.
  std::optional<int32_t> ArrayOf(const ast::Ref& ref,
                                 const std::string& rank_help);
  // None after an error. Slices are left as forms of zero.
  std::optional<CheckedRef> RefOf(const ast::Ref& ref, Scope& scope,
                                  int dim_count, const RefHelp& help = {});
  // Inputs, whose elements may stand in the indices of what tasks read.
  std::vector<Scope::Element> KnownElements() const;
  // Dimensions, added to `scope` one after another, and their steps. The
  // program's names are in `scope` already.
  CheckedDomain DomainOf(const std::vector<ast::Dimension>& dimensions,
                         Scope& scope);
  // Conjoins `where`.
  void Restrict(const std::optional<ast::Expr>& where, Scope& scope,
                int dim_count, CheckedGuard& guard);

  CheckedArray& ArrayAt(int32_t index) { return program.arrays[index]; }

  const CheckOptions& options;
  Diagnostics& diagnostics;
  const Mentions mentions;
  CheckedProgram program;
  std::vector<std::string> array_names;
  std::vector<std::string> lacking_inputs;  // an error has said so
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHECK_CHECK_CONTEXT_H_
