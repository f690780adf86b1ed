#include "dsl/tiling/skew.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/ir/substitute.h"
#include "dsl/tiling/skew_steps.h"
#include "dsl/tiling/stencil_arrays.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

AffineExpr SkewedStep(const std::vector<int64_t>& factors,
                      const AffineMap& map) {
  AffineExpr sum;
  for (size_t e = 0; e < map.size(); ++e) sum = sum + map[e] * factors[e];
  return sum;
}

absl::Status NoSkew(const std::string& reason) {
  return absl::UnimplementedError(reason);
}

// Old index k is values[k] of the new ones, over `domain`; of these `time` is
// the step.
struct Moved {
  Domain domain;
  std::vector<AffineExpr> values;
  int time = 0;
};

class Skewer {
 public:
  Skewer(const PointProgram& points, std::vector<bool> is_field,
         const SkewSteps& steps)
      : points_(points),
        is_field_(std::move(is_field)),
        factors_(steps.factors),
        replaced_(steps.replaced) {}

  absl::StatusOr<PointProgram> Run();

 private:
  bool IsField(int32_t array) const { return is_field_[array]; }
  // Where labels are, by the old indices of a task, stands now.
  AffineMap MapOf(int32_t array, const AffineMap& map,
                  const std::vector<AffineExpr>& values) const {
    AffineMap out = map;
    if (IsField(array)) out[replaced_] = SkewedStep(factors_, map);
    return Substitute(out, values);
  }
  // kUnimplemented if labels at `map` are not told by the steps; `what` creates
  // or reads them.
  absl::StatusOr<Moved> Move(const std::string& what, const Domain& domain,
                             const AffineMap& map) const;
  // Turns the old bounds of index k into a guard.
  static Domain Boxed(const Domain& domain, int k, const Box& hull);
  absl::Status SkewClass(PointClass& c) const;
  absl::Status SkewReduction(PointReduction& reduction) const;
  absl::StatusOr<PointResult> SkewResult(const PointResult& result) const;
  void SkewArray(PointArray& array) const;

  const PointProgram& points_;
  const std::vector<bool> is_field_;
  const std::vector<int64_t> factors_;
  const size_t replaced_;  // the index whose place steps take
};

Domain Skewer::Boxed(const Domain& domain, int k, const Box& hull) {
  Domain out = domain;
  out.guard.Require(domain.BoundConstraints(k));
  for (int d = 0; d < domain.size(); ++d) {
    Dimension& dimension = out.dimensions[d];
    dimension.lower = {{.expr = AffineExpr::Constant(hull.lower[d])}};
    dimension.upper = {{.expr = AffineExpr::Constant(hull.upper[d])}};
  }
  return out;
}

absl::StatusOr<Moved> Skewer::Move(const std::string& what,
                                   const Domain& domain,
                                   const AffineMap& map) const {
  const Box hull = HullOf(domain);
  if (hull.IsEmpty() && domain.size() > 0) {
    return NoSkew(absl::StrCat(what, " has no point"));
  }
  const AffineExpr& along = map[replaced_];
  const AffineExpr steps = SkewedStep(factors_, map);
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
    // Adds an index, of one value for each point.
    if (domain.size() == kMaxIndices) {
      return NoSkew(absl::StrCat(what, " has too many indices"));
    }
    out.time = domain.size();
    out.domain = domain;
    out.domain.dimensions.push_back(range);
    out.domain.guard.Require({{.expr = AffineExpr::Index(out.time) - steps,
                               .kind = Constraint::Kind::kZero}});
    return out;
  }
  const int64_t factor = along.coefficients[k];
  bool is_elsewhere = false;
  for (size_t e = 0; e < map.size(); ++e) {
    is_elsewhere |= e != replaced_ && map[e].coefficients[k] != 0;
  }
  if (along != AffineExpr::Index(k) * factor +
                   AffineExpr::Constant(along.constant) ||
      std::abs(factor) != 1 || is_elsewhere) {
    return NoSkew(absl::StrCat(what, " stands askew"));
  }
  AffineExpr rest = steps;
  const int64_t per_index = std::exchange(rest.coefficients[k], 0);
  out.time = k;
  out.values[k] = (AffineExpr::Index(k) - rest) * per_index;
  out.domain = Boxed(domain, k, hull);
  out.domain.guard = Substitute(out.domain.guard, out.values);
  out.domain.dimensions[k] = range;
  return out;
}

// `code` with `values` for its indices.
CodeBlock SkewedCode(const CodeBlock& code,
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
      if (*operand >= 0) *operand = place[*operand];
    }
    place.push_back(node.op == IrOp::kIndex
                        ? builder.Affine(values[node.integer], indices)
                        : builder.Add(node));
  }
  for (IrStore& store : out.stores) {
    store.node = place[store.node];
  }
  if (code.mask >= 0) out.mask = place[code.mask];
  return out;
}

absl::Status Skewer::SkewClass(PointClass& c) const {
  const Create& first = c.creates.front();
  if (!IsField(first.array)) {
    std::vector<AffineExpr> same;
    for (int d = 0; d < c.domain.size(); ++d) {
      same.push_back(AffineExpr::Index(d));
    }
    for (Use& use : c.uses) use.map = MapOf(use.array, use.map, same);
    return absl::OkStatus();
  }
  const std::string what = absl::StrCat("task ", c.name);
  if (c.body == PointClass::Body::kNative) {
    return NoSkew(absl::StrCat(what, " calls a kernel"));
  }
  const AffineMap created = first.map;
  DOGGED_ASSIGN_OR_RETURN(const Moved moved, Move(what, c.domain, created));
  const std::vector<AffineExpr>& values = moved.values;
  for (const int32_t d : c.input.axis) {
    c.input_at.push_back(values[d]);
  }
  for (Create& create : c.creates) {
    if (create.map != created) {
      return NoSkew(absl::StrCat(what, " creates labels at different places"));
    }
    create.map = MapOf(create.array, create.map, values);
    create.map[replaced_] = AffineExpr::Index(moved.time);
  }
  for (Use& use : c.uses) {
    use.map = MapOf(use.array, use.map, values);
    use.guard = Substitute(use.guard, values);
  }
  c.domain = moved.domain;
  c.time = Substitute(c.time, values);
  if (c.priority) c.priority = Substitute(*c.priority, values);
  c.needed.reset();
  if (c.body == PointClass::Body::kCode) {
    c.code.code = SkewedCode(c.code.code, values, c.domain.size());
  }
  return absl::OkStatus();
}

absl::Status Skewer::SkewReduction(PointReduction& reduction) const {
  if (!IsField(reduction.source)) return absl::OkStatus();
  DOGGED_ASSIGN_OR_RETURN(
      const Moved moved,
      Move(reduction.name, reduction.over, reduction.source_map));
  if (moved.time < reduction.domain.size() || IsField(reduction.array)) {
    return NoSkew(
        absl::StrCat(reduction.name, " is for an index that steps go across"));
  }
  reduction.over = moved.domain;
  reduction.source_map =
      MapOf(reduction.source, reduction.source_map, moved.values);
  reduction.source_map[replaced_] = AffineExpr::Index(moved.time);
  return absl::OkStatus();
}

absl::StatusOr<PointResult> Skewer::SkewResult(
    const PointResult& result) const {
  if (!IsField(result.array)) return result;
  if (!result.is_grid || result.box.IsEmpty()) {
    const PointArray& array = points_.arrays[result.array];
    return NoSkew(absl::StrCat("the results of ", array.name,
                               " are no box, and no steps in one"));
  }
  AffineMap identity;
  std::vector<Domain::Range> ranges;
  std::vector<Constraint> apart;
  for (int e = 0; e < result.box.size(); ++e) {
    identity.push_back(AffineExpr::Index(e));
    const int64_t lower = result.box.lower[e];
    ranges.push_back({.name = absl::StrCat("x", e),
                      .lower = lower,
                      .upper = result.box.upper[e]});
    const int64_t step = result.step[e];
    if (step == 1 || static_cast<size_t>(e) == replaced_) continue;
    apart.push_back({.expr = AffineExpr::Index(e, -lower),
                     .kind = Constraint::Kind::kDivisible,
                     .modulus = step});
  }
  Domain::Range& steps = ranges[replaced_];
  std::tie(steps.lower, steps.upper) =
      RangeOver(SkewedStep(factors_, identity), result.box);
  Domain domain = Domain::Box(ranges);
  domain.guard.Require(apart);
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
      RangeOver(SkewedStep(factors_, identity), array.box);
  array.place.clear();
}

absl::StatusOr<PointProgram> Skewer::Run() {
  PointProgram out = points_;
  for (size_t a = 0; a < out.arrays.size(); ++a) {
    if (is_field_[a]) SkewArray(out.arrays[a]);
  }
  for (PointClass& c : out.classes) DOGGED_RETURN_IF_ERROR(SkewClass(c));
  for (PointReduction& reduction : out.reductions) {
    DOGGED_RETURN_IF_ERROR(SkewReduction(reduction));
  }
  for (PointResult& result : out.results) {
    DOGGED_ASSIGN_OR_RETURN(result, SkewResult(result));
  }
  return out;
}

// Empty points of space at a step that take as long as a task for one point.
constexpr double kEmptyMax = 4000;

// Tiles go through all of space at each step, tasks through existing points:
// far fewer in a narrow band.
absl::Status CheckBand(const PointProgram& points, const PointProgram& skewed,
                       const std::vector<bool>& is_field) {
  double all = 0;
  for (size_t a = 0; a < is_field.size(); ++a) {
    if (!is_field[a]) continue;
    double labels = 1;
    const Box& box = skewed.arrays[a].box;
    for (int e = 0; e < box.size(); ++e) {
      labels *= static_cast<double>(box.upper[e] - box.lower[e] + 1);
    }
    all += labels;
  }
  double made = 0;
  for (const PointClass& c : points.classes) {
    if (!is_field[c.creates.front().array]) continue;
    made += static_cast<double>(c.domain.Count());
  }
  if (all <= kEmptyMax * made) return absl::OkStatus();
  return NoSkew("most of space would be empty");
}

// "2*t + x", by the names that a task gives the indices.
std::string StepsText(const PointProgram& points,
                      const std::vector<bool>& is_field,
                      const std::vector<int64_t>& factors) {
  for (const PointClass& c : points.classes) {
    const Create& create = c.creates.front();
    if (!is_field[create.array]) continue;
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

absl::StatusOr<SkewedProgram> SkewPoints(const PointProgram& points) {
  const std::vector<bool> is_field = FindStencilArrays(points).has_time;
  const std::optional<SkewSteps> steps = FindSkewSteps(points, is_field);
  if (!steps) return absl::NotFoundError("no steps across indices");
  SkewedProgram out{.points = {},
                    .skew = {.dim = static_cast<int32_t>(steps->replaced),
                             .factors = steps->factors},
                    .is_skewed = is_field,
                    .steps = StepsText(points, is_field, steps->factors)};
  absl::StatusOr<PointProgram> skewed =
      points.repeat ? NoSkew("which a loop can't follow")
                    : Skewer(points, is_field, *steps).Run();
  absl::Status status = skewed.status();
  if (status.ok()) status = CheckBand(points, *skewed, is_field);
  if (!status.ok()) {
    return NoSkew(
        absl::StrCat("by steps of ", out.steps, ", ", status.message()));
  }
  out.points = *std::move(skewed);
  return out;
}

namespace {

// Restricts `labels`, whose last index counts blocks of steps, to those of
// which the view wants something: the steps that a tile has of its box.
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
    if (!skewed.is_skewed[result.array]) continue;
    ResultView& view = program.views[r];
    view.skewed = skewed.skew;
    view.skewed->lower = view.lower;
    view.skewed->upper = view.upper;
    view.skewed->step = view.step;
    view.skewed->tile_index = view.tile_index;
    for (int d = 0; d < result.box.size(); ++d) {
      view.lower[d] = result.box.lower[d];
      view.upper[d] = result.box.upper[d];
      view.step[d] = result.step[d];
    }
    LeaveWanted(view, program.results[view.result_set].domain);
  }
}

double HeldBeyondResults(const Program& program) {
  double out = 0;
  for (const ResultView& view : program.views) {
    if (!view.skewed) continue;
    const ResultSet& set = program.results[view.result_set];
    auto held = static_cast<double>(set.domain.Count());
    double wanted = 1;
    for (size_t d = 0; d < view.lower.size(); ++d) {
      const SkewedBox& box = *view.skewed;
      held *= static_cast<double>(std::min(
          view.extent[d], (box.upper[d] - box.lower[d]) / box.step[d] + 1));
      wanted *= static_cast<double>(view.Count(d));
    }
    const Array& array = program.arrays[set.array];
    out += std::max(0.0, held - wanted) *
           static_cast<double>(ElementBytes(array.element));
  }
  return out;
}

}  // namespace dogged::dsl
