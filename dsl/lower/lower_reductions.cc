#include "dsl/lower/lower_reductions.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/ir/substitute.h"
#include "dsl/kernels/reduce_kernel.h"

namespace dogged::dsl {
namespace {

// Inputs of a leaf that reads points, and of an inner node.
constexpr int64_t kLeafPoints = 16;
constexpr int64_t kFanIn = 8;

Dimension Range(std::string name, int64_t lower, int64_t upper) {
  return {.name = std::move(name),
          .lower = {{.expr = AffineExpr::Constant(lower)}},
          .upper = {{.expr = AffineExpr::Constant(upper)}}};
}

// A tree under construction. Its labels and tasks have the indices of `outer`
// first, then one per dimension of the tree, from 0.
class Tree {
 public:
  Tree(const PointReduction& reduction, const PointProgram& points,
       Domain outer, Program& program)
      : reduction_(reduction),
        name_(points.arrays[reduction.array].name),
        element_(points.arrays[reduction.source].element),
        outer_(std::move(outer)),
        program_(program) {}

  int outer_size() const { return outer_.size(); }
  ReduceBody Body(ReduceBody::Step step) const {
    return {.step = step, .kind = reduction_.kind, .element = element_};
  }

  // The leaves: `extents` of them along each dimension of the tree, `affinity`
  // that of their labels there.
  void Leaves(std::vector<int64_t> extents, std::vector<int64_t> affinity,
              std::vector<Use> uses, const ReduceBody& body) {
    Leaves(std::move(extents), std::move(affinity), std::move(uses),
           Reduce(body));
  }
  void Leaves(std::vector<int64_t> extents, std::vector<int64_t> affinity,
              std::vector<Use> uses, KernelSpec kernel) {
    extents_ = std::move(extents);
    affinity_ = std::move(affinity);
    AddLevel("leaf", std::move(uses), std::move(kernel));
  }

  // Inner nodes, dimension by dimension, until one partial result is left.
  void Join() {
    for (size_t d = extents_.size(); d-- > 0;) {
      while (extents_[d] > 1) JoinOnce(d);
    }
  }

  // The label of the last partial result, for outer indices `at`.
  Use Last(AffineMap at) const {
    for (size_t d = 0; d < extents_.size(); ++d) {
      at.push_back(AffineExpr::Constant(0));
    }
    return {.array = array_, .map = std::move(at), .guard = {}};
  }

  void Root(Domain domain, AffineMap at, int32_t created, AffineMap map) {
    AddClass("root", std::move(domain), {{.array = created, .map = map}},
             {Last(std::move(at))}, Reduce(Body(ReduceBody::Step::kRoot)));
  }

 private:
  static KernelSpec Reduce(const ReduceBody& body) {
    return {.name = "", .kind = "reduce", .body = body.Encode()};
  }
  void JoinOnce(size_t d) {
    const int64_t extent = extents_[d];
    const auto dim = outer_size() + static_cast<int>(d);
    std::vector<Use> uses;
    for (int64_t k = 0; k < std::min(kFanIn, extent); ++k) {
      Use use{.array = array_, .map = Identity(), .guard = {}};
      const AffineExpr from =
          AffineExpr::Index(dim) * kFanIn + AffineExpr::Constant(k);
      use.map[dim] = from;
      if (extent % kFanIn != 0) {
        use.guard.any_of = {
            {{.expr = AffineExpr::Constant(extent - 1) - from}}};
      }
      uses.push_back(std::move(use));
    }
    extents_[d] = CeilDiv(extent, kFanIn);
    affinity_[d] = CeilDiv(affinity_[d], kFanIn);
    AddLevel("join", std::move(uses), Reduce(Body(ReduceBody::Step::kCombine)));
  }

  AffineMap Identity() const {
    AffineMap map;
    for (int d = 0; d < outer_size() + static_cast<int>(extents_.size()); ++d) {
      map.push_back(AffineExpr::Index(d));
    }
    return map;
  }

  // Adds a class and an array that it creates, which becomes the last one.
  void AddLevel(const std::string& step, std::vector<Use> uses,
                KernelSpec kernel) {
    array_ = static_cast<int32_t>(program_.arrays.size());
    Domain domain = outer_;
    for (size_t d = 0; d < extents_.size(); ++d) {
      domain.dimensions.push_back(
          Range(absl::StrCat("r", d), 0, extents_[d] - 1));
    }
    std::vector<int64_t> affinity(outer_size(), 0);
    affinity.insert(affinity.end(), affinity_.begin(), affinity_.end());
    program_.arrays.push_back(
        {.name = absl::StrCat(name_, "'", array_),
         .rank = domain.size(),
         .element = PartialElement(reduction_.kind, element_),
         .affinity_block = std::move(affinity)});
    AddClass(step, std::move(domain), {{.array = array_, .map = Identity()}},
             std::move(uses), std::move(kernel));
  }

  void AddClass(const std::string& step, Domain domain,
                std::vector<Create> creates, std::vector<Use> uses,
                KernelSpec kernel) {
    kernel.name = absl::StrCat(reduction_.name, " ", step);
    program_.classes.push_back(
        {.name = kernel.name,
         .domain = std::move(domain),
         .creates = std::move(creates),
         .uses = std::move(uses),
         .kernel = static_cast<int32_t>(program_.kernels.size()),
         // Reductions free tiles, so they go before tasks that make more of
         // them.
         .priority = AffineExpr::Constant(1)});
    program_.kernels.push_back(std::move(kernel));
  }

  const PointReduction& reduction_;
  const std::string name_;
  const ElementType element_;
  const Domain outer_;
  Program& program_;
  int32_t array_ = 0;  // of the last level
  std::vector<int64_t> extents_;
  std::vector<int64_t> affinity_;
};

// The time, of their index, of all classes that have none yet.
void SetTimes(const AffineExpr& time, Program& program) {
  if (!program.repeat) return;
  program.repeat->class_time.resize(program.classes.size(), time);
}

// Adds the leaves over tiles, one for each tile in all of space, in `block` of
// them if they have an index for that.
void AddTileLeaves(const ResultSet& tiles,
                   const std::optional<AffineExpr>& block,
                   const Program& program, const ReduceBody& body, Tree& tree) {
  const Array source = program.arrays[tiles.array];
  std::vector<int64_t> extents;
  std::vector<int64_t> affinity;
  Use use{.array = tiles.array, .map = {}, .guard = {}};
  for (int i = 0; i < source.rank; ++i) {
    if (block && i == source.rank - 1) {
      use.map.push_back(*block);
      continue;
    }
    const Dimension& range = tiles.domain.dimensions[i];
    const int64_t lower = range.Lower({});
    use.map.push_back(AffineExpr::Index(
        tree.outer_size() + static_cast<int>(extents.size()), lower));
    extents.push_back(range.Upper({}) - lower + 1);
    affinity.push_back(source.affinity_block[i]);
  }
  tree.Leaves(std::move(extents), std::move(affinity), {std::move(use)}, body);
}

Guard Never() { return {.any_of = {{{.expr = AffineExpr::Constant(-1)}}}}; }

// Where time stands among the indices of `view`'s array, of which the labels'
// last index counts blocks; -1 for an array without time.
int TimePosition(const ResultView& view, const Domain& labels) {
  const int blocks = labels.size() - 1;
  if (blocks < 0 || labels.dimensions.back().name != kBlockIndexName) return -1;
  for (size_t d = 0; d < view.lower.size(); ++d) {
    if (view.tile_index[d] < 0 || view.tile_index[d] == blocks) {
      return static_cast<int>(d);
    }
  }
  return -1;
}

// How tiles cut time: label index B holds the time steps from origin +
// B*tile_depth.
struct Blocks {
  Dimension range;  // of B
  int64_t origin = 0;
  int64_t tile_depth = 1;
  int64_t first_time_step = 0;  // of the wanted ones
  int64_t last_time_step = 0;
  int64_t shift = 0;  // time step less the reduction's index
};

// With time under `for` the tree is over space, once for each time step j of
// each block B: the points (B, j).
Domain TimeStepsOf(const PointReduction& reduction, const Blocks& blocks) {
  Domain out;
  out.dimensions.push_back(blocks.range);
  const AffineExpr begin = AffineExpr::Index(0) * blocks.tile_depth +
                           AffineExpr::Constant(blocks.origin);
  out.dimensions.push_back(
      {.name = "level",
       .lower = {{.expr = AffineExpr::Constant(0)},
                 {.expr =
                      AffineExpr::Constant(blocks.first_time_step) - begin}},
       .upper = {
           {.expr = AffineExpr::Constant(blocks.tile_depth - 1)},
           {.expr = AffineExpr::Constant(blocks.last_time_step) - begin}}});
  out.guard = Substitute(
      reduction.domain.guard,
      {begin + AffineExpr::Index(1) - AffineExpr::Constant(blocks.shift)});
  return out;
}

// A root for each time step of a block, so that each is created by a map that
// has one solution.
void AddTimeStepRoots(const PointReduction& reduction, const Blocks& blocks,
                      int32_t created, Tree& tree, Program& program) {
  for (int64_t j = 0; j < blocks.tile_depth; ++j) {
    const int64_t begin = blocks.origin + j;
    const int64_t first =
        CeilDiv(blocks.first_time_step - begin, blocks.tile_depth);
    const int64_t last =
        FloorDiv(blocks.last_time_step - begin, blocks.tile_depth);
    if (first > last) continue;
    const AffineExpr at = AffineExpr::Index(0) * blocks.tile_depth +
                          AffineExpr::Constant(begin - blocks.shift);
    Domain domain;
    domain.dimensions.push_back(Range(kBlockIndexName, first, last));
    domain.guard = Substitute(reduction.domain.guard, {at});
    AffineMap map;
    for (const AffineExpr& expr : reduction.map) {
      map.push_back(Substitute(expr, {at}));
    }
    tree.Root(std::move(domain),
              {AffineExpr::Index(0), AffineExpr::Constant(j)}, created,
              std::move(map));
    SetTimes(Substitute(reduction.time, {at}), program);
  }
}

}  // namespace

Guard Membership(const Domain& domain, int cut,
                 const std::vector<AffineExpr>& values) {
  Guard out = domain.guard;
  out.Require(domain.BoundConstraints(cut));
  return Substitute(out, values);
}

void AddChunkReduction(const PointReduction& reduction,
                       const PointProgram& points, ChunkLeaves leaves,
                       Program& program) {
  const Domain& outer = reduction.domain;
  Tree tree(reduction, points, outer, program);
  tree.Leaves(std::move(leaves.extents), std::move(leaves.affinity),
              std::move(leaves.uses), std::move(leaves.kernel));
  tree.Join();
  AffineMap at;
  for (int d = 0; d < outer.size(); ++d) at.push_back(AffineExpr::Index(d));
  tree.Root(outer, std::move(at), reduction.array, reduction.map);
}

void AddPointReduction(const PointReduction& reduction,
                       const PointProgram& points, const Domain& outer,
                       Program& program) {
  Tree tree(reduction, points, outer, program);
  const Domain& over = reduction.over;
  const Box hull = HullOf(over);
  const int first = outer.size();
  const int last = over.size() - 1;
  const Array& source = program.arrays[reduction.source];
  std::vector<int64_t> extents;
  std::vector<int64_t> affinity;
  std::vector<AffineExpr> values;
  for (int d = 0; d < over.size(); ++d) {
    values.push_back(AffineExpr::Index(d));
    if (d < first) continue;
    values.back().constant = hull.lower[d];
    // An empty range still has one leaf, with nothing to read.
    extents.push_back(std::max<int64_t>(1, hull.upper[d] - hull.lower[d] + 1));
    int64_t block = 1;
    for (size_t i = 0; i < reduction.source_map.size(); ++i) {
      if (reduction.source_map[i].LastIndex() == d) {
        block = source.affinity_block[i];
      }
    }
    affinity.push_back(block);
  }
  extents.back() = CeilDiv(extents.back(), kLeafPoints);
  affinity.back() = CeilDiv(affinity.back(), kLeafPoints);
  std::vector<Use> uses;
  for (int64_t k = 0; k < kLeafPoints; ++k) {
    std::vector<AffineExpr> at = values;
    at.back() = AffineExpr::Index(last) * kLeafPoints +
                AffineExpr::Constant(hull.lower[last] + k);
    Use use{.array = reduction.source,
            .map = {},
            .guard = hull.IsEmpty() ? Never() : Membership(over, last, at)};
    for (const AffineExpr& expr : reduction.source_map) {
      use.map.push_back(Substitute(expr, at));
    }
    uses.push_back(std::move(use));
  }
  tree.Leaves(std::move(extents), std::move(affinity), std::move(uses),
              tree.Body(ReduceBody::Step::kPoints));
  tree.Join();
  AffineMap at;
  for (int d = 0; d < first; ++d) at.push_back(AffineExpr::Index(d));
  tree.Root(outer, std::move(at), reduction.array, reduction.map);
}

namespace {

// Restricts `tiles` to the time steps of the reduction, if these are as far
// apart as rounds or several of them.
void TakeRounds(const PointReduction& reduction, const Repeat& repeat,
                PointResult& tiles) {
  if (reduction.domain.size() != 1) return;
  const auto& any_of = reduction.domain.guard.any_of;
  Constraint every;  // of all indices, unless a step says otherwise
  every.kind = Constraint::Kind::kDivisible;
  if (any_of.size() > 1 || (any_of.size() == 1 && any_of[0].size() != 1)) {
    return;
  }
  if (any_of.size() == 1) every = any_of[0][0];
  if (every.kind != Constraint::Kind::kDivisible ||
      every.modulus % repeat.step != 0) {
    return;
  }
  const int64_t step = every.modulus;
  for (size_t i = 0; i < reduction.source_map.size(); ++i) {
    if (reduction.source_map[i].coefficients[0] != 1) continue;
    const auto t = static_cast<int>(i);
    const int64_t shift = reduction.source_map[i].constant;
    int64_t first = tiles.box.lower[t] - shift;
    const int64_t last = tiles.box.upper[t] - shift;
    while (first <= last && !every.Holds({first})) ++first;
    if (first > last) return;
    tiles.time_interval = step;
    tiles.box.lower[t] = first + shift;
    tiles.box.upper[t] = last - (last - first) % step + shift;
  }
}

// Help with a reduction that does not go with tiles, as sums over all of space
// do.
constexpr absl::string_view kInstead =
    "; a result of all that it reads stays in tiles, and can be summed after";

}  // namespace

absl::StatusOr<PointResult> TilesFor(const PointReduction& reduction,
                                     const std::optional<Repeat>& repeat) {
  const auto no = [&reduction](absl::string_view why) {
    return absl::UnimplementedError(absl::StrCat(reduction.name, " ", why));
  };
  const int outer = reduction.domain.size();
  if (outer > 1) {
    return no(absl::StrCat("has several indices under `for`", kInstead));
  }
  PointResult out =
      MakeResult(reduction.source, reduction.over, reduction.source_map);
  if (!out.is_grid) {
    // The tree's guard tells the time steps apart.
    if (reduction.over.guard != reduction.domain.guard) {
      return no("leaves points out");
    }
    Domain all = reduction.over;
    all.guard = Guard();
    out = MakeResult(reduction.source, std::move(all), reduction.source_map);
  }
  if (HullOf(reduction.over).IsEmpty()) return no("is over no point");
  for (const Dimension& dimension : reduction.over.dimensions) {
    for (const auto* bounds : {&dimension.lower, &dimension.upper}) {
      for (const AffineBound& bound : *bounds) {
        if (!bound.expr.IsConstant()) return no("is not over a box");
      }
    }
  }
  if (!out.is_grid) return no("does not name each index once");
  out.time.time = reduction.time;
  if (repeat) TakeRounds(reduction, *repeat, out);
  return out;
}

absl::Status AddTileReduction(const PointReduction& reduction,
                              const PointProgram& points,
                              const ResultView& view, const ResultSet& tiles,
                              int32_t created, Program& program) {
  const Domain& labels = tiles.domain;
  const int time = TimePosition(view, labels);
  const int64_t t = std::max(time, 0);
  const bool by_time_step = reduction.domain.size() == 1;
  if (by_time_step &&
      (time < 0 || reduction.source_map[t].coefficients[0] != 1)) {
    return absl::UnimplementedError(absl::StrCat(
        reduction.name, " has an index of space under `for`", kInstead));
  }
  const Blocks blocks{
      .range = labels.size() > 0 ? labels.dimensions.back() : Dimension(),
      .origin = by_time_step ? view.origin[t] : 0,
      .tile_depth = by_time_step ? view.extent[t] : 1,
      .first_time_step = view.lower.empty() ? 0 : view.lower[t],
      .last_time_step = view.upper.empty() ? 0 : view.upper[t],
      .shift = by_time_step ? reduction.source_map[t].constant : 0};
  Domain outer;
  if (by_time_step) outer = TimeStepsOf(reduction, blocks);
  Tree tree(reduction, points, outer, program);
  ReduceBody body = tree.Body(ReduceBody::Step::kTile);
  if (by_time_step) {
    body.time_dim = time;
    body.block_index = 0;
    body.time_step_index = 1;
    body.origin = blocks.origin;
    body.tile_depth = blocks.tile_depth;
    body.first_time_step = blocks.first_time_step;
    body.time_interval = view.step[t];
  }
  std::optional<AffineExpr> block;
  if (by_time_step) block = AffineExpr::Index(0);
  AddTileLeaves(tiles, block, program, body, tree);
  tree.Join();
  if (!by_time_step) {
    tree.Root(Domain(), {}, created, reduction.map);
    SetTimes(reduction.time, program);
    return absl::OkStatus();
  }
  const AffineExpr time_step =
      AffineExpr::Index(0) * blocks.tile_depth + AffineExpr::Index(1) +
      AffineExpr::Constant(blocks.origin - blocks.shift);
  SetTimes(Substitute(reduction.time, {time_step}), program);
  AddTimeStepRoots(reduction, blocks, created, tree, program);
  return absl::OkStatus();
}

void AddRoundReduction(const PointReduction& reduction,
                       const PointProgram& points, const PointResult& wanted,
                       const ResultSet& tiles, int32_t created,
                       Program& program) {
  // The last index of `tiles` counts the time steps, and so does that of the
  // tree.
  const int time_steps = tiles.domain.size() - 1;
  Domain outer;
  outer.dimensions.push_back(tiles.domain.dimensions.back());
  size_t t = 0;
  while (reduction.source_map[t].coefficients[0] == 0) ++t;
  const int64_t shift = reduction.source_map[t].constant;
  const AffineExpr at =
      AffineExpr::Index(0) * wanted.time_interval +
      AffineExpr::Constant(wanted.box.lower[static_cast<int>(t)] - shift);
  AffineExpr block = tiles.map.back();
  std::swap(block.coefficients[0], block.coefficients[time_steps]);
  AffineMap map;
  for (const AffineExpr& expr : reduction.map) {
    map.push_back(Substitute(expr, {at}));
  }
  Tree tree(reduction, points, outer, program);
  AddTileLeaves(tiles, block, program, tree.Body(ReduceBody::Step::kTile),
                tree);
  tree.Join();
  tree.Root(outer, {AffineExpr::Index(0)}, created, std::move(map));
  SetTimes(Substitute(reduction.time, {at}), program);
}

}  // namespace dogged::dsl
