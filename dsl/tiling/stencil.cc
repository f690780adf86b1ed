#include "dsl/tiling/stencil.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/ir/substitute.h"
#include "dsl/tiling/stencil_arrays.h"
#include "dsl/tiling/stencil_coefficients.h"
#include "dsl/tiling/stencil_piece.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

constexpr char kFar[] = " in steps that are too large";

absl::Status NoStencil(const std::string& reason) {
  return absl::UnimplementedError(reason);
}

// How many coordinates count in it, from `first` on.
int CountFrom(size_t first, const AffineExpr& expr) {
  int count = 0;
  for (size_t c = first; c < kMaxIndices; ++c) {
    count += expr.coefficients[c] != 0;
  }
  return count;
}

class Recognizer {
 public:
  explicit Recognizer(const PlacedProgram& placed)
      : placed_(placed), points_(placed.points), dims_(placed.dims) {}
  absl::StatusOr<TilePlan> Run();

 private:
  absl::Status MakeFields();
  void FindSpace();
  absl::Status Normalize(const PointClass& point_class);
  absl::Status AddDomain(const PointClass& point_class, Normal& normal);
  void AddConstraint(const Constraint& constraint, Normal& normal);
  absl::Status AddInputLoad(Normal& normal);
  absl::Status AddLoads(Normal& normal);
  absl::Status Sort();
  void FindStages();
  absl::Status FindTimeSteps();
  // By index of an array's labels.
  const std::vector<Along>& AlongOf(int32_t array) const {
    return placed_.along[array];
  }
  TileField& FieldOf(int32_t array) {
    return plan_.fields[field_of_array_[array]];
  }
  // As it is written.
  std::string NameOf(int32_t array) const {
    const std::string& name = points_.arrays[array].name;
    return name.substr(0, name.find('\''));
  }

  const PlacedProgram& placed_;
  const PointProgram& points_;
  const int32_t dims_;  // of space
  TilePlan plan_;
  std::vector<int32_t> field_of_array_;  // -1: not created
  std::vector<Normal> normals_;
};

absl::Status Recognizer::MakeFields() {
  if (dims_ < 1 || dims_ > 4) {
    return NoStencil("its labels don't have 2 to 5 indices");
  }
  field_of_array_.assign(points_.arrays.size(), -1);
  for (size_t a = 0; a < points_.arrays.size(); ++a) {
    const PointArray& array = points_.arrays[a];
    if (!placed_.is_created[a]) continue;
    if (array.block_rank > 0) {
      return NoStencil(
          absl::StrCat("the values of ", array.name, " are blocks"));
    }
    if (array.box.size() != array.rank || array.box.IsEmpty()) {
      return NoStencil(
          absl::StrCat("the extent of ", array.name, " is unknown"));
    }
    TileField field{.name = array.name,
                    .element = array.element,
                    .is_static = true,
                    .scalar_input = placed_.scalar_inputs[a],
                    .is_gathered = placed_.is_gathered[a],
                    .stage = array.stage,
                    .dims = {},
                    .time_position = array.rank,
                    .box = {},
                    .halo_below = {},
                    .halo_above = {}};
    for (int32_t i = 0; i < array.rank; ++i) {
      const int32_t c = placed_.along[a][i].coordinate;
      if (c == 0 && !field.is_gathered) {
        field.is_static = false;
        field.time_position = i;
        continue;
      }
      field.dims.push_back(c - 1);
      field.box.lower.push_back(array.box.lower[i]);
      field.box.upper.push_back(array.box.upper[i]);
    }
    field_of_array_[a] = static_cast<int32_t>(plan_.fields.size());
    plan_.fields.push_back(std::move(field));
  }
  return absl::OkStatus();
}

// Space: the box around fields that depend on time, for they may be carried
// from tile to tile, and around results. A coefficient of all dimensions is
// made where it is read.
void Recognizer::FindSpace() {
  Box& space = plan_.space;
  for (int32_t d = 0; d < dims_; ++d) {
    space.lower.push_back(std::numeric_limits<int64_t>::max());
    space.upper.push_back(std::numeric_limits<int64_t>::min());
  }
  const auto include = [&](const TileField& field) {
    for (int e = 0; e < field.box.size(); ++e) {
      const int32_t d = field.dims[e];
      space.lower[d] = std::min(space.lower[d], field.box.lower[e]);
      space.upper[d] = std::max(space.upper[d], field.box.upper[e]);
    }
  };
  for (size_t a = 0; a < points_.arrays.size(); ++a) {
    if (field_of_array_[a] < 0) continue;
    const TileField& field = FieldOf(static_cast<int32_t>(a));
    const bool is_anywhere =
        placed_.is_coefficient[a] && field.box.size() == dims_;
    if (!field.is_static && !is_anywhere) include(field);
  }
  for (const PointResult& result : points_.results) {
    include(FieldOf(result.array));
  }
  for (int32_t d = 0; d < dims_; ++d) {
    plan_.widths.push_back(space.upper[d] - space.lower[d] + 1);
    plan_.counts.push_back(1);
  }
}

void Recognizer::AddConstraint(const Constraint& constraint, Normal& normal) {
  Constraint in_space = constraint;
  in_space.expr = Substitute(constraint.expr, normal.index);
  // Coordinate 0 of a gathered coefficient is no time.
  const bool is_gathered = plan_.IsGathered(normal.piece);
  const int count = CountFrom(is_gathered ? 0 : 1, in_space.expr);
  if (constraint.kind == Constraint::Kind::kDivisible && count == 0 &&
      !is_gathered) {
    auto& time_steps = normal.piece.time_steps.any_of;
    if (time_steps.empty()) time_steps.emplace_back();
    time_steps.front().push_back(in_space);
    return;
  }
  if (constraint.kind == Constraint::Kind::kDivisible || count > 1) {
    normal.mask_all.push_back(in_space);
    return;
  }
  normal.piece.at_least.push_back(in_space.expr);
  if (constraint.kind == Constraint::Kind::kZero) {
    normal.piece.at_least.push_back(in_space.expr * -1);
  }
}

absl::Status Recognizer::AddDomain(const PointClass& point_class,
                                   Normal& normal) {
  const Create& create = point_class.creates.front();
  normal.index.assign(point_class.domain.dimensions.size(), AffineExpr());
  normal.fixed.assign(static_cast<size_t>(dims_) + 1, std::nullopt);
  std::vector<bool> is_found(normal.index.size(), false);
  for (size_t i = 0; i < create.map.size(); ++i) {
    const auto [c, factor] = AlongOf(create.array)[i];
    if (create.map[i].IsConstant()) {
      const int64_t value = create.map[i].constant / factor;
      normal.fixed[c] = value;
      normal.piece.at_least.push_back(AffineExpr::Index(c, -value));
      normal.piece.at_least.push_back(AffineExpr::Index(c, -value) * -1);
      continue;
    }
    const std::optional<int> k = SingleIndex(create.map[i]);
    if (!k.has_value() || is_found[*k]) {
      return NoStencil(absl::StrCat("task ", point_class.name, " creates ",
                                    NameOf(create.array),
                                    " at a skewed place"));
    }
    is_found[*k] = true;
    normal.index[*k] = AffineExpr::Index(c) * factor -
                       AffineExpr::Constant(create.map[i].constant);
  }
  const Box hull = HullOf(point_class.domain);
  for (size_t k = 0; k < is_found.size(); ++k) {
    if (is_found[k]) continue;
    // The index of a coefficient that is read at one value of it.
    const auto d = static_cast<int>(k);
    if (hull.lower[d] != hull.upper[d]) {
      return NoStencil(absl::StrCat("task ", point_class.name));
    }
    normal.index[k] = AffineExpr::Constant(hull.lower[d]);
  }
  for (size_t k = 0; k < point_class.domain.dimensions.size(); ++k) {
    const Dimension& dimension = point_class.domain.dimensions[k];
    const AffineExpr own = AffineExpr::Index(static_cast<int>(k));
    for (const AffineBound& bound : dimension.lower) {
      AddConstraint({.expr = own * bound.divisor - bound.expr}, normal);
    }
    for (const AffineBound& bound : dimension.upper) {
      AddConstraint({.expr = bound.expr - own * bound.divisor}, normal);
    }
  }
  const Guard& guard = point_class.domain.guard;
  if (guard.any_of.size() == 1) {
    for (const Constraint& constraint : guard.any_of[0]) {
      AddConstraint(constraint, normal);
    }
  } else {
    normal.mask = Substitute(guard, normal.index);
  }
  return absl::OkStatus();
}

// A load from a file.
absl::Status Recognizer::AddInputLoad(Normal& normal) {
  const PointClass& source = *normal.source;
  if (std::any_of(source.input.step.begin(), source.input.step.end(),
                  [](int64_t step) { return step > 1; })) {
    return NoStencil(absl::StrCat(source.name, " has steps in its range"));
  }
  TileLoad load{.is_input = true,
                .source = static_cast<int32_t>(plan_.inputs.size()),
                .coordinates = {},
                .shifts = {},
                .at = {}};
  for (const int32_t d : source.input.axis) {
    load.at.push_back(normal.index[d]);
  }
  if (!source.input_at.empty()) {
    load.at = Substitute(source.input_at, normal.index);
  }
  plan_.inputs.push_back({.position = source.input.position,
                          .element = source.input.element,
                          .box = source.input.box});
  normal.piece.loads.push_back(std::move(load));
  return absl::OkStatus();
}

absl::Status Recognizer::AddLoads(Normal& normal) {
  const PointClass& source = *normal.source;
  if (source.body == PointClass::Body::kInput) return AddInputLoad(normal);
  for (const Use& use : source.uses) {
    const std::string what =
        absl::StrCat("task ", source.name, " reads ", NameOf(use.array));
    if (field_of_array_[use.array] < 0) return NoStencil(what);
    const TileField& field = FieldOf(use.array);
    if (normal.piece.is_static && !field.is_static) {
      return NoStencil(absl::StrCat(what, ", which depends on time"));
    }
    TileLoad load{.source = field_of_array_[use.array],
                  .coordinates = {},
                  .shifts = {},
                  .at = {}};
    if (field.is_gathered) {
      for (const AffineExpr& expr : use.map) {
        load.at.push_back(Substitute(expr, normal.index));
        for (const int64_t factor : load.at.back().coefficients) {
          if (std::abs(factor) > kFactorMax)
            return NoStencil(absl::StrCat(what, kFar));
        }
      }
      normal.piece.loads.push_back(std::move(load));
      continue;
    }
    for (size_t i = 0; i < use.map.size(); ++i) {
      const AffineExpr expr = Substitute(use.map[i], normal.index);
      const auto [c, factor] = AlongOf(use.array)[i];
      const std::optional<int64_t>& fixed = normal.fixed[c];
      const AffineExpr here = expr.IsConstant() && fixed.has_value()
                                  ? AffineExpr::Constant(*fixed)
                                  : AffineExpr::Index(c);
      const AffineExpr ahead = expr - here * factor;
      if (!ahead.IsConstant() || ahead.constant % factor != 0) {
        return NoStencil(absl::StrCat(what, " not at a constant distance"));
      }
      const int64_t shift = ahead.constant / factor;
      if (c != 0) {
        load.coordinates.push_back(c);
        load.shifts.push_back(shift);
        continue;
      }
      if (shift > 0) return NoStencil(absl::StrCat(what, " at a later time"));
      if (shift < -kLagMax) {
        return NoStencil(
            absl::StrCat(what, " ", -shift, " steps ago, beyond ", kLagMax));
      }
      load.lag = static_cast<int32_t>(-shift);
    }
    normal.piece.loads.push_back(std::move(load));
  }
  return absl::OkStatus();
}

absl::Status Recognizer::Normalize(const PointClass& point_class) {
  if (point_class.body == PointClass::Body::kNative) {
    return NoStencil(
        absl::StrCat("task ", point_class.name, " calls a kernel"));
  }
  Normal normal;
  normal.source = &point_class;
  const Create& first = point_class.creates.front();
  normal.piece.is_static = FieldOf(first.array).is_static;
  for (const Create& create : point_class.creates) {
    const TileField& field = FieldOf(create.array);
    if (create.map != first.map || field.dims != FieldOf(first.array).dims ||
        field.is_static != normal.piece.is_static) {
      return NoStencil(absl::StrCat("task ", point_class.name,
                                    " creates labels at different places"));
    }
    normal.piece.stores.push_back(field_of_array_[create.array]);
  }
  DOGGED_RETURN_IF_ERROR(AddDomain(point_class, normal));
  DOGGED_RETURN_IF_ERROR(AddLoads(normal));
  FindHull(plan_, normal);
  normals_.push_back(std::move(normal));
  return absl::OkStatus();
}

// Static pieces first, then each after those that it reads at the same time.
absl::Status Recognizer::Sort() {
  std::vector<int32_t> place(normals_.size(), -1);
  std::vector<size_t> order;
  for (const bool is_static : {true, false}) {
    bool has_changed = true;
    while (has_changed) {
      has_changed = false;
      for (size_t n = 0; n < normals_.size(); ++n) {
        const TilePiece& piece = normals_[n].piece;
        if (piece.is_static != is_static || place[n] >= 0) continue;
        bool is_ready = true;
        for (size_t l = 0; l < piece.loads.size(); ++l) {
          if (piece.loads[l].lag > 0) continue;
          for (const int32_t maker : piece.makers[l]) {
            is_ready &= place[maker] >= 0;
          }
        }
        if (!is_ready) continue;
        place[n] = static_cast<int32_t>(order.size());
        order.push_back(n);
        has_changed = true;
      }
    }
  }
  for (size_t n = 0; n < normals_.size(); ++n) {
    if (place[n] < 0) {
      return NoStencil(absl::StrCat("task ", normals_[n].source->name,
                                    " depends on others of the same step"));
    }
  }
  for (const size_t n : order) {
    TilePiece piece = std::move(normals_[n].piece);
    for (auto& makers : piece.makers) {
      for (int32_t& maker : makers) {
        maker = place[maker];
      }
    }
    plan_.pieces.push_back(std::move(piece));
  }
  return absl::OkStatus();
}

// Static fields follow their sources; scalar inputs have their stages.
void Recognizer::FindStages() {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const TilePiece& piece : plan_.pieces) {
      if (!piece.is_static) continue;
      int32_t stage = 0;
      const auto at_least = [&](int32_t field) {
        stage = std::max(stage, plan_.fields[field].stage);
      };
      for (const TileLoad& load : piece.loads) {
        if (!load.is_input) at_least(load.source);
      }
      for (const int32_t store : piece.stores) at_least(store);
      for (const int32_t store : piece.stores) {
        int32_t& own = plan_.fields[store].stage;
        has_changed |= own < stage;
        own = stage;
      }
    }
  }
}

absl::Status Recognizer::FindTimeSteps() {
  int64_t carried_max = 0;
  for (const TilePiece& piece : plan_.pieces) {
    for (const TileLoad& load : piece.loads) {
      if (load.is_input) continue;
      int64_t& carried = plan_.fields[load.source].carried;
      carried = std::max<int64_t>(carried, load.lag);
      carried_max = std::max(carried_max, carried);
    }
  }
  if (carried_max == 0 && !points_.has_given_steps) {
    return NoStencil("it has no steps in time");
  }
  carried_max = std::max<int64_t>(1, carried_max);
  int64_t first = std::numeric_limits<int64_t>::max();
  for (size_t a = 0; a < points_.arrays.size(); ++a) {
    if (field_of_array_[a] < 0) continue;
    const TileField& field = FieldOf(static_cast<int32_t>(a));
    // A coefficient is read at the time steps of others.
    if (field.is_static || (placed_.is_coefficient[a] && field.carried == 0)) {
      continue;
    }
    first = std::min(first, points_.arrays[a].box.lower[field.time_position]);
  }
  int64_t last = std::numeric_limits<int64_t>::min();
  for (const PointResult& result : points_.results) {
    const TileField& field = FieldOf(result.array);
    if (!result.is_grid && result.time_interval == 0) {
      return NoStencil(absl::StrCat("the results of ", NameOf(result.array),
                                    " are no box, and no steps in one"));
    }
    if (!field.is_static) {
      last = std::max(last, result.box.upper[field.time_position]);
    }
  }
  if (last < first) return NoStencil("no result depends on time");
  plan_.first_time_step = first;
  plan_.last_time_step = last;
  plan_.base_time_step = std::min(last, first + carried_max - 1);
  plan_.depth = carried_max;
  return absl::OkStatus();
}

absl::StatusOr<TilePlan> Recognizer::Run() {
  DOGGED_RETURN_IF_ERROR(MakeFields());
  FindSpace();
  for (const PointClass& point_class : points_.classes) {
    DOGGED_RETURN_IF_ERROR(Normalize(point_class));
  }
  WidenMasked(normals_);
  SplitMasked(plan_, normals_);
  for (Normal& normal : normals_) MakePieceCode(plan_, normal);
  FindMakers(plan_, normals_);
  DOGGED_RETURN_IF_ERROR(Sort());
  FindStages();
  DOGGED_RETURN_IF_ERROR(FindTimeSteps());
  if (!HasRoomForHalos(plan_))
    return NoStencil("its first step comes too late");
  ComputeHalos(plan_);
  return std::move(plan_);
}

}  // namespace

absl::StatusOr<TilePlan> RecognizeStencil(const PointProgram& points) {
  const int32_t rank = FindStencilArrays(points).rank;
  absl::Status reason = NoStencil("it has no tasks");
  for (int32_t time = rank - 1; time >= 0; --time) {
    const absl::StatusOr<PlacedProgram> placed =
        PlaceCoefficients(points, time);
    absl::StatusOr<TilePlan> plan =
        placed.ok() ? Recognizer(*placed).Run() : placed.status();
    if (plan.ok()) return plan;
    // An obstacle to the usual order, time last, is the reason that is told.
    if (time == rank - 1) reason = plan.status();
  }
  return reason;
}

}  // namespace dogged::dsl
