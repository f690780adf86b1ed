#include "dsl/coalesce.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/stencil.h"
#include "dsl/tile_plan.h"
#include "dsl/tile_rounds.h"
#include "dsl/tile_shape.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

std::string DeltaText(const IndexVector& delta) {
  return absl::StrCat("'(", absl::StrJoin(delta.begin(), delta.end(), ","),
                      ")");
}

// A result, and the blocks whose tasks create labels of it.
struct WantedResult {
  TileResult result;
  int32_t array = 0;
  int64_t first_block = 0;
  int64_t last_block = 0;
};

class TileProgramMaker {
 public:
  TileProgramMaker(const PointProgram& points, const TilePlan& plan,
                   const TargetSize& target)
      : points_(points), plan_(plan), target_(target) {}
  Program Make();

 private:
  int32_t dims() const { return plan_.dim_count(); }
  int32_t AddArray(const std::string& name, ElementType element, bool blocks,
                   bool versions, const TileField& field);
  void AddArrays();
  void AddResults();
  void AddBlocks(const PointResult& result, WantedResult& wanted,
                 ResultView& view, ResultSet& set) const;
  Repeat::ResultTime TimeOfResult(const PointResult& result,
                                  bool is_static) const;
  // The last level of a block, given by index dims().
  AffineExpr BlockEnd() const {
    return AffineExpr::Index(dims()) * plan_.depth +
           AffineExpr::Constant(plan_.base_level);
  }
  void AddStaticUses();
  void AddStaticClass();
  void AddStartClass();
  void AddStepClasses();
  void AddClass(const std::string& name, TaskClass task_class, TileRole role);
  // The tiles of every dimension; with block numbers behind if first <= last.
  Domain Tiles(int64_t first_block, int64_t last_block) const;
  AffineMap TileMap(std::optional<AffineExpr> block,
                    const IndexVector* minus = nullptr) const;
  void AddResultCreates(int64_t first_block, bool is_static,
                        std::optional<AffineExpr> block, TaskClass& task_class,
                        TileRole& role) const;
  void AddStartResults(TaskClass& task_class, TileRole& role) const;
  bool IsEveryTaskNeeded() const;
  std::vector<int64_t> AffinityOf(const TileField& field,
                                  bool has_blocks) const;

  const PointProgram& points_;
  const TilePlan& plan_;
  const TargetSize& target_;
  Program program_;
  std::vector<IndexVector> directions_;
  // By field: its arrays; -1 where there is none.
  std::vector<int32_t> window_arrays_;
  std::vector<int32_t> core_arrays_;
  std::vector<std::vector<int32_t>> strip_arrays_;
  std::vector<Use> static_uses_;  // windows, and labels that are given
  std::vector<WantedResult> wanted_;
};

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
      const auto d = static_cast<size_t>(i < field.time_position ? i : i - 1);
      const int64_t place = array.place[static_cast<size_t>(i)];
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
    if (field.given || field.is_table) continue;
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

void TileProgramMaker::AddResults() {
  std::map<std::string, int> seen;
  for (const PointResult& result : points_.results) {
    const std::string& name =
        points_.arrays[static_cast<size_t>(result.array)].name;
    int32_t f = 0;
    while (plan_.fields[static_cast<size_t>(f)].name != name) ++f;
    const TileField& field = plan_.fields[static_cast<size_t>(f)];
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
        wanted.result.first_level = result.box.lower[i];
        wanted.result.last_level = result.box.upper[i];
        const bool varies = result.varies[static_cast<size_t>(i)];
        wanted.result.has_time = varies && result.level_step == 0;
        wanted.result.level_step = result.step[static_cast<size_t>(i)];
        view.step[static_cast<size_t>(i)] = wanted.result.level_step;
        view.tile_index.push_back(varies ? dims() : -1);
        view.origin.push_back(plan_.base_level - plan_.depth + 1);
        view.extent.push_back(plan_.depth);
        continue;
      }
      wanted.result.box.lower.push_back(result.box.lower[i]);
      wanted.result.box.upper.push_back(result.box.upper[i]);
      wanted.result.step.push_back(result.step[static_cast<size_t>(i)]);
      view.step[static_cast<size_t>(i)] = result.step[static_cast<size_t>(i)];
      const int32_t d = static_cast<int32_t>(ranges.size());
      const auto s = static_cast<size_t>(d);
      view.tile_index.push_back(d);
      view.origin.push_back(plan_.space.lower[d]);
      view.extent.push_back(plan_.widths[s]);
      ranges.push_back({.name = absl::StrCat("X", d),
                        .lower = (result.box.lower[i] - plan_.space.lower[d]) /
                                 plan_.widths[s],
                        .upper = (result.box.upper[i] - plan_.space.lower[d]) /
                                 plan_.widths[s]});
    }
    const int copy = seen[name]++;
    wanted.array = AddArray(
        absl::StrCat(name, "'result", copy == 0 ? "" : absl::StrCat(copy + 1)),
        field.element, !field.is_static, false, field);
    ResultSet set{.array = wanted.array,
                  .domain = Domain::Box(ranges),
                  .map = TileMap(std::nullopt)};
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
void TileProgramMaker::AddBlocks(const PointResult& result,
                                 WantedResult& wanted, ResultView& view,
                                 ResultSet& set) const {
  TileResult& tile = wanted.result;
  wanted.first_block = plan_.BlockOf(tile.first_level);
  wanted.last_block = plan_.BlockOf(tile.last_level);
  Domain::Range range{.name = kBlockIndexName,
                      .lower = wanted.first_block,
                      .upper = wanted.last_block};
  AffineExpr block = AffineExpr::Index(dims());
  if (result.level_step > 0) {
    tile.level_step = result.level_step;
    range = {.name = "level",
             .lower = 0,
             .upper = (tile.last_level - tile.first_level) / tile.level_step};
    block = block * (tile.level_step / plan_.depth) +
            AffineExpr::Constant(wanted.first_block);
    const TileField& field = plan_.fields[static_cast<size_t>(tile.field)];
    const auto t = static_cast<size_t>(field.time_position);
    view.origin[t] = tile.first_level - wanted.first_block * plan_.depth;
    view.step[t] = 1;
  }
  set.domain.dimensions.push_back(
      Domain::Box({std::move(range)}).dimensions.front());
  set.map.push_back(block);
}

Repeat::ResultTime TileProgramMaker::TimeOfResult(const PointResult& result,
                                                  bool is_static) const {
  const AffineExpr first = AffineExpr::Constant(program_.repeat->first);
  if (is_static) return {.time = first};
  if (result.level_step == 0) return {.time = BlockEnd()};
  return {.time = AffineExpr::Index(dims()) * result.level_step + first,
          .is_exact = result.time.is_exact};
}

Domain TileProgramMaker::Tiles(int64_t first_block, int64_t last_block) const {
  std::vector<Domain::Range> ranges;
  for (int32_t d = 0; d < dims(); ++d) {
    ranges.push_back({.name = absl::StrCat("X", d),
                      .lower = 0,
                      .upper = plan_.counts[static_cast<size_t>(d)] - 1});
  }
  if (first_block <= last_block) {
    ranges.push_back(
        {.name = kBlockIndexName, .lower = first_block, .upper = last_block});
  }
  return Domain::Box(ranges);
}

AffineMap TileProgramMaker::TileMap(std::optional<AffineExpr> block,
                                    const IndexVector* minus) const {
  AffineMap map;
  for (int32_t d = 0; d < dims(); ++d) {
    map.push_back(AffineExpr::Index(d, minus == nullptr ? 0 : -(*minus)[d]));
  }
  if (block.has_value()) map.push_back(*block);
  return map;
}

void TileProgramMaker::AddClass(const std::string& name, TaskClass task_class,
                                TileRole role) {
  task_class.name = name;
  task_class.kernel = static_cast<int32_t>(program_.kernels.size());
  if (program_.repeat) {
    program_.repeat->class_time.push_back(
        role.kind == TileRole::Kind::kStep
            ? BlockEnd()
            : AffineExpr::Constant(program_.repeat->first));
  }
  program_.kernels.push_back(
      {.name = name,
       .kind = "tile",
       .body = TileBody{.plan = 0, .role = std::move(role)}.Encode()});
  program_.classes.push_back(std::move(task_class));
}

void TileProgramMaker::AddResultCreates(int64_t first_block, bool is_static,
                                        std::optional<AffineExpr> block,
                                        TaskClass& task_class,
                                        TileRole& role) const {
  for (const WantedResult& wanted : wanted_) {
    const TileField& field =
        plan_.fields[static_cast<size_t>(wanted.result.field)];
    if (field.is_static != is_static) continue;
    if (!is_static &&
        (first_block < wanted.first_block || first_block > wanted.last_block)) {
      continue;
    }
    role.results.push_back(wanted.result);
    task_class.creates.push_back(
        {.array = wanted.array, .map = TileMap(block)});
  }
}

// Arrays that are given come behind the ones here.
void TileProgramMaker::AddStaticUses() {
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    const TileField& field = plan_.fields[f];
    Use use{
        .array = window_arrays_[f], .map = TileMap(std::nullopt), .guard = {}};
    if (field.given) {
      use.map.clear();
      for (const int64_t index : *field.given) {
        use.map.push_back(AffineExpr::Constant(index));
      }
      use.array = static_cast<int32_t>(program_.arrays.size());
      for (size_t a = 0; points_.arrays[a].name != field.name; ++a) ++use.array;
    }
    if (use.array >= 0) static_uses_.push_back(std::move(use));
  }
}

void TileProgramMaker::AddStaticClass() {
  TaskClass task_class{.name = "",
                       .domain = Tiles(0, -1),
                       .creates = {},
                       .uses = {},
                       .priority = AffineExpr::Constant(1)};
  TileRole role{.kind = TileRole::Kind::kStatic, .results = {}};
  for (const int32_t array : window_arrays_) {
    if (array < 0) continue;
    task_class.creates.push_back(
        {.array = array, .map = TileMap(std::nullopt)});
  }
  if (task_class.creates.empty()) return;
  AddResultCreates(0, true, std::nullopt, task_class, role);
  AddClass("static", std::move(task_class), std::move(role));
}

// One for each block that the start task computes.
void TileProgramMaker::AddStartResults(TaskClass& task_class,
                                       TileRole& role) const {
  for (int64_t b = plan_.BlockOf(plan_.first_level); b <= 0; ++b) {
    const size_t begin = role.results.size();
    AddResultCreates(b, false, AffineExpr::Constant(b), task_class, role);
    const int64_t last = plan_.base_level + b * plan_.depth;
    for (size_t r = begin; r < role.results.size(); ++r) {
      TileResult& result = role.results[r];
      result.first_level = result.FirstWanted(last - plan_.depth + 1);
      result.last_level = std::min(result.last_level, last);
    }
  }
}

void TileProgramMaker::AddStartClass() {
  TaskClass task_class{.name = "",
                       .domain = Tiles(0, -1),
                       .creates = {},
                       .uses = static_uses_,
                       .priority = {}};
  TileRole role{.kind = TileRole::Kind::kStart,
                .gives_carry = plan_.block_count() > 0,
                .results = {}};
  const AffineExpr zero = AffineExpr::Constant(0);
  for (size_t f = 0; f < plan_.fields.size(); ++f) {
    if (core_arrays_[f] < 0) continue;
    task_class.creates.push_back(
        {.array = core_arrays_[f], .map = TileMap(zero)});
    for (const int32_t strip : strip_arrays_[f]) {
      task_class.creates.push_back({.array = strip, .map = TileMap(zero)});
    }
  }
  AddStartResults(task_class, role);
  AddClass("start", std::move(task_class), std::move(role));
}

void TileProgramMaker::AddStepClasses() {
  const int64_t last = plan_.block_count();
  // Blocks that create the same results make one class; the last one gives
  // nothing to a next.
  std::set<int64_t> begins = {1, last};
  for (const WantedResult& wanted : wanted_) {
    for (const int64_t begin : {wanted.first_block, wanted.last_block + 1}) {
      if (begin >= 1 && begin <= last) begins.insert(begin);
    }
  }
  const AffineExpr block = AffineExpr::Index(dims());
  for (auto it = begins.begin(); it != begins.end() && last > 0; ++it) {
    const int64_t first_block = *it;
    const int64_t last_block =
        std::next(it) == begins.end() ? last : *std::next(it) - 1;
    TaskClass task_class{.name = "",
                         .domain = Tiles(first_block, last_block),
                         .creates = {},
                         .uses = static_uses_,
                         .priority = block * -1};
    TileRole role{.kind = TileRole::Kind::kStep,
                  .gives_carry = first_block < last,
                  .results = {}};
    for (size_t f = 0; f < plan_.fields.size(); ++f) {
      if (core_arrays_[f] < 0) continue;
      const AffineExpr before = block + AffineExpr::Constant(-1);
      task_class.uses.push_back(
          {.array = core_arrays_[f], .map = TileMap(before), .guard = {}});
      for (size_t i = 0; i < directions_.size(); ++i) {
        Use use{.array = strip_arrays_[f][i],
                .map = TileMap(before, &directions_[i]),
                .guard = {}};
        std::vector<Constraint> is_there;
        for (int32_t d = 0; d < dims(); ++d) {
          const int64_t delta = directions_[i][d];
          if (delta == 0) continue;
          // 0 <= X - delta < count.
          const int64_t count = plan_.counts[static_cast<size_t>(d)];
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
          {.array = core_arrays_[f], .map = TileMap(block)});
      for (const int32_t strip : strip_arrays_[f]) {
        task_class.creates.push_back({.array = strip, .map = TileMap(block)});
      }
    }
    AddResultCreates(first_block, false, block, task_class, role);
    const std::string name = first_block == last && last > 1 ? "last"
                             : role.results.empty()
                                 ? "step"
                                 : absl::StrCat("step", first_block);
    AddClass(name, std::move(task_class), std::move(role));
  }
}

// If some field is wanted everywhere at the end, the last task of every tile
// is needed, and with it all before, each for the core that it gives.
bool TileProgramMaker::IsEveryTaskNeeded() const {
  for (size_t w = 0; w < wanted_.size(); ++w) {
    const TileField& field =
        plan_.fields[static_cast<size_t>(wanted_[w].result.field)];
    if (field.is_static || wanted_[w].result.last_level != plan_.last_level) {
      continue;
    }
    bool is_whole = true;
    for (int32_t d = 0; d < dims(); ++d) {
      const Dimension& dimension =
          program_.results[w].domain.dimensions[static_cast<size_t>(d)];
      is_whole &=
          dimension.Lower({}) == 0 &&
          dimension.Upper({}) == plan_.counts[static_cast<size_t>(d)] - 1;
    }
    if (is_whole) return true;
  }
  return false;
}

Program TileProgramMaker::Make() {
  program_.name = points_.name;
  program_.repeat = points_.repeat;
  directions_ = plan_.Directions();
  Encoder plan;
  plan_.Encode(plan);
  program_.kernels.push_back(
      {.name = "plan", .kind = "tile-plan", .body = plan.Take()});
  AddArrays();
  AddResults();
  AddStaticUses();
  AddStaticClass();
  AddStartClass();
  AddStepClasses();
  program_.every_task_needed = IsEveryTaskNeeded();
  return std::move(program_);
}

}  // namespace

absl::StatusOr<Program> Coalesce(const PointProgram& points,
                                 const TargetSize& target,
                                 const std::optional<TileShape>& shape) {
  DOGGED_ASSIGN_OR_RETURN(TilePlan plan, RecognizeStencil(points));
  if (points.repeat) DOGGED_RETURN_IF_ERROR(FitRounds(points, plan));
  if (shape.has_value()) plan.slab_points = shape->slab_points;
  if (shape.has_value() && shape->widths.empty()) {
    const std::vector<int64_t> whole = plan.widths;
    SetTileShape(whole, shape->depth, plan);
  } else if (shape.has_value()) {
    if (static_cast<int>(shape->widths.size()) != plan.dim_count()) {
      return absl::InvalidArgumentError("a tile width per dimension of space");
    }
    SetTileShape(shape->widths, shape->depth, plan);
  } else {
    ChooseTileShape(target, plan);
  }
  return TileProgramMaker(points, plan, target).Make();
}

}  // namespace dogged::dsl
