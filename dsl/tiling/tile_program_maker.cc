#include "dsl/tiling/tile_program_maker.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/ir/tile_bodies.h"
#include "dsl/ir/tile_plan_codec.h"
#include "dsl/tiling/tile_map.h"

namespace dogged::dsl {
namespace {

std::string DeltaText(const IndexVector& delta) {
  return absl::StrCat("'(", absl::StrJoin(delta.begin(), delta.end(), ","),
                      ")");
}

}  // namespace

std::vector<int64_t> TileProgramMaker::AffinityOf(const TileField& field,
                                                  bool has_blocks) const {
  Box tiles;
  for (const int64_t count : plan_.counts) {
    tiles.lower.push_back(0);
    tiles.upper.push_back(count - 1);
  }
  std::vector<int64_t> out = SlabsOf(tiles, -1, target_);
  for (const PointArray& array : points_.arrays) {
    if (array.name != field.name || array.place.empty() || field.is_static ||
        plan_.IsAhead(field)) {
      continue;
    }
    for (int32_t i = 0; i < array.rank; ++i) {
      if (i == field.time_position) continue;
      const int64_t d = i < field.time_position ? i : i - 1;
      const int64_t place = array.place[i];
      out[d] = place == 0 ? plan_.counts[d]
                          : std::max<int64_t>(1, place / plan_.widths[d]);
    }
  }
  if (has_blocks) out.push_back(0);
  return out;
}

int32_t TileProgramMaker::AddArray(const std::string& name, ElementType element,
                                   bool blocks, bool versions,
                                   const TileField& field) {
  program_.arrays.push_back({.name = name,
                             .rank = dims() + (blocks ? 1 : 0),
                             .element = element,
                             .affinity_block = AffinityOf(field, blocks),
                             .affinity_group = 0,
                             .version_index = versions ? dims() : -1});
  return static_cast<int32_t>(program_.arrays.size()) - 1;
}

void TileProgramMaker::AddArrays() {
  for (const TileField& field : plan_.fields) {
    window_arrays_.push_back(-1);
    core_arrays_.push_back(-1);
    strip_arrays_.emplace_back();
    if (field.scalar_input || field.is_gathered) continue;
    if (field.is_static) {
      window_arrays_.back() =
          AddArray(field.name + "'tile", field.element, false, false, field);
    } else if (field.carried > 0 && plan_.block_count() > 0) {
      core_arrays_.back() =
          AddArray(field.name + "'core", field.element, true, true, field);
      for (const IndexVector& delta : directions_) {
        strip_arrays_.back().push_back(AddArray(
            field.name + DeltaText(delta), field.element, true, true, field));
      }
    }
  }
}

Domain TileProgramMaker::Tiles(int64_t first_block, int64_t last_block) const {
  std::vector<Domain::Range> ranges;
  for (int32_t d = 0; d < dims(); ++d) {
    ranges.push_back({.name = absl::StrCat("X", d),
                      .lower = 0,
                      .upper = plan_.counts[d] - 1});
  }
  if (first_block <= last_block) {
    ranges.push_back(
        {.name = kBlockIndexName, .lower = first_block, .upper = last_block});
  }
  return Domain::Box(ranges);
}

void TileProgramMaker::AddClass(const std::string& name, TaskClass task_class,
                                TileRole role) {
  task_class.name = name;
  task_class.kernel = static_cast<int32_t>(program_.kernels.size());
  if (program_.repeat) {
    program_.repeat->class_time.push_back(
        role.kind == TileRole::Kind::kStep
            ? BlockEnd(plan_)
            : AffineExpr::Constant(program_.repeat->first));
  }
  program_.kernels.push_back(
      {.name = name,
       .kind = "tile",
       .body = TileBody{.plan = 0, .role = std::move(role)}.Encode()});
  program_.classes.push_back(std::move(task_class));
}

// Arrays of scalar inputs come behind the ones here.
void TileProgramMaker::FindScalarInputs() {
  for (const TileField& field : plan_.fields) {
    auto array = static_cast<int32_t>(program_.arrays.size());
    for (size_t a = 0;
         field.scalar_input && points_.arrays[a].name != field.name; ++a) {
      ++array;
    }
    scalar_input_arrays_.push_back(field.scalar_input ? array : -1);
  }
}

std::vector<Use> TileProgramMaker::StaticUses(const TileRole& role) const {
  std::vector<Use> out;
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    const TileField& field = plan_.fields[f];
    if (!IsTaken(field, role)) continue;
    Use use{.array = window_arrays_[f],
            .map = TileMap(dims(), std::nullopt),
            .guard = {}};
    if (field.scalar_input) {
      use.array = scalar_input_arrays_[f];
      use.map.clear();
      for (const int64_t index : *field.scalar_input) {
        use.map.push_back(AffineExpr::Constant(index));
      }
    }
    out.push_back(std::move(use));
  }
  return out;
}

void TileProgramMaker::AddStaticClass(int32_t stage) {
  TileRole role{.kind = TileRole::Kind::kStatic, .stage = stage, .results = {}};
  TaskClass task_class{.name = "",
                       .domain = Tiles(0, -1),
                       .creates = {},
                       .uses = StaticUses(role),
                       .priority = AffineExpr::Constant(1)};
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    if (window_arrays_[f] < 0 || plan_.fields[f].stage != stage) continue;
    task_class.creates.push_back(
        {.array = window_arrays_[f], .map = TileMap(dims(), std::nullopt)});
  }
  if (task_class.creates.empty()) return;
  results_.AddCreates(0, true, std::nullopt, task_class, role);
  AddClass(stage == 0 ? "static" : absl::StrCat("static", stage),
           std::move(task_class), std::move(role));
}

void TileProgramMaker::AddStartClass() {
  TileRole role{.kind = TileRole::Kind::kStart,
                .gives_carry = plan_.block_count() > 0,
                .results = {}};
  TaskClass task_class{.name = "",
                       .domain = Tiles(0, -1),
                       .creates = {},
                       .uses = StaticUses(role),
                       .priority = {}};
  const AffineExpr zero = AffineExpr::Constant(0);
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    if (core_arrays_[f] < 0) continue;
    task_class.creates.push_back(
        {.array = core_arrays_[f], .map = TileMap(dims(), zero)});
    for (const int32_t strip : strip_arrays_[f]) {
      task_class.creates.push_back(
          {.array = strip, .map = TileMap(dims(), zero)});
    }
  }
  results_.AddStartCreates(task_class, role);
  AddClass("start", std::move(task_class), std::move(role));
}

void TileProgramMaker::AddStepClasses() {
  const int64_t last = plan_.block_count();
  // Blocks that create the same results make one class; the last one gives
  // nothing to a next.
  std::set<int64_t> begins = {1, last};
  for (const WantedResult& wanted : results_.wanted()) {
    for (const int64_t begin : {wanted.first_block, wanted.last_block + 1}) {
      if (begin >= 1 && begin <= last) begins.insert(begin);
    }
  }
  const AffineExpr block = AffineExpr::Index(dims());
  for (auto it = begins.begin(); it != begins.end() && last > 0; ++it) {
    const int64_t first_block = *it;
    const int64_t last_block =
        std::next(it) == begins.end() ? last : *std::next(it) - 1;
    TileRole role{.kind = TileRole::Kind::kStep,
                  .gives_carry = first_block < last,
                  .results = {}};
    TaskClass task_class{.name = "",
                         .domain = Tiles(first_block, last_block),
                         .creates = {},
                         .uses = StaticUses(role),
                         .priority = block * -1};
    for (size_t f = 0; f < plan_.fields.size(); ++f) {
      if (core_arrays_[f] < 0) continue;
      const AffineExpr before = block + AffineExpr::Constant(-1);
      task_class.uses.push_back({.array = core_arrays_[f],
                                 .map = TileMap(dims(), before),
                                 .guard = {}});
      for (size_t i = 0; i < directions_.size(); ++i) {
        Use use{.array = strip_arrays_[f][i],
                .map = TileMap(dims(), before, &directions_[i]),
                .guard = {}};
        std::vector<Constraint> is_there;
        for (int32_t d = 0; d < dims(); ++d) {
          const int64_t delta = directions_[i][d];
          if (delta == 0) continue;
          // 0 <= X - delta < count.
          const int64_t count = plan_.counts[d];
          is_there.push_back({.expr = delta > 0 ? AffineExpr::Index(d, -delta)
                                                : AffineExpr::Index(d) * -1 +
                                                      AffineExpr::Constant(
                                                          count - 1 + delta)});
        }
        use.guard.any_of.push_back(std::move(is_there));
        task_class.uses.push_back(std::move(use));
      }
      if (!role.gives_carry) continue;
      task_class.creates.push_back(
          {.array = core_arrays_[f], .map = TileMap(dims(), block)});
      for (const int32_t strip : strip_arrays_[f]) {
        task_class.creates.push_back(
            {.array = strip, .map = TileMap(dims(), block)});
      }
    }
    results_.AddCreates(first_block, false, block, task_class, role);
    const std::string name = first_block == last && last > 1 ? "last"
                             : role.results.empty()
                                 ? "step"
                                 : absl::StrCat("step", first_block);
    AddClass(name, std::move(task_class), std::move(role));
  }
}

Program TileProgramMaker::Make() {
  program_.name = points_.name;
  program_.repeat = points_.repeat;
  directions_ = plan_.Directions();
  Encoder plan;
  EncodeTilePlan(plan_, plan);
  program_.kernels.push_back(
      {.name = "plan", .kind = "tile-plan", .body = plan.Take()});
  AddArrays();
  results_.Add([this](const std::string& name, const TileField& field) {
    return AddArray(name, field.element, !field.is_static, false, field);
  });
  FindScalarInputs();
  for (int32_t stage = 0; stage <= kStagesMax; ++stage) AddStaticClass(stage);
  AddStartClass();
  AddStepClasses();
  program_.every_task_needed = results_.IsEveryTaskNeeded();
  return std::move(program_);
}

}  // namespace dogged::dsl
