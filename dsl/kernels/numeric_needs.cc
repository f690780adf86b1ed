#include "dsl/kernels/numeric_needs.h"

#include <algorithm>
#include <vector>

#include "dsl/ir/chunk_body.h"
#include "dsl/ir/nest_body.h"
#include "dsl/ir/point_bodies.h"
#include "dsl/ir/tile_bodies.h"
#include "dsl/ir/tile_plan.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

bool CallsMathematics(const CodeBlock& code) {
  return std::any_of(code.nodes.begin(), code.nodes.end(),
                     [](const IrNode& node) {
                       return node.op == IrOp::kMath &&
                              !MathFunctions()[node.integer].is_exact;
                     });
}

}  // namespace

absl::StatusOr<std::string> NumericClassOf(const Program& program,
                                           const KernelRegistry& registry,
                                           const NumericParts& parts) {
  std::vector<std::string> needs = {parts.all_jobs};
  const auto add_code = [&](const CodeBlock& code) {
    if (CallsMathematics(code)) needs.push_back(parts.mathematics);
  };
  for (const KernelSpec& spec : program.kernels) {
    if (spec.kind == "code") {
      DOGGED_ASSIGN_OR_RETURN(const CodeBody body, CodeBody::Decode(spec.body));
      add_code(body.code);
    } else if (spec.kind == "chunk") {
      DOGGED_ASSIGN_OR_RETURN(const ChunkPieces body,
                              ChunkPieces::Decode(spec.body));
      for (const ChunkBody& piece : body.pieces) add_code(piece.code);
    } else if (spec.kind == "tile-plan") {
      DOGGED_ASSIGN_OR_RETURN(const TilePlan plan, DecodeTilePlan(spec));
      for (const auto& piece : plan.pieces) add_code(piece.code);
    } else if (spec.kind == "nest") {
      DOGGED_ASSIGN_OR_RETURN(const NestBody body, NestBody::Decode(spec.body));
      for (const auto& statement : body.statements) add_code(statement.code);
    } else if (spec.kind == "native") {
      DOGGED_ASSIGN_OR_RETURN(const NativeBody body,
                              NativeBody::Decode(spec.body));
      add_code(body.scalars);
      const NativeKernel* const native =
          body.library.empty() ? registry.Find(body.kernel) : nullptr;
      needs.push_back(native == nullptr ? parts.host : native->numeric_class);
    }
  }
  return JoinNumericClasses(needs);
}

}  // namespace dogged::dsl
