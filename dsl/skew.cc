#include "dsl/skew.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/skew_steps.h"
#include "dsl/stencil_arrays.h"
#include "dsl/substitute.h"

namespace dogged::dsl {
namespace {

AffineExpr Dot(const std::vector<int64_t>& factors, const AffineMap& map) {
  AffineExpr sum;
  for (size_t e = 0; e < map.size(); ++e) sum = sum + map[e] * factors[e];
  return sum;
}

// Old index k is values[k] of the new ones, over `domain`; of these `time` is
// the step.
struct Moved {
  Domain domain;
  std::vector<AffineExpr> values;
  int time = 0;
};

// The constraints that bound `dimension`, index d, unless they are numbers.
void AddBounds(const Dimension& dimension, int d, bool with_numbers,
               std::vector<Constraint>& out) {
  const AffineExpr own = AffineExpr::Index(d);
  for (const AffineBound& bound : dimension.lower) {
    if (bound.expr.IsConstant() && !with_numbers) continue;
    out.push_back({.expr = own * bound.divisor - bound.expr});
  }
  for (const AffineBound& bound : dimension.upper) {
    if (bound.expr.IsConstant() && !with_numbers) continue;
    out.push_back({.expr = bound.expr - own * bound.divisor});
  }
}

class Skewer {
 public:
  Skewer(const PointProgram& points, std::vector<bool> is_field,
         const SkewSteps& steps)
      : points_(points),
        is_field_(std::move(is_field)),
        factors_(steps.factors),
        replaced_(steps.replaced) {}

  std::optional<PointProgram> Run();

 private:
  bool IsField(int32_t array) const {
    return is_field_[static_cast<size_t>(array)];
  }
  // Where labels are, by the old indices of a task, stands now.
  AffineMap MapOf(int32_t array, const AffineMap& map,
                  const std::vector<AffineExpr>& values) const {
    AffineMap out = map;
    if (IsField(array)) out[replaced_] = Dot(factors_, map);
    return Substitute(out, values);
  }
  std::optional<Moved> Move(const Domain& domain, const AffineMap& map) const;
  // Without the old bounds of index k, and with what they say as a guard.
  static Domain Boxed(const Domain& domain, int k, const Box& hull);
  bool SkewClass(PointClass& c) const;
  bool SkewReduction(PointReduction& reduction) const;
  std::optional<PointResult> SkewResult(const PointResult& result) const;
  void SkewArray(PointArray& array) const;

  const PointProgram& points_;
  const std::vector<bool> is_field_;
  const std::vector<int64_t> factors_;
  const size_t replaced_;  // the index whose place steps take
};

Domain Skewer::Boxed(const Domain& domain, int k, const Box& hull) {
  Domain out = domain;
  std::vector<Constraint> bounds;
  for (int d = 0; d < domain.size(); ++d) {
    Dimension& dimension = out.dimensions[static_cast<size_t>(d)];
    AddBounds(dimension, d, d == k, bounds);
    dimension.lower = {{.expr = AffineExpr::Constant(hull.lower[d])}};
    dimension.upper = {{.expr = AffineExpr::Constant(hull.upper[d])}};
  }
  if (bounds.empty()) return out;
  if (out.guard.any_of.empty()) out.guard.any_of.emplace_back();
  for (auto& all_of : out.guard.any_of) {
    all_of.insert(all_of.end(), bounds.begin(), bounds.end());
  }
  return out;
}

std::optional<Moved> Skewer::Move(const Domain& domain,
                                  const AffineMap& map) const {
  const Box hull = HullOf(domain);
  if (hull.IsEmpty() && domain.size() > 0) return std::nullopt;
  const AffineExpr& along = map[replaced_];
  const AffineExpr steps = Dot(factors_, map);
  const auto [first, last] = RangeOver(steps, hull);
  const Dimension range{.name = "step",
                        .lower = {{.expr = AffineExpr::Constant(first)}},
                        .upper = {{.expr = AffineExpr::Constant(last)}}};
  Moved out;
  for (int d = 0; d < domain.size(); ++d) {
    out.values.push_back(AffineExpr::Index(d));
  }
  const int k = along.LastIndex();
  if (k < 0) {
    // One more index, of one value for each point.
    if (domain.size() == kMaxIndices) return std::nullopt;
    out.time = domain.size();
    out.domain = domain;
    out.domain.dimensions.push_back(range);
    Guard& guard = out.domain.guard;
    if (guard.any_of.empty()) guard.any_of.emplace_back();
    for (auto& all_of : guard.any_of) {
      all_of.push_back({.expr = AffineExpr::Index(out.time) - steps,
                        .kind = Constraint::Kind::kZero});
    }
    return out;
  }
  const auto at = static_cast<size_t>(k);
  const int64_t factor = along.coefficients[at];
  if (along != AffineExpr::Index(k) * factor +
                   AffineExpr::Constant(along.constant) ||
      std::abs(factor) != 1) {
    return std::nullopt;
  }
  for (size_t e = 0; e < map.size(); ++e) {
    if (e != replaced_ && map[e].coefficients[at] != 0) return std::nullopt;
  }
  AffineExpr rest = steps;
  const int64_t per_index = std::exchange(rest.coefficients[at], 0);
  out.time = k;
  out.values[at] = (AffineExpr::Index(k) - rest) * per_index;
  out.domain = Boxed(domain, k, hull);
  out.domain.guard = Substitute(out.domain.guard, out.values);
  out.domain.dimensions[at] = range;
  return out;
}

// `code` with `values` for its indices.
CodeBlock Reindexed(const CodeBlock& code,
                    const std::vector<AffineExpr>& values, int index_count) {
  CodeBlock out;
  out.name = code.name;
  out.comment = code.comment;
  out.index_count = std::max(1, index_count);
  out.loads = code.loads;
  out.stores = code.stores;
  CodeBuilder builder(out);
  std::vector<int32_t> indices;
  for (int d = 0; d < index_count; ++d) indices.push_back(builder.Index(d));
  std::vector<int32_t> place;  // of each old node
  for (IrNode node : code.nodes) {
    for (int32_t* operand : {&node.a, &node.b, &node.c}) {
      if (*operand >= 0) *operand = place[static_cast<size_t>(*operand)];
    }
    place.push_back(
        node.op == IrOp::kIndex
            ? builder.Affine(values[static_cast<size_t>(node.integer)], indices)
            : builder.Add(node));
  }
  for (IrStore& store : out.stores) {
    store.node = place[static_cast<size_t>(store.node)];
  }
  if (code.mask >= 0) out.mask = place[static_cast<size_t>(code.mask)];
  return out;
}

bool Skewer::SkewClass(PointClass& c) const {
  const Create& first = c.creates.front();
  if (!IsField(first.array)) {
    std::vector<AffineExpr> same;
    for (int d = 0; d < c.domain.size(); ++d) {
      same.push_back(AffineExpr::Index(d));
    }
    for (Use& use : c.uses) use.map = MapOf(use.array, use.map, same);
    return true;
  }
  const AffineMap created = first.map;
  const std::optional<Moved> moved = Move(c.domain, created);
  if (!moved || c.body == PointClass::Body::kNative) return false;
  const std::vector<AffineExpr>& values = moved->values;
  const auto time = static_cast<size_t>(moved->time);
  if (c.body == PointClass::Body::kInput && time < values.size() &&
      values[time] != AffineExpr::Index(moved->time)) {
    return false;  // its file has an axis for the index
  }
  for (Create& create : c.creates) {
    if (create.map != created) return false;
    create.map = MapOf(create.array, create.map, values);
    create.map[replaced_] = AffineExpr::Index(moved->time);
  }
  for (Use& use : c.uses) {
    use.map = MapOf(use.array, use.map, values);
    use.guard = Substitute(use.guard, values);
  }
  c.domain = moved->domain;
  c.time = Substitute(c.time, values);
  if (c.priority) c.priority = Substitute(*c.priority, values);
  c.needed.reset();
  if (c.body == PointClass::Body::kCode) {
    c.code.code = Reindexed(c.code.code, values, c.domain.size());
  }
  return true;
}

bool Skewer::SkewReduction(PointReduction& reduction) const {
  if (IsField(reduction.array)) return false;
  if (!IsField(reduction.source)) return true;
  const std::optional<Moved> moved = Move(reduction.over, reduction.source_map);
  if (!moved || moved->time < reduction.domain.size()) return false;
  reduction.over = moved->domain;
  reduction.source_map =
      MapOf(reduction.source, reduction.source_map, moved->values);
  reduction.source_map[replaced_] = AffineExpr::Index(moved->time);
  return true;
}

std::optional<PointResult> Skewer::SkewResult(const PointResult& result) const {
  if (!IsField(result.array)) return result;
  if (!result.is_grid || result.box.IsEmpty()) return std::nullopt;
  AffineMap identity;
  std::vector<Domain::Range> ranges;
  std::vector<Constraint> apart;
  for (int e = 0; e < result.box.size(); ++e) {
    identity.push_back(AffineExpr::Index(e));
    const int64_t lower = result.box.lower[e];
    ranges.push_back({.name = absl::StrCat("x", e),
                      .lower = lower,
                      .upper = result.box.upper[e]});
    const int64_t step = result.step[static_cast<size_t>(e)];
    if (step == 1 || static_cast<size_t>(e) == replaced_) continue;
    apart.push_back({.expr = AffineExpr::Index(e, -lower),
                     .kind = Constraint::Kind::kDivisible,
                     .modulus = step});
  }
  Domain::Range& steps = ranges[replaced_];
  std::tie(steps.lower, steps.upper) =
      RangeOver(Dot(factors_, identity), result.box);
  Domain domain = Domain::Box(ranges);
  if (!apart.empty()) domain.guard.any_of = {apart};
  PointResult out = MakeResult(result.array, std::move(domain), identity);
  out.range = result.range;
  out.file = result.file;
  return out;
}

void Skewer::SkewArray(PointArray& array) const {
  AffineMap identity;
  for (int e = 0; e < array.rank; ++e) identity.push_back(AffineExpr::Index(e));
  const auto at = static_cast<int>(replaced_);
  std::tie(array.box.lower[at], array.box.upper[at]) =
      RangeOver(Dot(factors_, identity), array.box);
  array.place.clear();
}

std::optional<PointProgram> Skewer::Run() {
  PointProgram out = points_;
  for (size_t a = 0; a < out.arrays.size(); ++a) {
    if (is_field_[a]) SkewArray(out.arrays[a]);
  }
  for (PointClass& c : out.classes) {
    if (!SkewClass(c)) return std::nullopt;
  }
  for (PointReduction& reduction : out.reductions) {
    if (!SkewReduction(reduction)) return std::nullopt;
  }
  for (PointResult& result : out.results) {
    std::optional<PointResult> skewed = SkewResult(result);
    if (!skewed) return std::nullopt;
    result = *std::move(skewed);
  }
  return out;
}

// "2*t + x", by the names that a task gives the indices.
std::string StepsText(const PointProgram& points,
                      const std::vector<bool>& is_field,
                      const std::vector<int64_t>& factors) {
  for (const PointClass& c : points.classes) {
    const Create& create = c.creates.front();
    if (!is_field[static_cast<size_t>(create.array)]) continue;
    AffineExpr sum;
    std::vector<std::string> names;
    for (const Dimension& dimension : c.domain.dimensions) {
      names.push_back(dimension.name);
    }
    bool is_plain = true;
    for (size_t e = 0; e < factors.size(); ++e) {
      const int k = create.map[e].LastIndex();
      is_plain &= k >= 0 && create.map[e] == AffineExpr::Index(k);
      if (is_plain) sum = sum + AffineExpr::Index(k) * factors[e];
    }
    if (is_plain) return sum.ToString(names);
  }
  return "its indices";
}

}  // namespace

std::optional<SkewedProgram> SkewPoints(const PointProgram& points) {
  if (points.repeat) return std::nullopt;
  const std::vector<bool> is_field = FindStencilArrays(points).has_time;
  const std::optional<SkewSteps> steps = FindSkewSteps(points, is_field);
  if (!steps) return std::nullopt;
  std::optional<PointProgram> skewed = Skewer(points, is_field, *steps).Run();
  if (!skewed) return std::nullopt;
  SkewedProgram out{.points = *std::move(skewed),
                    .skew = {.dim = static_cast<int32_t>(steps->replaced),
                             .factors = steps->factors},
                    .is_skewed = is_field,
                    .steps = StepsText(points, is_field, steps->factors)};
  return out;
}

namespace {

// Leaves those labels of a view, whose last index counts blocks of steps, of
// which it wants something: the steps that a tile has of its box.
void LeaveWanted(const ResultView& view, Domain& labels) {
  const SkewedBox& skewed = *view.skewed;
  const auto dim = static_cast<size_t>(skewed.dim);
  AffineExpr first;  // step of a tile
  AffineExpr last;
  for (size_t d = 0; d < view.lower.size(); ++d) {
    AffineExpr lower = AffineExpr::Constant(view.lower[d]);
    AffineExpr upper = AffineExpr::Constant(view.upper[d]);
    if (d != dim) {
      const AffineExpr begin =
          AffineExpr::Index(skewed.tile_index[d]) * view.extent[d];
      lower = begin + AffineExpr::Constant(view.origin[d]);
      upper = lower + AffineExpr::Constant(view.extent[d] - 1);
    }
    const int64_t factor = skewed.factors[d];
    if (factor < 0) std::swap(lower, upper);
    first = first + lower * factor;
    last = last + upper * factor;
  }
  Dimension& block = labels.dimensions.back();
  const AffineExpr origin = AffineExpr::Constant(view.origin[dim]);
  block.lower.push_back(
      {.expr = first - origin - AffineExpr::Constant(view.extent[dim] - 1),
       .divisor = view.extent[dim]});
  block.upper.push_back({.expr = last - origin, .divisor = view.extent[dim]});
}

}  // namespace

void UnskewViews(const PointProgram& points, const SkewedProgram& skewed,
                 Program& program) {
  for (size_t r = 0; r < points.results.size(); ++r) {
    const PointResult& result = points.results[r];
    if (!skewed.is_skewed[static_cast<size_t>(result.array)]) continue;
    ResultView& view = program.views[r];
    view.skewed = skewed.skew;
    view.skewed->lower = view.lower;
    view.skewed->upper = view.upper;
    view.skewed->step = view.step;
    view.skewed->tile_index = view.tile_index;
    for (int d = 0; d < result.box.size(); ++d) {
      const auto at = static_cast<size_t>(d);
      view.lower[at] = result.box.lower[d];
      view.upper[at] = result.box.upper[d];
      view.step[at] = result.step[at];
      if (!result.varies[at]) view.tile_index[at] = -1;
    }
    LeaveWanted(view,
                program.results[static_cast<size_t>(view.result_set)].domain);
  }
}

}  // namespace dogged::dsl
