#include "dsl/nest/schedule_nest.h"

#include <isl/aff.h>
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
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/isl/isl_sets.h"
#include "dsl/isl/set_queries.h"
#include "dsl/nest/decompose.h"
#include "dsl/nest/strong_components.h"
#include "dsl/nest/symbolic_sizes.h"
#include "dsl/nest/tile_sizes.h"
#include "dsl/nest/uniform_band.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// How isl is asked for a schedule, one attempt after another until there is
// one.
struct Attempt {
  int coefficient_max = -1;  // of an index in a hyperplane; -1: any
  uint64_t steps_max = 0;
  // A single hyperplane that carries what it can, in place of a band.
  bool is_single = false;
};

// A step is a pivot of a linear program, whose numbers grow where dependences
// run at unlike skews: from 1 us a step to 50 us at 10,000 steps, 150 us at
// 30,000. So the search for hyperplanes of any form ends early; those with
// coefficients of 1 and -1, which nearly all programs have, take fewer steps
// and smaller numbers. A single hyperplane (Feautrier 1992) takes milliseconds.
constexpr std::array<Attempt, 3> kAttempts = {
    Attempt{.coefficient_max = -1, .steps_max = 10'000},
    Attempt{.coefficient_max = 1, .steps_max = 25'000},
    Attempt{.steps_max = 20'000, .is_single = true}};
// Coefficients that stencils have: two elements a step.
constexpr Attempt kFlat = {.coefficient_max = 2, .steps_max = 50'000};
// Points of a plane that are worth tiles of their own: some ten times as long
// as tasks cost.
constexpr double kPlanePoints = int64_t{1} << 17;

// The form of `aff` over `dims` indices, if it has no divisions.
std::optional<AffineExpr> FormOf(const isl::aff& aff, int dims) {
  AffineExpr out;
  bool is_good = isl_aff_dim(aff.get(), isl_dim_div) == 0;
  const auto take = [&is_good](isl_val* value) {
    const auto number = TakeInteger(value);
    is_good = is_good && number.has_value();
    return number.value_or(0);
  };
  for (int d = 0; d < dims; ++d) {
    out.coefficients[d] =
        take(isl_aff_get_coefficient_val(aff.get(), isl_dim_in, d));
  }
  out.constant = take(isl_aff_get_constant_val(aff.get()));
  if (!is_good) return std::nullopt;
  return out;
}

// A single-valued map as forms of its domain, piece by piece.
struct Piece {
  isl::set domain;
  std::vector<AffineExpr> forms;
};

std::optional<std::vector<Piece>> PiecesOf(const isl::map& map) {
  std::vector<Piece> out;
  struct Visit {
    std::vector<Piece>& pieces;
    bool is_good = true;
  } to{out};
  const auto visit = [](isl_set* set, isl_multi_aff* forms,
                        void* user) -> isl_stat {
    auto& found = *static_cast<Visit*>(user);
    Piece piece{.domain = isl::manage(set), .forms = {}};
    const isl::multi_aff all = isl::manage(forms);
    const auto dims =
        static_cast<int>(isl_multi_aff_dim(all.get(), isl_dim_in));
    const auto count =
        static_cast<int>(isl_multi_aff_dim(all.get(), isl_dim_out));
    for (int k = 0; k < count; ++k) {
      const auto form =
          FormOf(isl::manage(isl_multi_aff_get_aff(all.get(), k)), dims);
      found.is_good = found.is_good && form.has_value();
      piece.forms.push_back(form.value_or(AffineExpr()));
    }
    found.pieces.push_back(std::move(piece));
    return isl_stat_ok;
  };
  const isl::pw_multi_aff all =
      isl::manage(isl_pw_multi_aff_from_map(map.copy()));
  isl_pw_multi_aff_foreach_piece(all.get(), visit, &to);
  if (!to.is_good) return std::nullopt;
  return out;
}

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

class Scheduler {
 public:
  Scheduler(Planes planes, uint64_t& steps_left, Nest& nest)
      : planes_(planes), steps_left_(steps_left), nest_(nest) {}
  absl::Status Run();

 private:
  void FindComponents();
  absl::Status Schedule(int32_t c);
  // Points i of the flow's consumer to points j of its producer that fulfil
  // `conditions`.
  isl::map Where(const NestFlow& flow, const std::string& conditions) const;
  SymbolicSizes SizesOf(int32_t c);
  // Looks for more hyperplanes, and of smaller coefficients.
  void Flatten(const std::vector<NestFlow>& flows, const SymbolicSizes& sizes,
               NestComponent& component);
  isl::schedule_constraints ConstraintsOf(const std::vector<NestFlow>& flows,
                                          const SymbolicSizes& sizes,
                                          const NestComponent& component);
  // The largest coefficient of its hyperplanes.
  int64_t SteepnessOf(const NestComponent& component);
  // The flows of points of a component among each other.
  std::vector<NestFlow> FlowsWithin(int32_t c) const;
  // Forms and orders of the points of `component`, which are to keep `flows`.
  absl::Status ScheduleBand(const std::vector<NestFlow>& flows,
                            const SymbolicSizes& sizes,
                            NestComponent& component);
  std::optional<isl::schedule> Compute(
      const isl::schedule_constraints& constraints, int constant_max);
  std::optional<isl::schedule> Compute(
      const isl::schedule_constraints& constraints, int constant_max,
      const Attempt& attempt);
  // Indices of a statement that the others do not tell, at most.
  int FreeIndices(const NestComponent& component) const;
  // How far each read of a point goes back, if that is the same everywhere.
  struct Distances {
    int dims = 0;
    std::vector<Row> all;
    std::vector<std::vector<int32_t>> reads;  // at one point, by statement
  };
  std::optional<Distances> ConstantDistances(const std::vector<NestFlow>& flows,
                                             const NestComponent& component);
  // By UniformBand(); false if distances are not constant, or it has none.
  bool TakeUniformBand(const std::vector<NestFlow>& flows,
                       NestComponent& component);
  absl::Status TakeBand(const isl::schedule& schedule,
                        const SymbolicSizes& sizes, NestComponent& component);
  bool HasLargePlanes(const NestComponent& component);
  // Components for what is in a plane of a component that goes plane by plane;
  // none if that has no room for several workers.
  std::optional<std::vector<NestComponent>> SplitPlanes(int32_t c);
  // Puts the plane, by point, before the band.
  void AddPlanes(const std::vector<AffineExpr>& planes,
                 NestComponent& component);
  void TakeParts();
  void ScheduleCopy(NestComponent& component);
  void Arrange(NestComponent& component);
  bool HasChains(const NestComponent& component) const;
  int32_t WaveFor(const NestComponent& component) const;
  int ScoreOf(const NestComponent& component, size_t member) const;
  absl::Status SplitFlows(bool planes_apart);
  NestPoint& PointOf(int32_t p) { return nest_.points[p]; }

  const Planes planes_;
  uint64_t& steps_left_;
  Nest& nest_;
  // By component those that take its place, if there are any.
  std::vector<std::vector<NestComponent>> parts_;
};

std::vector<NestFlow> Scheduler::FlowsWithin(int32_t c) const {
  std::vector<NestFlow> out;
  for (const NestFlow& flow : nest_.flows) {
    const auto is_here = [&](int32_t p) {
      return nest_.points[p].component == c;
    };
    if (is_here(flow.consumer) && is_here(flow.producer)) out.push_back(flow);
  }
  return out;
}

isl::map Scheduler::Where(const NestFlow& flow,
                          const std::string& conditions) const {
  const NestPoint& consumer = nest_.points[flow.consumer];
  const NestPoint& producer = nest_.points[flow.producer];
  return isl::map(
      nest_.context,
      absl::StrCat("{ ", IslTuple(consumer.tuple, consumer.dims, "i"), " -> ",
                   IslTuple(producer.tuple, producer.dims, "j"), " : ",
                   conditions, " }"));
}

// Along flows from readers to what they read: so a component stands behind
// those that it reads.
void Scheduler::FindComponents() {
  std::vector<std::vector<int32_t>> reads(nest_.points.size());
  for (const NestFlow& flow : nest_.flows) {
    reads[flow.consumer].push_back(flow.producer);
  }
  for (const NestReduction& reduction : nest_.reductions) {
    reads[reduction.root].push_back(reduction.leaf);
  }
  for (std::vector<int32_t>& members : StrongComponents(reads)) {
    for (const int32_t p : members) {
      PointOf(p).component = static_cast<int32_t>(nest_.components.size());
    }
    const NestPoint& first = PointOf(members.front());
    const int32_t array = first.creates.front().array;
    NestComponent component;
    const bool is_copy =
        array >= nest_.array_count && !first.reduce.has_value();
    if (is_copy) component.result = array - nest_.array_count;
    component.points = std::move(members);
    nest_.components.push_back(std::move(component));
  }
}

// A result's tiles are blocks of the user's array: its own indices. So are
// those of a reduction, which any order of its points gives.
void Scheduler::ScheduleCopy(NestComponent& component) {
  NestPoint& point = PointOf(component.points.front());
  component.rank = component.order_rank = point.dims;
  component.is_coincident.assign(static_cast<size_t>(point.dims), true);
  component.parallel = component.inner = point.dims - 1;
  if (point.reduce) {
    // Points of one result meet in its accumulator.
    component.parallel = -1;
    const auto kept =
        static_cast<ptrdiff_t>(point.reduce->step == NestReduce::Step::kAdd
                                   ? point.creates.front().map.size()
                                   : component.is_coincident.size());
    std::fill(component.is_coincident.begin() + kept,
              component.is_coincident.end(), false);
  }
  for (int32_t d = 0; d < point.dims; ++d) {
    point.theta.push_back(AffineExpr::Index(d));
  }
  point.order = isl::map(
      nest_.context, absl::StrCat("{ ", IslTuple(point.tuple, point.dims, "i"),
                                  " -> ", IslTuple("", point.dims, "i"), " }"));
}

absl::Status Scheduler::TakeBand(const isl::schedule& schedule,
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

// How well the band's member would run innermost: over elements side by side,
// or over none, and without waiting.
int Scheduler::ScoreOf(const NestComponent& component, size_t member) const {
  int score = component.is_coincident[member] ? 100 : 0;
  for (const int32_t p : component.points) {
    const NestPoint& point = nest_.points[p];
    for (const auto* touches : {&point.creates, &point.uses, &point.inputs}) {
      for (const NestTouch& touch : *touches) {
        const bool is_input = touches == &point.inputs;
        std::vector<size_t> moving;
        for (size_t d = 0; d < touch.map.size(); ++d) {
          const Decomposition part =
              Decompose(touch.map[d], point.theta, point.dims);
          if (part.factors[member] != 0) moving.push_back(d);
        }
        const bool is_last =
            moving.size() == 1 && moving[0] + 1 == touch.map.size();
        if (moving.empty()) {
          score += 2;
        } else if (is_last) {
          score += 3;
        } else if (moving.size() > 1) {
          score -= 2;
        } else if (is_input) {
          score -= 1;
        }
      }
    }
  }
  return score;
}

// Whether points along the inner member alone need each other, one after the
// other. A first one that all others need is none of them.
bool Scheduler::HasChains(const NestComponent& component) const {
  const auto is_here = [&component](int32_t p) {
    return std::find(component.points.begin(), component.points.end(), p) !=
           component.points.end();
  };
  std::vector<NestFlow> flows;
  std::vector<std::vector<int32_t>> reads(nest_.points.size());
  for (NestFlow flow : nest_.flows) {
    if (!is_here(flow.consumer) || !is_here(flow.producer)) continue;
    const NestPoint& consumer = nest_.points[flow.consumer];
    const NestPoint& producer = nest_.points[flow.producer];
    std::string same = "true";
    for (size_t m = 0; m < consumer.theta.size(); ++m) {
      if (static_cast<int32_t>(m) == component.inner) continue;
      absl::StrAppend(&same, " and ", IslText(consumer.theta[m], "i"), " = ",
                      IslText(producer.theta[m], "j"));
    }
    flow.map = flow.map.intersect(Where(flow, same));
    if (flow.map.is_empty()) continue;
    reads[flow.consumer].push_back(flow.producer);
    flows.push_back(std::move(flow));
  }
  std::vector<size_t> part_of(nest_.points.size());
  const auto parts = StrongComponents(reads);
  for (size_t k = 0; k < parts.size(); ++k) {
    for (const int32_t p : parts[k]) part_of[p] = k;
  }
  return std::any_of(flows.begin(), flows.end(), [&](const NestFlow& flow) {
    if (part_of[flow.consumer] != part_of[flow.producer]) return false;
    const NestPoint& consumer = nest_.points[flow.consumer];
    const NestPoint& producer = nest_.points[flow.producer];
    const isl::map elsewhere = Where(
        flow,
        absl::StrCat(IslText(consumer.theta[component.inner], "i"),
                     " != ", IslText(producer.theta[component.inner], "j")));
    return !flow.map.intersect(elsewhere).is_empty();
  });
}

// The member of the band that makes wavefronts with the inner one. No
// dependence goes back along a member, so points with one sum of two members,
// and the same others, need nothing of each other: Wolfe, Loop skewing: the
// wavefront method revisited, IJPP 15(4), 1986.
int32_t Scheduler::WaveFor(const NestComponent& component) const {
  const bool is_whole = std::all_of(
      component.points.begin(), component.points.end(),
      [&](int32_t p) { return nest_.points[p].dims <= component.rank; });
  if (!is_whole || !HasChains(component)) return -1;
  const int32_t first = component.planes >= 0 ? 1 : 0;
  for (int32_t m = component.rank - 1; m >= first; --m) {
    if (m != component.inner) return m;
  }
  return -1;
}

// Puts the member that runs best innermost: all orders of a band are good.
void Scheduler::Arrange(NestComponent& component) {
  if (component.rank == 0) return;
  int best = 0;
  const size_t first = component.planes >= 0 && component.rank > 1 ? 1 : 0;
  for (size_t m = first; m < static_cast<size_t>(component.rank); ++m) {
    const int score = ScoreOf(component, m);
    if (component.inner >= 0 && score < best) continue;
    component.inner = static_cast<int32_t>(m);
    best = score;
  }
  component.wave = WaveFor(component);
  if (component.wave >= 0 || component.is_coincident[component.inner]) {
    component.parallel = component.parallel_member = component.rank - 1;
  }
  std::vector<std::string> order;
  for (int32_t d = 0; d < component.rank; ++d) {
    if (d == component.wave || d == component.inner) continue;
    order.push_back(absl::StrCat("d", d));
  }
  if (component.wave >= 0) {
    order.push_back(absl::StrCat("d", component.wave, " + d", component.inner));
  }
  order.push_back(absl::StrCat("d", component.inner));
  for (int32_t d = component.rank; d < component.order_rank; ++d) {
    order.push_back(absl::StrCat("d", d));
  }
  const isl::map arranged(
      nest_.context, absl::StrCat("{ ", IslTuple("", component.order_rank, "d"),
                                  " -> [", absl::StrJoin(order, ", "), "] }"));
  for (const int32_t p : component.points) {
    NestPoint& point = PointOf(p);
    point.order = point.order->apply_range(arranged);
  }
}

absl::Status Scheduler::Schedule(int32_t c) {
  NestComponent& component = nest_.components[c];
  const auto reduction =
      std::find_if(component.points.begin(), component.points.end(),
                   [this](int32_t p) { return PointOf(p).reduce.has_value(); });
  if (reduction != component.points.end() && component.points.size() > 1) {
    return absl::UnimplementedError(absl::StrCat(
        PointOf(*reduction).name,
        " is made of itself: a chain of updates, a(k+1) of a(k) in place of a "
        "reduce, would have tiles"));
  }
  if (component.result >= 0 || reduction != component.points.end()) {
    ScheduleCopy(component);
    return absl::OkStatus();
  }
  const std::vector<NestFlow> flows = FlowsWithin(c);
  const SymbolicSizes sizes = SizesOf(c);
  absl::Status found = ScheduleBand(flows, sizes, component);
  if (!found.ok() && !sizes.IsEmpty()) {
    // Sizes that have to do with each other in a way that numbers alone tell.
    const SymbolicSizes none(nest_.context, {});
    if (ScheduleBand(flows, none, component).ok()) {
      found = absl::OkStatus();
    }
  }
  if (!found.ok()) return found;
  Flatten(flows, sizes, component);
  if (auto parts = SplitPlanes(c)) {
    parts_[c] = *std::move(parts);
    return absl::OkStatus();
  }
  Arrange(component);
  return absl::OkStatus();
}

bool Scheduler::HasLargePlanes(const NestComponent& component) {
  double points = 0;
  for (const int32_t p : component.points) {
    const NestPoint& point = PointOf(p);
    double volume = 1;
    for (int d = 0; d < point.dims; ++d) {
      volume *= static_cast<double>(Greatest(point.domain, d).value_or(0) -
                                    Least(point.domain, d).value_or(0) + 1);
    }
    points += volume /
              static_cast<double>(ExtentOf(nest_, point, point.theta.front()));
  }
  return points >= kPlanePoints;
}

std::optional<std::vector<NestComponent>> Scheduler::SplitPlanes(int32_t c) {
  const NestComponent& whole = nest_.components[c];
  const bool may_split = whole.rank == 1 && !whole.is_coincident[0] &&
                         planes_ != Planes::kNever &&
                         (planes_ == Planes::kAlways || HasLargePlanes(whole));
  if (!may_split) return std::nullopt;
  // The band of the whole, which stays if this comes to nothing.
  const std::vector<NestPoint> before = nest_.points;
  std::vector<NestFlow> flows;
  std::vector<std::vector<int32_t>> reads(nest_.points.size());
  for (NestFlow flow : FlowsWithin(c)) {
    const NestPoint& consumer = PointOf(flow.consumer);
    const NestPoint& producer = PointOf(flow.producer);
    flow.map = flow.map.intersect(
        Where(flow, absl::StrCat(IslText(consumer.theta.front(), "i"), " = ",
                                 IslText(producer.theta.front(), "j"))));
    if (flow.map.is_empty()) continue;
    reads[flow.consumer].push_back(flow.producer);
    flows.push_back(std::move(flow));
  }
  std::vector<AffineExpr> planes;
  for (const NestPoint& point : nest_.points) {
    planes.push_back(point.theta.empty() ? AffineExpr() : point.theta.front());
  }
  const SymbolicSizes sizes = SizesOf(c);
  std::vector<NestComponent> out;
  for (std::vector<int32_t>& members : StrongComponents(reads)) {
    if (PointOf(members.front()).component != c) continue;
    NestComponent part{.planes = c};
    part.points = std::move(members);
    std::vector<NestFlow> own;
    const auto is_here = [&part](int32_t p) {
      return std::find(part.points.begin(), part.points.end(), p) !=
             part.points.end();
    };
    for (const NestFlow& flow : flows) {
      if (is_here(flow.consumer) && is_here(flow.producer)) own.push_back(flow);
    }
    bool has_room =
        ScheduleBand(own, sizes, part).ok() && part.rank < kMaxIndices;
    if (has_room) {
      AddPlanes(planes, part);
      const bool is_scalar =
          std::all_of(part.points.begin(), part.points.end(),
                      [this](int32_t p) { return PointOf(p).dims < 2; });
      has_room = is_scalar || part.rank > 1;
    }
    if (!has_room) {
      nest_.points = before;
      return std::nullopt;
    }
    out.push_back(std::move(part));
  }
  return out;
}

// Rank of forms over the indices.
size_t RankOf(const std::vector<AffineExpr>& forms) {
  std::vector<AffineExpr> rows;
  for (AffineExpr row : forms) {
    row.constant = 0;
    for (const AffineExpr& other : rows) {
      const auto at = static_cast<size_t>(other.LastIndex());
      row = row * other.coefficients[at] - other * row.coefficients[at];
    }
    if (row.LastIndex() >= 0) rows.push_back(row);
  }
  return rows.size();
}

void Scheduler::AddPlanes(const std::vector<AffineExpr>& planes,
                          NestComponent& component) {
  // Members of the band that the plane and earlier ones tell take no index.
  std::vector<size_t> kept;
  std::vector<bool> is_coincident = {false};
  const auto forms_of = [&](int32_t p, size_t and_member) {
    std::vector<AffineExpr> out = {planes[p]};
    for (const size_t m : kept) out.push_back(PointOf(p).theta[m]);
    out.push_back(PointOf(p).theta[and_member]);
    return out;
  };
  for (size_t m = 0; m < static_cast<size_t>(component.rank); ++m) {
    const bool is_new = std::any_of(
        component.points.begin(), component.points.end(), [&](int32_t p) {
          const std::vector<AffineExpr> forms = forms_of(p, m);
          return RankOf(forms) == forms.size();
        });
    if (!is_new) continue;
    kept.push_back(m);
    is_coincident.push_back(component.is_coincident[m]);
  }
  std::vector<std::string> order;
  for (const size_t m : kept) order.push_back(absl::StrCat("d", m));
  const bool is_alone = component.points.size() == 1;
  for (size_t d = 0; d < static_cast<size_t>(component.order_rank); ++d) {
    const bool is_member = d < static_cast<size_t>(component.rank);
    const bool is_kept = std::find(kept.begin(), kept.end(), d) != kept.end();
    // Facts of the members about one statement may be a step apart in others.
    if (is_kept || (is_member && is_alone)) continue;
    order.push_back(absl::StrCat("d", d));
  }
  const isl::map arranged(
      nest_.context, absl::StrCat("{ ", IslTuple("", component.order_rank, "d"),
                                  " -> [", absl::StrJoin(order, ", "), "] }"));
  for (const int32_t p : component.points) {
    NestPoint& point = PointOf(p);
    std::vector<AffineExpr> theta = {planes[p]};
    for (const size_t m : kept) theta.push_back(point.theta[m]);
    point.theta = std::move(theta);
    const isl::map plane(
        nest_.context,
        absl::StrCat("{ ", IslTuple(point.tuple, point.dims, "i"), " -> [",
                     IslText(planes[p], "i"), "] }"));
    point.order = isl::manage(isl_map_flat_range_product(
        plane.copy(), point.order->apply_range(arranged).release()));
  }
  component.rank = static_cast<int32_t>(kept.size() + 1);
  component.order_rank = static_cast<int32_t>(order.size() + 1);
  component.is_coincident = std::move(is_coincident);
  Arrange(component);
}

// Components in place of those that were split.
void Scheduler::TakeParts() {
  std::vector<NestComponent> whole = std::move(nest_.components);
  nest_.components.clear();
  for (size_t c = 0; c < whole.size(); ++c) {
    std::vector<NestComponent> parts = std::move(parts_[c]);
    if (parts.empty()) parts.push_back(std::move(whole[c]));
    for (NestComponent& part : parts) {
      for (const int32_t p : part.points) {
        PointOf(p).component = static_cast<int32_t>(nest_.components.size());
      }
      nest_.components.push_back(std::move(part));
    }
  }
}

SymbolicSizes Scheduler::SizesOf(int32_t c) {
  std::vector<isl::map> maps;
  for (const int32_t p : nest_.components[c].points) {
    maps.push_back(isl::manage(isl_map_from_range(PointOf(p).domain.copy())));
  }
  for (const NestFlow& flow : FlowsWithin(c)) maps.push_back(flow.map);
  return {nest_.context, maps};
}

int64_t Scheduler::SteepnessOf(const NestComponent& component) {
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
void Scheduler::Flatten(const std::vector<NestFlow>& flows,
                        const SymbolicSizes& sizes, NestComponent& component) {
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

// A schedule in bounded time; none if there is none. Steps in vain count for
// all of the nest (NestTarget::vain_steps_max).
std::optional<isl::schedule> Scheduler::Compute(
    const isl::schedule_constraints& constraints, int constant_max) {
  for (const Attempt& attempt : kAttempts) {
    if (!attempt.is_single && attempt.steps_max > steps_left_) continue;
    if (auto out = Compute(constraints, constant_max, attempt)) return out;
    if (!attempt.is_single) steps_left_ -= attempt.steps_max;
  }
  return std::nullopt;
}

std::optional<isl::schedule> Scheduler::Compute(
    const isl::schedule_constraints& constraints, int constant_max,
    const Attempt& attempt) {
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
    return std::nullopt;
  }
}

int Scheduler::FreeIndices(const NestComponent& component) const {
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

std::optional<Scheduler::Distances> Scheduler::ConstantDistances(
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

bool Scheduler::TakeUniformBand(const std::vector<NestFlow>& flows,
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

isl::schedule_constraints Scheduler::ConstraintsOf(
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

absl::Status Scheduler::ScheduleBand(const std::vector<NestFlow>& flows,
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

// A hyperplane at a producer's point in terms of those of the consumer. Planes
// have tiles of one plane: a plane and a hyperplane of larger tiles have
// nothing to do with each other, nor have `planes_apart` a plane and anything
// else.
Decomposition PartOf(const AffineExpr& form, const NestComponent& from,
                     size_t index, const NestPoint& consumer,
                     const NestComponent& to, bool planes_apart) {
  std::vector<AffineExpr> theta = consumer.theta;
  const bool is_plane = from.planes >= 0 && index == 0;
  for (size_t m = 0; m < theta.size(); ++m) {
    const bool is_other = to.planes >= 0 && m == 0;
    const bool are_both_split = from.planes >= 0 && to.planes >= 0;
    if (is_plane != is_other && (are_both_split || planes_apart)) {
      theta[m] = AffineExpr();
    }
  }
  return Decompose(form, theta, consumer.dims);
}

absl::Status Scheduler::SplitFlows(bool planes_apart) {
  std::vector<NestFlow> flows;
  for (const NestFlow& flow : nest_.flows) {
    const NestPoint& consumer = PointOf(flow.consumer);
    const NestPoint& producer = PointOf(flow.producer);
    std::string planes;
    for (const AffineExpr& theta : producer.theta) {
      absl::StrAppend(&planes, planes.empty() ? "" : ", ", IslText(theta, "i"));
    }
    const isl::map to_planes(
        nest_.context,
        absl::StrCat("{ ", IslTuple(producer.tuple, producer.dims, "i"),
                     " -> [", planes, "] }"));
    const auto pieces = PiecesOf(flow.map.apply_range(to_planes));
    if (!pieces) {
      return absl::UnimplementedError(
          absl::StrCat("task ", consumer.name, " reads task ", producer.name,
                       " at indices of another stride"));
    }
    for (const Piece& piece : *pieces) {
      NestFlow part = flow;
      part.parts.clear();
      part.map = flow.map.intersect_domain(piece.domain);
      for (size_t k = 0; k < piece.forms.size(); ++k) {
        part.parts.push_back(PartOf(
            piece.forms[k], nest_.components[producer.component], k, consumer,
            nest_.components[consumer.component], planes_apart));
      }
      flows.push_back(std::move(part));
    }
  }
  nest_.flows = std::move(flows);
  return absl::OkStatus();
}

absl::Status Scheduler::Run() {
  FindComponents();
  parts_.resize(nest_.components.size());
  for (size_t c = 0; c < nest_.components.size(); ++c) {
    DOGGED_RETURN_IF_ERROR(Schedule(static_cast<int32_t>(c)));
  }
  TakeParts();
  DOGGED_RETURN_IF_ERROR(SplitFlows(/*planes_apart=*/false));
  if (!HasMixedIndices(nest_)) return absl::OkStatus();
  return SplitFlows(/*planes_apart=*/true);
}

}  // namespace

absl::Status ScheduleNest(Planes planes, uint64_t& steps_left, Nest& nest) {
  return Scheduler(planes, steps_left, nest).Run();
}

}  // namespace dogged::dsl
