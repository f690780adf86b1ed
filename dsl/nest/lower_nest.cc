#include "dsl/nest/lower_nest.h"

#include <isl/set.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/isl/isl_sets.h"
#include "dsl/isl/set_queries.h"
#include "dsl/lower/static_values.h"
#include "dsl/nest/align_arrays.h"
#include "dsl/nest/fold_groups.h"
#include "dsl/nest/nest.h"
#include "dsl/nest/nest_code.h"
#include "dsl/nest/read_nest.h"
#include "dsl/nest/schedule_nest.h"
#include "dsl/nest/tile_domain.h"
#include "dsl/nest/tile_flows.h"
#include "dsl/nest/tile_sizes.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// Steps of isl before it gives up: some twenty seconds at worst.
constexpr uint64_t kOperationsMax = 20'000'000;
// The same for a small nest, which is soon computed point by point, too.
constexpr uint64_t kSmallOperationsMax = 3'000'000;
// Steps in vain that its search for a band takes: one attempt's.
constexpr uint64_t kSmallVainStepsMax = 10'000;
// Points of a tile: some ten times as long as a task costs, in one process and
// on agents, where labels have homes, copies and digests. Fewer where a tile
// would touch too much.
constexpr int64_t kPoints = int64_t{1} << 19;
constexpr int64_t kPointsOfAgents = int64_t{1} << 21;
constexpr int64_t kFewer = 8;  // times
// Keys that are enough for an agent, if tiles lie along one index.
constexpr int64_t kKeysPerAgent = 2;
// Values of a tile's buffers: as a rule, and where that can't be.
constexpr int64_t kElements = int64_t{1} << 22;
constexpr int64_t kElementsMax = int64_t{1} << 24;
// Weight of a plane's number in the priority of its tiles, beside their own.
constexpr int64_t kPlaneWeight = 256;

// The places of a result that no box has, if that is convex.
std::optional<Domain> HeldPlaces(const isl::set& places) {
  const isl::set hull = isl::manage(isl_set_from_basic_set(
      isl_set_simple_hull(isl_set_remove_divs(places.copy()))));
  if (!hull.is_equal(places)) return std::nullopt;
  return DomainOfTiles(places);
}

class NestProgramMaker {
 public:
  NestProgramMaker(const PointProgram& points, const TargetSize& target,
                   Nest& nest)
      : points_(points), target_(target), nest_(nest) {}
  absl::StatusOr<Program> Make();
  // "update 5 x 5 x 5 tiles of 64 x 64 x 64".
  std::string Text() const;

 private:
  absl::Status AddArrays(int32_t component);
  absl::Status AddClass(int32_t component);
  bool AddResult(size_t result, const NestComponent& component);
  std::string NameOf(const NestComponent& component) const;
  struct Keys {
    int32_t group = 0;
    std::vector<int64_t> blocks;
  };
  Keys KeysOf(int32_t component) const;
  // The tiles of all components along the indices of that class.
  Box TilesAlong(int32_t index_class) const;
  // The user's array whose values, or parts of them, a group holds.
  int32_t ArrayOf(const NestComponent& component,
                  const NestGroup& group) const {
    if (component.result >= 0) {
      return points_.results[component.result].array;
    }
    if (group.array < nest_.array_count) return group.array;
    const size_t reduction = static_cast<size_t>(group.array) -
                             points_.arrays.size() - points_.results.size();
    return points_.reductions[reduction].array;
  }

  const PointProgram& points_;
  const TargetSize& target_;
  Nest& nest_;
  Program program_;
};

std::string NestProgramMaker::NameOf(const NestComponent& component) const {
  std::vector<std::string> names;
  for (const int32_t p : component.points) {
    names.push_back(nest_.points[p].name);
  }
  return absl::StrJoin(names, ", ");
}

// Blocks of the keys of tiles: slabs along the first of the indices along which
// tiles need nothing of each other, and along the next ones if these are too
// few; tiles that follow one another along the rest stay together. Components
// that share such an index share its slabs.
NestProgramMaker::Keys NestProgramMaker::KeysOf(int32_t c) const {
  const NestComponent& component = nest_.components[c];
  if (component.spread.empty()) {
    Box box;
    for (int k = 0; k < component.rank; ++k) {
      box.lower.push_back(Least(*component.tiles, k).value_or(0));
      box.upper.push_back(Greatest(*component.tiles, k).value_or(0));
    }
    return {.group = c, .blocks = SlabsOf(box, -1, target_)};
  }
  Keys out{
      .group = static_cast<int32_t>(nest_.components.size()) +
               component.spread.front().index_class,
      .blocks = std::vector<int64_t>(static_cast<size_t>(component.rank), 0)};
  int64_t count = 1;
  for (const auto& [index, index_class] : component.spread) {
    if (count > 1 && count >= kKeysPerAgent * target_.agents) break;
    const Box along = TilesAlong(index_class);
    const int64_t slab = SlabsOf(along, -1, target_)[0];
    out.blocks[index] = slab;
    count *= CeilDiv(along.upper[0] - along.lower[0] + 1, slab);
  }
  return out;
}

Box NestProgramMaker::TilesAlong(int32_t index_class) const {
  Box out{.lower = {std::numeric_limits<int64_t>::max()},
          .upper = {std::numeric_limits<int64_t>::min()}};
  for (const NestComponent& component : nest_.components) {
    for (const auto& [k, own_class] : component.spread) {
      if (own_class != index_class) continue;
      out.lower[0] =
          std::min(out.lower[0], Least(*component.tiles, k).value_or(0));
      out.upper[0] =
          std::max(out.upper[0], Greatest(*component.tiles, k).value_or(0));
    }
  }
  return out;
}

// A label for each parcel.
absl::Status NestProgramMaker::AddArrays(int32_t c) {
  const NestComponent& component = nest_.components[c];
  const Keys keys = KeysOf(c);
  for (const int32_t p : ParcelsOf(nest_, c)) {
    NestParcel& parcel = nest_.parcels[p];
    const NestGroup& group = component.groups[parcel.group];
    const bool is_result = component.result >= 0;
    const PointArray& array = points_.arrays[ArrayOf(component, group)];
    parcel.array = static_cast<int32_t>(program_.arrays.size());
    program_.arrays.push_back(
        {.name = absl::StrCat(array.name, "'", is_result ? "result" : "tile",
                              program_.arrays.size()),
         .rank = component.rank,
         .element = group.element,
         .affinity_block = keys.blocks,
         .affinity_group = keys.group,
         .version_index = -1});
  }
  return absl::OkStatus();
}

absl::Status NestProgramMaker::AddClass(int32_t c) {
  const NestComponent& component = nest_.components[c];
  const std::vector<int32_t> parcels = ParcelsOf(nest_, c);
  // Nothing reads it.
  if (parcels.empty()) return absl::OkStatus();
  const auto too_large = [] {
    return absl::UnimplementedError("its tiles have bounds beyond all numbers");
  };
  std::optional<Domain> domain = DomainOfTiles(*component.tiles);
  if (!domain) return too_large();
  TaskClass out{.name = absl::StrCat(NameOf(component), " (tile)"),
                .domain = *std::move(domain)};
  for (int k = 0; k < component.rank; ++k) {
    // Planes one after another, so that few of them are held.
    const bool is_plane = component.is_plane[k];
    out.priority =
        out.priority - AffineExpr::Index(k) * (is_plane ? kPlaneWeight : 1);
  }
  AffineMap own;
  for (int k = 0; k < component.rank; ++k) own.push_back(AffineExpr::Index(k));
  for (const int32_t p : parcels) {
    out.creates.push_back({.array = nest_.parcels[p].array, .map = own});
  }
  for (const NestUse& use : UsesOf(nest_, c)) {
    // Tiles of one component may wait for no more than is known to be before
    // them.
    const NestParcel& parcel = nest_.parcels[use.parcel];
    const int32_t planes = nest_.components[parcel.component].planes;
    const bool is_same =
        parcel.component == c || (planes >= 0 && planes == component.planes);
    std::optional<Guard> guard =
        GuardOfTiles(use.tiles, *component.tiles, /*is_exact=*/is_same);
    if (!guard) {
      return absl::UnimplementedError(
          absl::StrCat("which tiles of task ", NameOf(component),
                       " wait for each other is no formula"));
    }
    out.uses.push_back({.array = nest_.parcels[use.parcel].array,
                        .map = use.source,
                        .guard = *std::move(guard)});
  }
  std::vector<int64_t> limits;
  if (component.result >= 0) {
    const PointResult& result = points_.results[component.result];
    for (int d = 0; d < result.box.size(); ++d) {
      const auto s = static_cast<size_t>(d);
      if (!result.varies[s]) continue;
      limits.push_back(
          (result.box.upper[d] - result.box.lower[d]) / result.step[s] + 1);
    }
  }
  DOGGED_ASSIGN_OR_RETURN(const NestBody body, MakeNestBody(nest_, c, limits));
  out.kernel = static_cast<int32_t>(program_.kernels.size());
  program_.kernels.push_back(
      {.name = out.name, .kind = "nest", .body = body.Encode()});
  program_.classes.push_back(std::move(out));
  return absl::OkStatus();
}

// False if which elements of its box are wanted has no form.
bool NestProgramMaker::AddResult(size_t r, const NestComponent& component) {
  const PointResult& result = points_.results[r];
  const int32_t parcel = ParcelsOf(
      nest_, static_cast<int32_t>(&component - nest_.components.data()))[0];
  ResultView view{.array = points_.arrays[result.array].name,
                  .result_set = static_cast<int32_t>(r),
                  .lower = {result.box.lower.begin(), result.box.lower.end()},
                  .upper = {result.box.upper.begin(), result.box.upper.end()},
                  .step = result.step,
                  .tile_index = {},
                  .origin = {},
                  .extent = {}};
  AffineMap own;
  for (int d = 0; d < result.box.size(); ++d) {
    const auto s = static_cast<size_t>(d);
    const auto k = static_cast<int32_t>(own.size());
    view.tile_index.push_back(result.varies[s] ? k : -1);
    view.origin.push_back(result.varies[s] ? result.box.lower[d] : 0);
    view.extent.push_back(result.varies[s] ? component.sizes[k] * result.step[s]
                                           : 1);
    if (result.varies[s]) own.push_back(AffineExpr::Index(k));
  }
  if (!result.is_whole_box && !result.is_grid) {
    view.held = HeldPlaces(nest_.points[component.points.front()].domain);
    if (!view.held) return false;
  }
  program_.views.push_back(std::move(view));
  program_.results.push_back(
      {.array = nest_.parcels[parcel].array,
       .domain = DomainOfTiles(*component.tiles).value_or(Domain()),
       .map = std::move(own)});
  return true;
}

absl::StatusOr<Program> NestProgramMaker::Make() {
  program_.name = points_.name;
  program_.every_task_needed = nest_.is_all_needed;
  for (size_t c = 0; c < nest_.components.size(); ++c) {
    DOGGED_RETURN_IF_ERROR(AddArrays(static_cast<int32_t>(c)));
  }
  for (size_t c = 0; c < nest_.components.size(); ++c) {
    DOGGED_RETURN_IF_ERROR(AddClass(static_cast<int32_t>(c)));
  }
  for (size_t r = 0; r < points_.results.size(); ++r) {
    for (const NestComponent& component : nest_.components) {
      if (component.result != static_cast<int32_t>(r)) continue;
      if (!AddResult(r, component)) {
        return absl::UnimplementedError(
            "which elements a result has is no formula");
      }
    }
  }
  DOGGED_RETURN_IF_ERROR(program_.Validate());
  return std::move(program_);
}

std::string NestProgramMaker::Text() const {
  std::vector<std::string> parts;
  for (const NestComponent& component : nest_.components) {
    if (component.result >= 0 || component.rank == 0) continue;
    std::vector<int64_t> counts;
    for (int k = 0; k < component.rank; ++k) {
      counts.push_back(Greatest(*component.tiles, k).value_or(0) -
                       Least(*component.tiles, k).value_or(0) + 1);
    }
    const bool is_one = std::all_of(counts.begin(), counts.end(),
                                    [](int64_t count) { return count == 1; });
    parts.push_back(absl::StrCat(NameOf(component), is_one ? " in one" : " in ",
                                 is_one ? "" : absl::StrJoin(counts, " x "),
                                 is_one ? " tile of " : " tiles of ",
                                 absl::StrJoin(component.sizes, " x ")));
  }
  return parts.empty()
             ? std::string(kLoopNest)
             : absl::StrCat(kLoopNest, ": ", absl::StrJoin(parts, "; "));
}

// Tiles of components with fewer points, if they can have fewer.
bool Shrink(const std::vector<int32_t>& components, int64_t least, Nest& nest) {
  for (const int32_t c : components) {
    int64_t& goal = nest.components[c].point_goal;
    if (goal <= least) return false;
    goal = std::max<int64_t>(least, goal / kFewer);
  }
  return true;
}

absl::Status FindFlows(const NestTarget& target, Nest& nest) {
  // Half of what a description may name, and less, for along other indices a
  // tile may lie across two or more.
  absl::Status found;
  for (const int64_t sources_max : {0, 32, 16, 8, 4}) {
    ChooseSizes(target.size, sources_max, target.widths, nest);
    found = FindTileFlows(nest);
    if (!absl::IsOutOfRange(found)) break;
  }
  return found;
}

// Components whose tiles hold more than so many values, once versions that
// overwrite each other are counted once.
std::vector<int32_t> FoldUntil(int64_t elements_max, Nest& nest) {
  const std::vector<int32_t> beyond = ComponentsBeyond(nest, elements_max);
  for (const int32_t c : beyond) FoldGroups(c, nest);
  return ComponentsBeyond(nest, elements_max);
}

// Tiles of `least` points or more that hold at most so many values.
absl::Status FindTiles(const NestTarget& target, int64_t least,
                       int64_t elements_max, Nest& nest) {
  for (NestComponent& component : nest.components) {
    component.point_goal = target.size.agents > 1 ? kPointsOfAgents : kPoints;
  }
  while (true) {
    DOGGED_RETURN_IF_ERROR(FindFlows(target, nest));
    const std::vector<int32_t> beyond = FoldUntil(elements_max, nest);
    if (beyond.empty()) return absl::OkStatus();
    if (Shrink(beyond, least, nest)) continue;
    const NestComponent& component = nest.components[beyond.front()];
    return absl::ResourceExhaustedError(absl::StrCat(
        "a tile of task ", nest.points[component.points.front()].name,
        " would hold more than ", elements_max, " values at once"));
  }
}

absl::Status FindTiles(const NestTarget& target, Nest& nest) {
  absl::Status found = FindTiles(target, kFewer, kElements, nest);
  if (absl::IsResourceExhausted(found)) {
    found = FindTiles(target, 1, kElementsMax, nest);
  }
  if (!found.ok()) return found;
  for (size_t c = 0; c < nest.components.size(); ++c) {
    FoldGroups(static_cast<int32_t>(c), nest);
  }
  return absl::OkStatus();
}

// Facts that one attempt at a nest leaves for the next.
struct NestSearch {
  uint64_t steps_left = 0;
  bool has_planes = false;
  bool has_ended = false;  // by the bound on all that isl does
};

absl::StatusOr<Program> Lower(const PointProgram& points,
                              const NestTarget& target, Planes planes,
                              NestSearch& search, std::string& how) {
  const IslContext context(kOperationsMax);
  DOGGED_ASSIGN_OR_RETURN(Nest nest, ReadNest(points, context.get()));
  nest.is_small = target.widths.empty() && HasFewPoints(nest);
  std::optional<OperationBudget> budget;
  if (nest.is_small) {
    budget.emplace(nest.context, kSmallOperationsMax);
    search.steps_left = std::min(search.steps_left, kSmallVainStepsMax);
  }
  DOGGED_RETURN_IF_ERROR(ScheduleNest(planes, search.steps_left, nest));
  AlignArrays(nest);
  search.has_planes = std::any_of(
      nest.components.begin(), nest.components.end(),
      [](const NestComponent& component) { return component.planes >= 0; });
  const absl::Status found = FindTiles(target, nest);
  if (!found.ok()) {
    return absl::UnimplementedError(std::string(found.message()));
  }
  NestProgramMaker maker(points, target.size, nest);
  DOGGED_ASSIGN_OR_RETURN(Program program, maker.Make());
  how = maker.Text();
  return program;
}

absl::StatusOr<Program> TryLower(const PointProgram& points,
                                 const NestTarget& target, Planes planes,
                                 NestSearch& search, std::string& how) {
  try {
    return Lower(points, target, planes, search, how);
  } catch (const isl::exception&) {
    search.has_ended = true;
    return absl::UnimplementedError(
        "no tiles of it were found in bounded time");
  }
}

}  // namespace

absl::StatusOr<Program> LowerNestWithIsl(const PointProgram& points,
                                         const NestTarget& target,
                                         std::string& how) {
  const PointProgram read = WithSeldomReadValues(points);
  const bool is_asked_for = target.widths.size() > 1;
  NestSearch search{.steps_left = target.vain_steps_max};
  absl::StatusOr<Program> out =
      TryLower(read, target, is_asked_for ? Planes::kAlways : Planes::kIfLarge,
               search, how);
  const bool is_final = out.ok() || !absl::IsUnimplemented(out.status());
  if (is_final || search.has_ended) return out;
  // Tiles in planes read more tiles, tiles of planes hold more.
  absl::StatusOr<Program> other = TryLower(
      read, target, search.has_planes ? Planes::kNever : Planes::kAlways,
      search, how);
  return other.ok() ? std::move(other) : std::move(out);
}

}  // namespace dogged::dsl
