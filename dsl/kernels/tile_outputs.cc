#include "dsl/kernels/tile_outputs.h"

namespace dogged::dsl {
namespace {

TileOutput Carried(const TileField& field, const Box& box) {
  TileOutput out{.element = field.element, .shape = {}};
  if (field.carried > 1) out.shape.push_back(field.carried);
  for (const int64_t extent : box.Extents()) out.shape.push_back(extent);
  return out;
}

// The part of a result in time steps first ... last.
TileOutput Wanted(const TilePlan& plan, const TileResult& result,
                  const IndexVector& tile, int64_t first, int64_t last) {
  const TileField& field = plan.fields[result.field];
  TileOutput out{.element = field.element, .shape = {}};
  const int64_t time_steps = result.CountWanted(first, last);
  if (!field.is_static && time_steps == 0) {
    out.shape.push_back(0);
    return out;
  }
  const IndexVector extents =
      result.CountsOf(result.WantedOf(plan.Core(field, tile)));
  for (int d = 0; d <= extents.size(); ++d) {
    if (d == field.time_position && result.has_time) {
      out.shape.push_back(time_steps);
    }
    if (d < extents.size()) out.shape.push_back(extents[d]);
  }
  return out;
}

}  // namespace

TileAndBlock::TileAndBlock(const TilePlan& plan, const TileRole& role,
                           const IndexVector& index) {
  for (int d = 0; d < plan.dim_count(); ++d) tile.push_back(index[d]);
  if (role.kind == TileRole::Kind::kStep) block = index[plan.dim_count()];
}

std::vector<int64_t> InputBytesOf(const TileProgram& program,
                                  const TileRole& role,
                                  const TileAndBlock& at) {
  const TilePlan& plan = program.plan;
  std::vector<int64_t> out;
  for (const TileField& field : plan.fields) {
    if (!IsTaken(field, role)) continue;
    out.push_back(
        TileOutput{field.element, plan.Window(field, at.tile).Extents()}
            .bytes());
  }
  if (role.kind != TileRole::Kind::kStep) return out;
  for (const TileField& field : plan.fields) {
    if (field.is_static || field.carried == 0) continue;
    out.push_back(Carried(field, plan.Core(field, at.tile)).bytes());
    for (const IndexVector& delta : program.directions) {
      IndexVector from = at.tile;
      for (int d = 0; d < delta.size(); ++d) from[d] -= delta[d];
      out.push_back(plan.IsTile(from)
                        ? Carried(field, plan.Strip(field, from, delta)).bytes()
                        : 0);
    }
  }
  return out;
}

std::vector<TileOutput> OutputsOf(const TileProgram& program,
                                  const TileRole& role,
                                  const TileAndBlock& at) {
  const TilePlan& plan = program.plan;
  const IndexVector& tile = at.tile;
  std::vector<TileOutput> out;
  for (const TileField& field : plan.fields) {
    if (role.kind == TileRole::Kind::kStatic) {
      if (!IsMadeBy(field, role)) continue;
      out.push_back({field.element, plan.Window(field, tile).Extents()});
    } else if (role.gives_carry && !field.is_static && field.carried > 0) {
      out.push_back(Carried(field, plan.Core(field, tile)));
      for (const IndexVector& delta : program.directions) {
        out.push_back(Carried(field, plan.Strip(field, tile, delta)));
      }
    }
  }
  for (const TileResult& result : role.results) {
    out.push_back(Wanted(plan, result, tile, plan.FirstTimeStepOf(at.block),
                         plan.LastTimeStepOf(at.block)));
  }
  return out;
}

}  // namespace dogged::dsl
