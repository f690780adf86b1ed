#include "dsl/nest/arrange_tile.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/nest/decompose.h"
#include "dsl/nest/strong_components.h"

namespace dogged::dsl {
namespace {

// How well the band's member would run innermost: over elements side by side,
// or over none, and without waiting.
int ScoreOf(const Nest& nest, const NestComponent& component, size_t member) {
  int score = component.is_coincident[member] ? 100 : 0;
  for (const int32_t p : component.points) {
    const NestPoint& point = nest.points[p];
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
bool HasChains(const Nest& nest, const NestComponent& component) {
  const auto is_here = [&component](int32_t p) {
    return std::find(component.points.begin(), component.points.end(), p) !=
           component.points.end();
  };
  std::vector<NestFlow> flows;
  std::vector<std::vector<int32_t>> reads(nest.points.size());
  for (NestFlow flow : nest.flows) {
    if (!is_here(flow.consumer) || !is_here(flow.producer)) continue;
    const NestPoint& consumer = nest.points[flow.consumer];
    const NestPoint& producer = nest.points[flow.producer];
    std::string same = "true";
    for (size_t m = 0; m < consumer.theta.size(); ++m) {
      if (static_cast<int32_t>(m) == component.inner) continue;
      absl::StrAppend(&same, " and ", IslText(consumer.theta[m], "i"), " = ",
                      IslText(producer.theta[m], "j"));
    }
    flow.map = flow.map.intersect(PairsWhere(nest, flow, same));
    if (flow.map.is_empty()) continue;
    reads[flow.consumer].push_back(flow.producer);
    flows.push_back(std::move(flow));
  }
  std::vector<size_t> part_of(nest.points.size());
  const auto parts = StrongComponents(reads);
  for (size_t k = 0; k < parts.size(); ++k) {
    for (const int32_t p : parts[k]) part_of[p] = k;
  }
  return std::any_of(flows.begin(), flows.end(), [&](const NestFlow& flow) {
    if (part_of[flow.consumer] != part_of[flow.producer]) return false;
    const NestPoint& consumer = nest.points[flow.consumer];
    const NestPoint& producer = nest.points[flow.producer];
    const isl::map elsewhere = PairsWhere(
        nest, flow,
        absl::StrCat(IslText(consumer.theta[component.inner], "i"),
                     " != ", IslText(producer.theta[component.inner], "j")));
    return !flow.map.intersect(elsewhere).is_empty();
  });
}

// The member of the band that makes wavefronts with the inner one. No
// dependence goes back along a member, so points with one sum of two members,
// and the same others, need nothing of each other: Wolfe, Loop skewing: the
// wavefront method revisited, IJPP 15(4), 1986.
int32_t WaveFor(const Nest& nest, const NestComponent& component) {
  const bool is_whole = std::all_of(
      component.points.begin(), component.points.end(),
      [&](int32_t p) { return nest.points[p].dims <= component.rank; });
  if (!is_whole || !HasChains(nest, component)) return -1;
  const int32_t first = component.planes >= 0 ? 1 : 0;
  for (int32_t m = component.rank - 1; m >= first; --m) {
    if (m != component.inner) return m;
  }
  return -1;
}

}  // namespace

void ArrangeTile(NestComponent& component, Nest& nest) {
  if (component.rank == 0) return;
  int best = 0;
  const size_t first = component.planes >= 0 && component.rank > 1 ? 1 : 0;
  for (size_t m = first; m < static_cast<size_t>(component.rank); ++m) {
    const int score = ScoreOf(nest, component, m);
    if (component.inner >= 0 && score < best) continue;
    component.inner = static_cast<int32_t>(m);
    best = score;
  }
  component.wave = WaveFor(nest, component);
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
      nest.context, absl::StrCat("{ ", IslTuple("", component.order_rank, "d"),
                                 " -> [", absl::StrJoin(order, ", "), "] }"));
  for (const int32_t p : component.points) {
    NestPoint& point = nest.points[p];
    point.order = point.order->apply_range(arranged);
  }
}

}  // namespace dogged::dsl
