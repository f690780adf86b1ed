#include "dsl/nest/schedule_nest.h"

#include <isl/aff.h>
#include <isl/options.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>
#include <isl/union_map.h>
#include <isl/union_set.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/isl/isl_sets.h"
#include "dsl/isl/set_queries.h"
#include "dsl/nest/decompose.h"
#include "dsl/nest/symbolic_sizes.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// Steps of isl for a schedule. Most programs take 10,000, PolyBench's 32,000 at
// most; a step of a linear program with large numbers in it costs up to 0.1 ms.
constexpr uint64_t kSymbolicStepsMax = 200'000;
constexpr uint64_t kNumberedStepsMax = 15'000;

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
    out.coefficients[static_cast<size_t>(d)] =
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
  explicit Scheduler(Nest& nest) : nest_(nest) {}
  absl::Status Run();

 private:
  void FindComponents();
  absl::Status Schedule(int32_t c);
  SymbolicSizes SizesOf(int32_t c);
  absl::Status ScheduleBand(int32_t c, const SymbolicSizes& sizes,
                            uint64_t steps_max);
  std::optional<isl::schedule> Compute(
      const isl::schedule_constraints& constraints, int constant_max,
      uint64_t steps_max) const;
  absl::Status TakeBand(const isl::schedule& schedule,
                        const SymbolicSizes& sizes, int32_t c);
  void ScheduleCopy(NestComponent& component);
  void Arrange(NestComponent& component);
  int ScoreOf(const NestComponent& component, size_t member) const;
  absl::Status SplitFlows();
  bool IsWithin(const NestFlow& flow, int32_t c) {
    return PointOf(flow.consumer).component == c &&
           PointOf(flow.producer).component == c;
  }
  NestPoint& PointOf(int32_t p) { return nest_.points[static_cast<size_t>(p)]; }

  Nest& nest_;
};

// Tarjan's algorithm, along flows from readers to what they read: so a
// component is complete after those that it reads.
void Scheduler::FindComponents() {
  const size_t count = nest_.points.size();
  std::vector<std::vector<int32_t>> reads(count);
  for (const NestFlow& flow : nest_.flows) {
    reads[static_cast<size_t>(flow.consumer)].push_back(flow.producer);
  }
  for (const NestReduction& reduction : nest_.reductions) {
    reads[static_cast<size_t>(reduction.root)].push_back(reduction.leaf);
  }
  std::vector<int32_t> number(count, -1);
  std::vector<int32_t> low(count, 0);
  std::vector<bool> is_open(count, false);
  std::vector<int32_t> stack;
  int32_t next = 0;
  std::function<void(int32_t)> visit = [&](int32_t p) {
    const auto s = static_cast<size_t>(p);
    number[s] = low[s] = next++;
    stack.push_back(p);
    is_open[s] = true;
    for (const int32_t other : reads[s]) {
      const auto o = static_cast<size_t>(other);
      if (number[o] < 0) {
        visit(other);
        low[s] = std::min(low[s], low[o]);
      } else if (is_open[o]) {
        low[s] = std::min(low[s], number[o]);
      }
    }
    if (low[s] != number[s]) return;
    NestComponent component;
    while (true) {
      const int32_t member = stack.back();
      stack.pop_back();
      is_open[static_cast<size_t>(member)] = false;
      PointOf(member).component = static_cast<int32_t>(nest_.components.size());
      component.points.push_back(member);
      if (member == p) break;
    }
    std::sort(component.points.begin(), component.points.end());
    const int32_t array = PointOf(p).creates.front().array;
    const bool is_copy =
        array >= nest_.array_count && !PointOf(p).reduce.has_value();
    if (is_copy) component.result = array - nest_.array_count;
    nest_.components.push_back(std::move(component));
  };
  for (size_t p = 0; p < count; ++p) {
    if (number[p] < 0) visit(static_cast<int32_t>(p));
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
                                 const SymbolicSizes& sizes, int32_t c) {
  NestComponent& component = nest_.components[static_cast<size_t>(c)];
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
  Arrange(component);
  return absl::OkStatus();
}

// How well the band's member would run innermost: over elements side by side,
// or over none, and without waiting.
int Scheduler::ScoreOf(const NestComponent& component, size_t member) const {
  int score = component.is_coincident[member] ? 100 : 0;
  for (const int32_t p : component.points) {
    const NestPoint& point = nest_.points[static_cast<size_t>(p)];
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

// Puts the member that runs best innermost: all orders of a band are good.
void Scheduler::Arrange(NestComponent& component) {
  if (component.rank == 0) return;
  int best = 0;
  for (size_t m = 0; m < static_cast<size_t>(component.rank); ++m) {
    const int score = ScoreOf(component, m);
    if (component.inner >= 0 && score < best) continue;
    component.inner = static_cast<int32_t>(m);
    best = score;
  }
  const auto inner = static_cast<size_t>(component.inner);
  if (component.is_coincident[inner]) component.parallel = component.rank - 1;
  std::vector<std::string> order;
  for (int32_t d = 0; d < component.order_rank; ++d) {
    if (d < component.rank && d == component.inner) continue;
    if (d == component.rank)
      order.push_back(absl::StrCat("d", component.inner));
    order.push_back(absl::StrCat("d", d));
  }
  if (component.order_rank == component.rank) {
    order.push_back(absl::StrCat("d", component.inner));
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
  NestComponent& component = nest_.components[static_cast<size_t>(c)];
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
  const SymbolicSizes sizes = SizesOf(c);
  const absl::Status symbolic = ScheduleBand(c, sizes, kSymbolicStepsMax);
  if (symbolic.ok() || sizes.IsEmpty()) return symbolic;
  // Sizes that have to do with each other in a way that numbers alone tell.
  const SymbolicSizes none(nest_.context, {});
  return ScheduleBand(c, none, kNumberedStepsMax).ok() ? absl::OkStatus()
                                                       : symbolic;
}

SymbolicSizes Scheduler::SizesOf(int32_t c) {
  std::vector<isl::map> maps;
  for (const int32_t p : nest_.components[static_cast<size_t>(c)].points) {
    maps.push_back(isl::manage(isl_map_from_range(PointOf(p).domain.copy())));
  }
  for (const NestFlow& flow : nest_.flows) {
    if (IsWithin(flow, c)) maps.push_back(flow.map);
  }
  return {nest_.context, maps};
}

// A schedule in bounded time; none if there is none.
std::optional<isl::schedule> Scheduler::Compute(
    const isl::schedule_constraints& constraints, int constant_max,
    uint64_t steps_max) const {
  const OperationBudget budget(nest_.context, steps_max);
  isl_options_set_schedule_max_constant_term(nest_.context.get(), constant_max);
  try {
    return constraints.compute_schedule();
  } catch (const isl::exception&) {
    return std::nullopt;
  }
}

absl::Status Scheduler::ScheduleBand(int32_t c, const SymbolicSizes& sizes,
                                     uint64_t steps_max) {
  const NestComponent& component = nest_.components[static_cast<size_t>(c)];
  isl::union_set domain(nest_.context, "{ }");
  int dims = 0;
  for (const int32_t p : component.points) {
    domain = domain.unite(isl::union_set(sizes.Of(PointOf(p).domain)));
    dims = std::max(dims, PointOf(p).dims);
  }
  isl::union_map before(nest_.context, "{ }");
  for (const NestFlow& flow : nest_.flows) {
    if (!IsWithin(flow, c)) continue;
    before = before.unite(isl::union_map(sizes.Of(flow.map.reverse())));
  }
  const isl::schedule_constraints constraints =
      isl::schedule_constraints::on_domain(domain)
          .set_context(sizes.Context())
          .set_validity(before)
          .set_coincidence(before)
          .set_proximity(before);
  // Statements that stand a step apart for the sake of shorter distances make
  // tiles that read more tiles: without constants first.
  const auto aligned = Compute(constraints, 0, steps_max);
  const Band own = aligned ? BandOf(*aligned) : Band();
  if (own.rank == dims) return TakeBand(*aligned, sizes, c);
  const auto shifted = Compute(constraints, -1, steps_max);
  const Band other = shifted ? BandOf(*shifted) : Band();
  if (!aligned && !shifted) {
    return absl::UnimplementedError(
        absl::StrCat("no order of the points of task ",
                     PointOf(component.points.front()).name,
                     " in tiles was found in bounded time"));
  }
  return TakeBand(!aligned || own < other ? *shifted : *aligned, sizes, c);
}

absl::Status Scheduler::SplitFlows() {
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
      part.map = flow.map.intersect_domain(piece.domain);
      for (const AffineExpr& form : piece.forms) {
        part.parts.push_back(Decompose(form, consumer.theta, consumer.dims));
      }
      flows.push_back(std::move(part));
    }
  }
  nest_.flows = std::move(flows);
  return absl::OkStatus();
}

absl::Status Scheduler::Run() {
  FindComponents();
  for (size_t c = 0; c < nest_.components.size(); ++c) {
    DOGGED_RETURN_IF_ERROR(Schedule(static_cast<int32_t>(c)));
  }
  return SplitFlows();
}

}  // namespace

absl::Status ScheduleNest(Nest& nest) { return Scheduler(nest).Run(); }

}  // namespace dogged::dsl
