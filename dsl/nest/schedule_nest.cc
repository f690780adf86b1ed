#include "dsl/nest/schedule_nest.h"

#include <isl/map.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/isl/set_queries.h"
#include "dsl/nest/arrange_tile.h"
#include "dsl/nest/band_search.h"
#include "dsl/nest/decompose.h"
#include "dsl/nest/strong_components.h"
#include "dsl/nest/symbolic_sizes.h"
#include "dsl/nest/tile_sizes.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// Points of a plane that are worth tiles of their own: some ten times as long
// as tasks cost.
constexpr double kPlanePoints = int64_t{1} << 17;

class Scheduler {
 public:
  Scheduler(Planes planes, uint64_t& steps_left, Nest& nest)
      : planes_(planes), bands_(steps_left, nest), nest_(nest) {}
  absl::Status Run();

 private:
  void FindComponents();
  absl::Status Schedule(int32_t c);
  SymbolicSizes SizesOf(int32_t c);
  // The flows of points of a component among each other.
  std::vector<NestFlow> FlowsWithin(int32_t c) const;
  bool HasLargePlanes(const NestComponent& component);
  // Components for what is in a plane of a component that goes plane by plane;
  // none if that has no room for several workers.
  std::optional<std::vector<NestComponent>> SplitPlanes(int32_t c);
  // Puts the plane, by point, before the band.
  void AddPlanes(const std::vector<AffineExpr>& planes,
                 NestComponent& component);
  void TakeParts();
  void ScheduleCopy(NestComponent& component);
  absl::Status SplitFlows(bool planes_apart);
  NestPoint& PointOf(int32_t p) { return nest_.points[p]; }

  const Planes planes_;
  BandSearch bands_;
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

absl::Status Scheduler::Schedule(int32_t c) {
  NestComponent& component = nest_.components[c];
  const auto reduction =
      std::find_if(component.points.begin(), component.points.end(),
                   [this](int32_t p) { return PointOf(p).reduce.has_value(); });
  if (reduction != component.points.end() && component.points.size() > 1) {
    return absl::UnimplementedError(absl::StrCat(
        PointOf(*reduction).name,
        " takes in values that depend on earlier results of it, and has a "
        "result only once all are there: a task that adds one value a step, "
        "s(i)(k+1) of s(i)(k), in place of the reduce would have tiles"));
  }
  if (component.result >= 0 || reduction != component.points.end()) {
    ScheduleCopy(component);
    return absl::OkStatus();
  }
  const std::vector<NestFlow> flows = FlowsWithin(c);
  const SymbolicSizes sizes = SizesOf(c);
  absl::Status found = bands_.Find(flows, sizes, component);
  if (!found.ok() && !sizes.IsEmpty()) {
    // Sizes that have to do with each other in a way that numbers alone tell.
    const SymbolicSizes none(nest_.context, {});
    if (bands_.Find(flows, none, component).ok()) found = absl::OkStatus();
  }
  if (!found.ok()) return found;
  bands_.Flatten(flows, sizes, component);
  if (auto parts = SplitPlanes(c)) {
    parts_[c] = *std::move(parts);
    return absl::OkStatus();
  }
  ArrangeTile(component, nest_);
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
        PairsWhere(nest_, flow,
                   absl::StrCat(IslText(consumer.theta.front(), "i"), " = ",
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
        bands_.Find(own, sizes, part).ok() && part.rank < kMaxIndices;
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
  ArrangeTile(component, nest_);
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
