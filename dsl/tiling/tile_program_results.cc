#include "dsl/tiling/tile_program_results.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/tiling/tile_map.h"

namespace dogged::dsl {

void TileProgramResults::Add(const AddResultArray& add_array) {
  std::map<std::string, int> seen;
  for (const PointResult& result : points_.results) {
    const std::string& name = points_.arrays[result.array].name;
    int32_t f = 0;
    while (plan_.fields[f].name != name) ++f;
    const TileField& field = plan_.fields[f];
    WantedResult wanted;
    wanted.result.field = f;
    ResultView view{.array = name,
                    .result_set = static_cast<int32_t>(program_.results.size()),
                    .lower = {result.box.lower.begin(), result.box.lower.end()},
                    .upper = {result.box.upper.begin(), result.box.upper.end()},
                    .step = std::vector<int64_t>(result.step.size(), 1),
                    .tile_index = {},
                    .origin = {},
                    .extent = {}};
    std::vector<Domain::Range> ranges;
    for (int32_t i = 0; i < result.box.size(); ++i) {
      if (!field.is_static && i == field.time_position) {
        wanted.result.first_time_step = result.box.lower[i];
        wanted.result.last_time_step = result.box.upper[i];
        const bool varies = result.varies[i];
        wanted.result.has_time = varies && result.time_interval == 0;
        wanted.result.time_interval = result.step[i];
        view.step[i] = wanted.result.time_interval;
        view.tile_index.push_back(varies ? dims() : -1);
        view.origin.push_back(plan_.base_time_step - plan_.depth + 1);
        view.extent.push_back(plan_.depth);
        continue;
      }
      wanted.result.box.lower.push_back(result.box.lower[i]);
      wanted.result.box.upper.push_back(result.box.upper[i]);
      wanted.result.step.push_back(result.step[i]);
      view.step[i] = result.step[i];
      const int32_t d = static_cast<int32_t>(ranges.size());
      view.tile_index.push_back(d);
      view.origin.push_back(plan_.space.lower[d]);
      view.extent.push_back(plan_.widths[d]);
      ranges.push_back({.name = absl::StrCat("X", d),
                        .lower = (result.box.lower[i] - plan_.space.lower[d]) /
                                 plan_.widths[d],
                        .upper = (result.box.upper[i] - plan_.space.lower[d]) /
                                 plan_.widths[d]});
    }
    const int copy = seen[name]++;
    wanted.array = add_array(
        absl::StrCat(name, "'result", copy == 0 ? "" : absl::StrCat(copy + 1)),
        field);
    ResultSet set{.array = wanted.array,
                  .domain = Domain::Box(ranges),
                  .map = TileMap(dims(), std::nullopt)};
    set.map.resize(ranges.size());
    if (!field.is_static) AddBlocks(result, wanted, view, set);
    program_.results.push_back(std::move(set));
    if (program_.repeat) {
      program_.repeat->result_time.push_back(
          TimeOfResult(result, field.is_static));
    }
    program_.views.push_back(std::move(view));
    wanted_.push_back(std::move(wanted));
  }
}

// Adds the last index of a result's labels, that of blocks.
void TileProgramResults::AddBlocks(const PointResult& result,
                                   WantedResult& wanted, ResultView& view,
                                   ResultSet& set) const {
  TileResult& tile = wanted.result;
  wanted.first_block = plan_.BlockOf(tile.first_time_step);
  wanted.last_block = plan_.BlockOf(tile.last_time_step);
  Domain::Range range{.name = kBlockIndexName,
                      .lower = wanted.first_block,
                      .upper = wanted.last_block};
  AffineExpr block = AffineExpr::Index(dims());
  if (result.time_interval > 0) {
    tile.time_interval = result.time_interval;
    range = {.name = "level",
             .lower = 0,
             .upper = (tile.last_time_step - tile.first_time_step) /
                      tile.time_interval};
    block = block * (tile.time_interval / plan_.depth) +
            AffineExpr::Constant(wanted.first_block);
    const TileField& field = plan_.fields[tile.field];
    const int64_t t = field.time_position;
    view.origin[t] = tile.first_time_step - wanted.first_block * plan_.depth;
    view.step[t] = 1;
  }
  set.domain.dimensions.push_back(
      Domain::Box({std::move(range)}).dimensions.front());
  set.map.push_back(block);
}

Repeat::ResultTime TileProgramResults::TimeOfResult(const PointResult& result,
                                                    bool is_static) const {
  const AffineExpr first = AffineExpr::Constant(program_.repeat->first);
  if (is_static) return {.time = first};
  if (result.time_interval == 0) return {.time = BlockEnd(plan_)};
  return {.time = AffineExpr::Index(dims()) * result.time_interval + first,
          .is_exact = result.time.is_exact};
}

void TileProgramResults::AddCreates(int64_t first_block, bool is_static,
                                    std::optional<AffineExpr> block,
                                    TaskClass& task_class,
                                    TileRole& role) const {
  for (const WantedResult& wanted : wanted_) {
    const TileField& field = plan_.fields[wanted.result.field];
    if (field.is_static != is_static) continue;
    if (is_static && field.stage != role.stage) continue;
    if (!is_static &&
        (first_block < wanted.first_block || first_block > wanted.last_block)) {
      continue;
    }
    role.results.push_back(wanted.result);
    task_class.creates.push_back(
        {.array = wanted.array, .map = TileMap(dims(), block)});
  }
}

void TileProgramResults::AddStartCreates(TaskClass& task_class,
                                         TileRole& role) const {
  for (int64_t b = plan_.BlockOf(plan_.first_time_step); b <= 0; ++b) {
    const size_t begin = role.results.size();
    AddCreates(b, false, AffineExpr::Constant(b), task_class, role);
    const int64_t last = plan_.base_time_step + b * plan_.depth;
    for (size_t r = begin; r < role.results.size(); ++r) {
      TileResult& result = role.results[r];
      result.first_time_step = result.FirstWanted(last - plan_.depth + 1);
      result.last_time_step = std::min(result.last_time_step, last);
    }
  }
}

bool TileProgramResults::IsEveryTaskNeeded() const {
  for (size_t w = 0; w < wanted_.size(); ++w) {
    const TileField& field = plan_.fields[wanted_[w].result.field];
    if (field.is_static ||
        wanted_[w].result.last_time_step != plan_.last_time_step) {
      continue;
    }
    bool is_whole = true;
    for (int32_t d = 0; d < dims(); ++d) {
      const Dimension& dimension = program_.results[w].domain.dimensions[d];
      is_whole &= dimension.Lower({}) == 0 &&
                  dimension.Upper({}) == plan_.counts[d] - 1;
    }
    if (is_whole) return true;
  }
  return false;
}

}  // namespace dogged::dsl
