#include "dsl/nest/band_search.h"

#include <isl/map.h>
#include <isl/mat.h>
#include <isl/options.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/isl/isl_sets.h"
#include "dsl/isl/set_queries.h"
#include "dsl/nest/strong_components.h"
#include "dsl/nest/uniform_band.h"

namespace dogged::dsl {

// How isl is asked for a schedule, one attempt after another until there is
// one.
struct ScheduleAttempt {
  int coefficient_max = -1;  // of an index in a hyperplane; -1: any
  uint64_t steps_max = 0;
  // A single hyperplane that carries what it can, in place of a band.
  bool is_single = false;
};

namespace {

// A step is a pivot of a linear program, whose numbers grow where dependences
// run at unlike skews: from 1 us a step to 50 us at 10,000 steps, 150 us at
// 30,000. So the search for hyperplanes of any form ends early; those with
// coefficients of 1 and -1, which nearly all programs have, take fewer steps
// and smaller numbers. A single hyperplane (Feautrier 1992) takes milliseconds.
constexpr std::array<ScheduleAttempt, 3> kAttempts = {
    ScheduleAttempt{.coefficient_max = -1, .steps_max = 10'000},
    ScheduleAttempt{.coefficient_max = 1, .steps_max = 25'000},
    ScheduleAttempt{.steps_max = 20'000, .is_single = true}};
// Coefficients that stencils have: two elements a step.
constexpr ScheduleAttempt kFlat = {.coefficient_max = 2, .steps_max = 50'000};
// How good the outermost band of a schedule is.
struct Band {
  int64_t rank = 0;
  int64_t coincident = 0;  // members
  friend auto operator<=>(const Band&, const Band&) = default;
};

Band BandOf(const isl::schedule& schedule) {
  Band out;
  isl_schedule_node* node =
      isl_schedule_node_first_child(isl_schedule_get_root(schedule.get()));
  if (isl_schedule_node_get_type(node) == isl_schedule_node_band) {
    out.rank = isl_schedule_node_band_n_member(node);
    for (int m = 0; m < out.rank; ++m) {
      out.coincident +=
          isl_schedule_node_band_member_get_coincident(node, m) == isl_bool_true
              ? 1
              : 0;
    }
  }
  isl_schedule_node_free(node);
  return out;
}

}  // namespace

absl::Status BandSearch::Find(const std::vector<NestFlow>& flows,
                              const SymbolicSizes& sizes,
                              NestComponent& component) {
  int dims = 0;
  for (const int32_t p : component.points) {
    dims = std::max(dims, PointOf(p).dims);
  }
  const isl::schedule_constraints constraints =
      ConstraintsOf(flows, sizes, component);
  // Statements that stand a step apart for the sake of shorter distances make
  // tiles that read more tiles: without constants first.
  const auto aligned = Compute(constraints, 0);
  const Band own = aligned ? BandOf(*aligned) : Band();
  if (own.rank == dims) return TakeBand(*aligned, sizes, component);
  const auto shifted = Compute(constraints, -1);
  const Band other = shifted ? BandOf(*shifted) : Band();
  if (other.rank < FreeIndices(component) &&
      TakeUniformBand(flows, component)) {
    return absl::OkStatus();
  }
  if (!aligned && !shifted) {
    return absl::UnimplementedError(
        absl::StrCat("no order of the points of task ",
                     PointOf(component.points.front()).name,
                     " in tiles was found in bounded time"));
  }
  return TakeBand(!aligned || own < other ? *shifted : *aligned, sizes,
                  component);
}

// A schedule in bounded time; none if there is none. Steps in vain count for
// all of the nest (NestTarget::vain_steps_max).
std::optional<isl::schedule> BandSearch::Compute(
    const isl::schedule_constraints& constraints, int constant_max) {
  for (const ScheduleAttempt& attempt : kAttempts) {
    if (!attempt.is_single && attempt.steps_max > steps_left_) continue;
    if (auto out = Compute(constraints, constant_max, attempt)) return out;
  }
  return std::nullopt;
}

std::optional<isl::schedule> BandSearch::Compute(
    const isl::schedule_constraints& constraints, int constant_max,
    const ScheduleAttempt& attempt) {
  isl_ctx* context = nest_.context.get();
  isl_options_set_schedule_max_constant_term(context, constant_max);
  isl_options_set_schedule_max_coefficient(context, attempt.coefficient_max);
  isl_options_set_schedule_algorithm(
      context, attempt.is_single ? ISL_SCHEDULE_ALGORITHM_FEAUTRIER
                                 : ISL_SCHEDULE_ALGORITHM_ISL);
  const OperationBudget budget(nest_.context, attempt.steps_max);
  try {
    return constraints.compute_schedule();
  } catch (const isl::exception&) {
    if (!attempt.is_single) {
      steps_left_ -= std::min(steps_left_, attempt.steps_max);
    }
    return std::nullopt;
  }
}

absl::Status BandSearch::TakeBand(const isl::schedule& schedule,
                                  const SymbolicSizes& sizes,
                                  NestComponent& component) {
  component.rank = 0;
  component.is_coincident.clear();
  for (const int32_t p : component.points) PointOf(p).theta.clear();
  isl_schedule_node* node = isl_schedule_get_root(schedule.get());
  node = isl_schedule_node_first_child(node);
  const bool is_band =
      isl_schedule_node_get_type(node) == isl_schedule_node_band;
  isl::multi_union_pw_aff partial;
  if (is_band) {
    component.rank =
        static_cast<int32_t>(isl_schedule_node_band_n_member(node));
    for (int32_t m = 0; m < component.rank; ++m) {
      component.is_coincident.push_back(
          isl_schedule_node_band_member_get_coincident(node, m) ==
          isl_bool_true);
    }
    partial = isl::manage(isl_schedule_node_band_get_partial_schedule(node));
  }
  isl_schedule_node_free(node);
  if (component.rank > kMaxIndices) {
    return absl::UnimplementedError("its tiles would have too many indices");
  }
  const isl::union_map flat = isl::manage(isl_schedule_get_map(schedule.get()));
  for (const int32_t p : component.points) {
    NestPoint& point = PointOf(p);
    const isl::union_map own =
        flat.intersect_domain(isl::union_set(point.domain));
    point.order =
        sizes.Numbered(isl::manage(isl_map_from_union_map(own.copy())));
    component.order_rank =
        static_cast<int32_t>(isl_map_dim(point.order->get(), isl_dim_out));
    if (!is_band) continue;
    const isl::union_map band =
        isl::manage(isl_union_map_from_multi_union_pw_aff(
            partial.intersect_domain(isl::union_set(point.domain)).release()));
    const isl::map forms =
        sizes.Numbered(isl::manage(isl_map_from_union_map(band.copy())));
    const auto pieces = PiecesOf(forms);
    if (!pieces || pieces->size() != 1) {
      return absl::UnimplementedError(absl::StrCat(
          "task ", point.name, " is scheduled by more than a formula"));
    }
    point.theta = pieces->front().forms;
  }
  return absl::OkStatus();
}

isl::schedule_constraints BandSearch::ConstraintsOf(
    const std::vector<NestFlow>& flows, const SymbolicSizes& sizes,
    const NestComponent& component) {
  isl::union_set domain(nest_.context, "{ }");
  for (const int32_t p : component.points) {
    domain = domain.unite(isl::union_set(sizes.Of(PointOf(p).domain)));
  }
  isl::union_map before(nest_.context, "{ }");
  for (const NestFlow& flow : flows) {
    before = before.unite(isl::union_map(sizes.Of(flow.map.reverse())));
  }
  return isl::schedule_constraints::on_domain(domain)
      .set_context(sizes.Context())
      .set_validity(before)
      .set_coincidence(before)
      .set_proximity(before);
}

int BandSearch::FreeIndices(const NestComponent& component) const {
  int out = 0;
  for (const int32_t p : component.points) {
    const NestPoint& point = nest_.points[p];
    const isl::basic_set hull =
        isl::manage(isl_set_affine_hull(point.domain.copy()));
    isl_mat* equations = isl_basic_set_equalities_matrix(
        hull.get(), isl_dim_set, isl_dim_param, isl_dim_div, isl_dim_cst);
    const auto fixed = static_cast<int>(isl_mat_rows(equations));
    isl_mat_free(equations);
    out = std::max(out, point.dims - fixed);
  }
  return out;
}

std::optional<BandSearch::Distances> BandSearch::ConstantDistances(
    const std::vector<NestFlow>& flows, const NestComponent& component) {
  Distances out{
      .dims = PointOf(component.points.front()).dims,
      .all = {},
      .reads = std::vector<std::vector<int32_t>>(nest_.points.size())};
  for (const NestFlow& flow : flows) {
    const auto pieces = PiecesOf(flow.map);
    if (!pieces || PointOf(flow.consumer).dims != out.dims ||
        PointOf(flow.producer).dims != out.dims) {
      return std::nullopt;
    }
    for (const Piece& piece : *pieces) {
      Row distance;
      for (int d = 0; d < out.dims; ++d) {
        const AffineExpr back = AffineExpr::Index(d) - piece.forms[d];
        if (!back.IsConstant()) return std::nullopt;
        distance.push_back(back.constant);
      }
      if (std::count(distance.begin(), distance.end(), 0) == out.dims) {
        out.reads[flow.consumer].push_back(flow.producer);
      }
      out.all.push_back(std::move(distance));
    }
  }
  return out;
}

bool BandSearch::TakeUniformBand(const std::vector<NestFlow>& flows,
                                 NestComponent& component) {
  const auto constant = ConstantDistances(flows, component);
  if (!constant) return false;
  const auto& [dims, distances, reads] = *constant;
  const auto planes = UniformBand(distances, dims);
  if (!planes) return false;
  component.rank = dims;
  component.order_rank = dims + 1;
  component.is_coincident.clear();
  std::vector<AffineExpr> theta;
  for (const Row& plane : *planes) {
    theta.push_back(ExprOf(plane));
    component.is_coincident.push_back(IsCoincident(plane, distances));
  }
  std::string forms;
  for (const AffineExpr& form : theta) {
    absl::StrAppend(&forms, IslText(form, "i"), ", ");
  }
  // Statements at one point in the order in which they read each other there.
  int position = 0;
  for (const std::vector<int32_t>& one : StrongComponents(reads)) {
    NestPoint& point = PointOf(one.front());
    if (std::find(component.points.begin(), component.points.end(),
                  one.front()) == component.points.end()) {
      continue;
    }
    point.theta = theta;
    point.order = isl::map(nest_.context,
                           absl::StrCat("{ ", IslTuple(point.tuple, dims, "i"),
                                        " -> [", forms, position++, "] }"));
  }
  return true;
}

int64_t BandSearch::SteepnessOf(const NestComponent& component) {
  int64_t out = 0;
  for (const int32_t p : component.points) {
    for (const AffineExpr& theta : PointOf(p).theta) {
      for (const int64_t factor : theta.coefficients) {
        out = std::max(out, std::abs(factor));
      }
    }
  }
  return out;
}

// Where an index is short, hyperplanes that are as steep as it is long make
// distances short, and tiles of no use. And where distances are constant there
// is a band of all indices, which isl may not have got to.
void BandSearch::Flatten(const std::vector<NestFlow>& flows,
                         const SymbolicSizes& sizes, NestComponent& component) {
  if (steps_left_ == 0) return;
  const int64_t steepness = SteepnessOf(component);
  const bool is_whole = component.rank >= FreeIndices(component) ||
                        !ConstantDistances(flows, component);
  if (is_whole && steepness <= kFlat.coefficient_max) return;
  const NestComponent known = component;
  const std::vector<NestPoint> points = nest_.points;
  const isl::schedule_constraints constraints =
      ConstraintsOf(flows, sizes, component);
  for (const int constant_max : {0, -1}) {
    const auto flat = Compute(constraints, constant_max, kFlat);
    const bool is_taken = flat && BandOf(*flat).rank >= known.rank &&
                          TakeBand(*flat, sizes, component).ok();
    const bool is_better = is_taken && (component.rank > known.rank ||
                                        SteepnessOf(component) < steepness);
    if (is_better) return;
  }
  component = known;
  nest_.points = points;
}

}  // namespace dogged::dsl
