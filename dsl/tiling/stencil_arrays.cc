#include "dsl/tiling/stencil_arrays.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace dogged::dsl {
namespace {

// Arrays that each array is made of.
using Sources = std::vector<std::vector<int32_t>>;

Sources SourcesOf(const PointProgram& points) {
  Sources out(points.arrays.size());
  for (const PointReduction& r : points.reductions) {
    out[r.array].push_back(r.source);
  }
  for (const PointClass& c : points.classes) {
    for (const Create& create : c.creates) {
      auto& sources = out[create.array];
      for (const Use& use : c.uses) sources.push_back(use.array);
    }
  }
  for (auto& sources : out) {
    std::sort(sources.begin(), sources.end());
    sources.erase(std::unique(sources.begin(), sources.end()), sources.end());
  }
  return out;
}

// Marks the sources of marked arrays.
void MarkSources(const Sources& sources, std::vector<bool>& marked) {
  std::vector<size_t> open;
  for (size_t a = 0; a < marked.size(); ++a) {
    if (marked[a]) open.push_back(a);
  }
  while (!open.empty()) {
    const size_t a = open.back();
    open.pop_back();
    for (const int32_t source : sources[a]) {
      if (marked[source]) continue;
      marked[source] = true;
      open.push_back(source);
    }
  }
}

// Arrays that are made of themselves, and all that is made of these.
std::vector<bool> SteppedArrays(const Sources& sources) {
  std::vector<bool> out(sources.size(), false);
  for (size_t a = 0; a < sources.size(); ++a) {
    std::vector<bool> marked(sources.size(), false);
    for (const int32_t source : sources[a]) {
      marked[source] = true;
    }
    MarkSources(sources, marked);
    out[a] = marked[a];
  }
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (size_t a = 0; a < sources.size(); ++a) {
      const bool is_made = std::any_of(sources[a].begin(), sources[a].end(),
                                       [&](int32_t s) { return out[s]; });
      if (out[a] || !is_made) continue;
      out[a] = has_changed = true;
    }
  }
  return out;
}

// Each index is read at a constant distance from where the task creates, and
// the last one, which is time, no later and not long before.
bool IsAtDistance(const PointClass& c, const Use& use) {
  const AffineMap& created = c.creates.front().map;
  AffineExpr distance;
  for (size_t i = 0; i < created.size(); ++i) {
    distance = use.map[i] - created[i];
    if (!distance.IsConstant()) return false;
  }
  return distance.constant <= 0 && distance.constant >= -kLagMax;
}

}  // namespace

StencilArrays FindStencilArrays(const PointProgram& points) {
  const Sources sources = SourcesOf(points);
  const std::vector<bool> stepped = SteppedArrays(sources);
  const auto rank = [&points](int32_t array) {
    return points.arrays[array].rank;
  };
  StencilArrays out;
  int32_t highest = 0;
  for (const PointClass& c : points.classes) {
    for (const Create& create : c.creates) {
      highest = std::max(highest, rank(create.array));
      if (!stepped[create.array]) continue;
      out.rank = std::max(out.rank, rank(create.array));
    }
  }
  const bool has_steps = out.has_steps = out.rank > 0;
  if (!has_steps) out.rank = highest;
  std::vector<bool>& has_time = out.has_time;
  std::vector<bool> is_needed;  // by steps, which go before tasks behind
  for (size_t a = 0; a < points.arrays.size(); ++a) {
    has_time.push_back(points.arrays[a].rank == out.rank);
    is_needed.push_back(has_time[a] && (stepped[a] || !has_steps));
  }
  MarkSources(sources, is_needed);
  for (size_t a = 0; a < points.arrays.size(); ++a) {
    has_time[a] = has_time[a] && is_needed[a];
  }
  bool has_changed = true;
  const auto look = [&](int32_t made, int32_t source, bool is_at_distance) {
    if (!has_time[source] || stepped[source]) return;
    if (has_time[made] ? is_at_distance : !is_needed[made]) return;
    has_time[source] = false;
    has_changed = true;
  };
  while (std::exchange(has_changed, false)) {
    for (const PointReduction& r : points.reductions) {
      look(r.array, r.source, false);
    }
    for (const PointClass& c : points.classes) {
      for (const Use& use : c.uses) {
        look(c.creates.front().array, use.array,
             has_time[use.array] && has_time[c.creates.front().array] &&
                 IsAtDistance(c, use));
      }
    }
  }
  return out;
}

std::vector<bool> RecurrentArrays(const PointProgram& points) {
  std::vector<std::vector<size_t>> sources(points.arrays.size());
  for (const PointClass& c : points.classes) {
    for (const Create& create : c.creates) {
      for (const Use& use : c.uses) {
        sources[create.array].push_back(static_cast<size_t>(use.array));
      }
    }
  }
  std::vector<bool> out;
  for (size_t a = 0; a < sources.size(); ++a) {
    std::vector<bool> is_seen(sources.size(), false);
    std::vector<size_t> open = {a};
    while (!open.empty()) {
      const size_t made = open.back();
      open.pop_back();
      for (const size_t source : sources[made]) {
        if (is_seen[source]) continue;
        is_seen[source] = true;
        open.push_back(source);
      }
    }
    out.push_back(is_seen[a]);
  }
  return out;
}

}  // namespace dogged::dsl
