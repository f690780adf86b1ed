#include "dsl/lower/lower_result.h"

#include <utility>

#include "dsl/check/repeat.h"

namespace dogged::dsl {

std::optional<PointResult> ResultOf(const CheckedResult& result,
                                    const CheckedProgram& program) {
  Domain domain = Instantiate(result.domain, program);
  AffineMap map = Instantiate(result.ref, program);
  if (!program.repeat) {
    return MakeResult(result.ref.array, std::move(domain), std::move(map));
  }
  const CheckedRepeat& repeat = *program.repeat;
  const int64_t p = repeat.parameter;
  const int64_t last = program.parameters[p].integer;
  const int round = domain.size();
  const std::optional<AffineExpr> bound = TimeOf(result.domain, program);
  if (!bound) return std::nullopt;
  Repeat::ResultTime time{.time = *bound};
  bool is_one_time_step = true;  // each round
  for (size_t i = 0; i < map.size(); ++i) {
    const int64_t factor = result.ref.index[i].params[p];
    if (factor == 0) continue;
    if (round >= kMaxIndices) return std::nullopt;
    map[i] = map[i] +
             (AffineExpr::Index(round) - AffineExpr::Constant(last)) * factor;
    is_one_time_step &= factor == 1;
    time.is_exact = true;
  }
  if (time.is_exact) {
    if (!time.time.IsConstant()) return std::nullopt;
    time.time = AffineExpr::Index(round);
    domain.dimensions.push_back(
        {.name = "round",
         .lower = {{.expr = AffineExpr::Constant(repeat.first)}},
         .upper = {{.expr = AffineExpr::Constant(last)}}});
    is_one_time_step &= MakeResult(result.ref.array, domain, map).is_grid;
    domain.guard.Require(
        {{.expr = time.time - AffineExpr::Constant(repeat.first),
          .kind = Constraint::Kind::kDivisible,
          .modulus = repeat.step}});
  }
  PointResult out =
      MakeResult(result.ref.array, std::move(domain), std::move(map));
  out.time = time;
  if (time.is_exact && is_one_time_step) out.time_interval = repeat.step;
  return out;
}

}  // namespace dogged::dsl
