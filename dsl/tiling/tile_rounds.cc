#include "dsl/tiling/tile_rounds.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"

namespace dogged::dsl {
namespace {

int64_t CarriedMax(const TilePlan& plan) {
  int64_t out = 1;
  for (const TileField& field : plan.fields) {
    out = std::max(out, field.carried);
  }
  return out;
}

// Null if it does not depend on time.
const TileField* TimedField(const PointProgram& points,
                            const PointResult& result, const TilePlan& plan) {
  const std::string& name = points.arrays[result.array].name;
  for (const TileField& field : plan.fields) {
    if (field.name == name) return field.is_static ? nullptr : &field;
  }
  return nullptr;
}

// No time step of `result` is beyond the round that it belongs to.
bool IsInItsRound(const PointResult& result, int32_t time) {
  const AffineExpr& until = result.time.time;
  if (until.IsConstant()) return result.box.upper[time] <= until.constant;
  const AffineExpr left = until - result.map[time];
  // Results at many time steps must reach the very end of a round.
  return left.IsConstant() && left.constant >= 0 &&
         (left.constant == 0 || result.time_interval > 0);
}

}  // namespace

absl::Status FitRounds(const PointProgram& points, TilePlan& plan) {
  DOGGED_CHECK(points.repeat.has_value()) << "no loop";
  const Repeat& repeat = *points.repeat;
  const int64_t carried = CarriedMax(plan);
  const int64_t begin = plan.first_time_step + carried - 1;
  if (repeat.first < begin) {
    return absl::UnimplementedError(absl::StrCat(
        "its tasks look back ", carried, " steps, and its loop may end before ",
        repeat.parameter, " = ", begin));
  }
  plan.round_first = repeat.first;
  plan.round_step = repeat.step;
  plan.last_time_step = repeat.last;
  for (const PointResult& result : points.results) {
    const TileField* const field = TimedField(points, result, plan);
    if (field == nullptr || IsInItsRound(result, field->time_position)) {
      continue;
    }
    return absl::UnimplementedError(absl::StrCat(
        "what is wanted of ", field->name, " does not follow the rounds"));
  }
  return absl::OkStatus();
}

std::vector<int64_t> RoundTileDepths(const TilePlan& plan, int64_t limit) {
  std::set<int64_t> divisors;
  for (int64_t d = 1; d * d <= plan.round_step; ++d) {
    if (plan.round_step % d != 0) continue;
    divisors.insert(d);
    divisors.insert(plan.round_step / d);
  }
  std::vector<int64_t> out;
  for (const int64_t d : divisors) {
    if (d <= limit || out.empty()) out.push_back(d);
  }
  return out;
}

int64_t RoundBase(const TilePlan& plan, int64_t depth) {
  const int64_t least = plan.first_time_step + CarriedMax(plan) - 1;
  return least + (plan.round_first - least) % depth;
}

}  // namespace dogged::dsl
