#include "dsl/kernel_fit.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/coalesce.h"
#include "dsl/lower_program.h"
#include "dsl/point_kernels.h"
#include "dsl/reduce_kernel.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

bool IsPosition(int32_t position, size_t count) {
  return position >= 0 && position < static_cast<int64_t>(count);
}

bool FitsNative(const NativeBody& body, const TaskClass& c) {
  std::vector<bool> made(c.creates.size(), false);
  for (const int32_t out : body.out) {
    if (!IsPosition(out, made.size())) return false;
    made[static_cast<size_t>(out)] = true;
  }
  return std::all_of(
             body.in.begin(), body.in.end(),
             [&c](int32_t in) { return IsPosition(in, c.uses.size()); }) &&
         std::find(made.begin(), made.end(), false) == made.end();
}

bool FitsReduction(const ReduceBody& body, const TaskClass& c) {
  const auto rank = static_cast<size_t>(c.domain.size());
  return c.creates.size() == 1 &&
         (body.time_dim < 0 || (IsPosition(body.block_index, rank) &&
                                IsPosition(body.level_index, rank)));
}

absl::StatusOr<bool> FitsTile(const TileBody& body, const Program& program,
                              const TaskClass& c) {
  if (!IsPosition(body.plan, program.kernels.size())) return false;
  DOGGED_ASSIGN_OR_RETURN(
      const TilePlan plan,
      DecodeTilePlan(program.kernels[static_cast<size_t>(body.plan)]));
  const bool has_block = body.role.kind == TileRole::Kind::kStep;
  return c.domain.size() >= plan.dim_count() + (has_block ? 1 : 0);
}

absl::StatusOr<bool> Fits(const Program& program, const TaskClass& c) {
  const KernelSpec& spec = program.kernels[static_cast<size_t>(c.kernel)];
  if (spec.kind == "code") {
    DOGGED_ASSIGN_OR_RETURN(const CodeBody body, CodeBody::Decode(spec.body));
    return c.uses.size() == body.code.loads.size() &&
           c.creates.size() == body.code.stores.size();
  }
  if (spec.kind == "input") {
    DOGGED_ASSIGN_OR_RETURN(const InputBody body, InputBody::Decode(spec.body));
    return c.creates.size() == 1 && c.domain.size() == body.box.size();
  }
  if (spec.kind == "native") {
    DOGGED_ASSIGN_OR_RETURN(const NativeBody body,
                            NativeBody::Decode(spec.body));
    return FitsNative(body, c);
  }
  if (spec.kind == "reduce") {
    DOGGED_ASSIGN_OR_RETURN(const ReduceBody body,
                            ReduceBody::Decode(spec.body));
    return FitsReduction(body, c);
  }
  if (spec.kind == "tile") {
    DOGGED_ASSIGN_OR_RETURN(const TileBody body, TileBody::Decode(spec.body));
    return FitsTile(body, program, c);
  }
  return false;  // a plan, a library or the source
}

}  // namespace

absl::Status CheckKernelFits(const Program& program, const TaskClass& c) {
  DOGGED_ASSIGN_OR_RETURN(const bool fits, Fits(program, c));
  return fits ? absl::OkStatus()
              : absl::InvalidArgumentError(absl::StrCat(
                    "task ", c.name, " has a kernel that can't run it"));
}

}  // namespace dogged::dsl
