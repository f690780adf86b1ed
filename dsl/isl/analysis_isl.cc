#include "dsl/isl/analysis_isl.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "dsl/isl/boundary_tasks.h"
#include "dsl/isl/coverage.h"
#include "dsl/isl/declared_ranges.h"
#include "dsl/isl/extents.h"
#include "dsl/isl/needed_tasks.h"
#include "dsl/isl/proof.h"
#include "dsl/isl/resolve_results.h"
#include "dsl/isl/rounds.h"
#include "dsl/isl/single_assignment.h"
#include "dsl/isl/task_order.h"
#include "runtime/base/check.h"

namespace dogged::dsl {
namespace {

// Steps of isl before it gives up: some seconds at worst.
constexpr uint64_t kSymbolicOperationsMax = 2'000'000;
constexpr uint64_t kConcreteOperationsMax = 50'000'000;

// True if everything was proved and there is nothing to say. Throws
// isl::exception where isl gives up. Symbols end at the first proof that fails.
bool Prove(CheckedProgram& program, Diagnostics& diagnostics,
           const IslContext& context, bool is_symbolic) {
  Proof proof(program, diagnostics, context, is_symbolic);
  if (proof.HasErrors()) return false;
  ResolveResults(proof);
  if (proof.HasErrors()) return false;
  CheckDeclaredRanges(proof);
  if (proof.HasErrors()) return false;
  AddBoundaryTasks(proof);
  if (is_symbolic ? proof.HasErrors() : diagnostics.HasErrors()) return false;
  CheckSingleAssignment(proof);
  CheckCoverage(proof);
  if (is_symbolic ? proof.HasErrors() : diagnostics.HasErrors()) return false;
  CheckRounds(proof);
  FillInExtents(proof);
  if (diagnostics.HasErrors()) return false;
  CheckOrder(proof);
  if (diagnostics.HasErrors()) return false;
  FindNeededTasks(proof);
  return proof.is_good;
}

bool HasFreeParameter(const CheckedProgram& program) {
  return std::any_of(program.parameters.begin(), program.parameters.end(),
                     [](const CheckedParameter& parameter) {
                       return !parameter.is_fixed &&
                              parameter.element == ElementType::kInt64;
                     });
}

// Tables are numbers: nothing is proved for all sizes with them.
bool HasTables(const CheckedProgram& program) {
  return std::any_of(
      program.tasks.begin(), program.tasks.end(), [](const CheckedTask& task) {
        return std::any_of(
            task.uses.begin(), task.uses.end(),
            [](const CheckedUse& use) { return use.gather.has_value(); });
      });
}

// With symbols first: a proof for all sizes. Where one fails, or takes too
// long, the numbers decide, and give the witness.
bool IsProvedForAllSizes(CheckedProgram& program,
                         const Diagnostics& diagnostics) {
  CheckedProgram copy = program;
  Diagnostics silent(diagnostics.file(), diagnostics.text());
  try {
    const IslContext context(kSymbolicOperationsMax);
    if (!Prove(copy, silent, context, /*is_symbolic=*/true)) return false;
  } catch (const isl::exception&) {
    return false;  // as if a proof had failed
  }
  program = std::move(copy);
  return true;
}

}  // namespace

void AnalyzeWithIsl(CheckedProgram& program, Diagnostics& diagnostics) {
  if (diagnostics.HasErrors()) return;
  for (const CheckedTask& task : program.tasks) {
    for (const CheckedUse& use : task.uses) {
      DOGGED_CHECK(!use.gather || use.gather->tables != nullptr)
          << "tables that were not filled in";
    }
  }
  if (HasFreeParameter(program) && !HasTables(program) &&
      IsProvedForAllSizes(program, diagnostics)) {
    return;
  }
  try {
    const IslContext context(kConcreteOperationsMax);
    Prove(program, diagnostics, context, /*is_symbolic=*/false);
  } catch (const isl::exception& e) {
    diagnostics
        .Error(Code::kNotProved, {},
               "the program is beyond what the analysis can do")
        .Help("simpler ranges and conditions help; so do smaller parameters");
  }
}

}  // namespace dogged::dsl
