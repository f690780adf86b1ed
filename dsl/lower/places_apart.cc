#include "dsl/lower/places_apart.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "runtime/graph/saturating.h"

namespace dogged::dsl {
namespace {

// Each place costs a class in every tile that it is in.
constexpr int64_t kPlacesMax = 256;

// A task class without tables at the places of all its uses, one after another.
struct PlaceBox {
  std::vector<int32_t> dims;  // ascending
  IndexVector lower;
  IndexVector extents;
};

// The box of all indices that tables of `c` depend on; none if there are none.
std::optional<PlaceBox> BoxOf(const PointClass& c) {
  PlaceBox out;
  bool has_tables = false;
  for (int32_t d = 0; d < c.domain.size(); ++d) {
    for (const Use& use : c.uses) {
      if (use.gather == nullptr) continue;
      has_tables = true;
      const auto& dims = use.gather->dims;
      const auto at = std::find(dims.begin(), dims.end(), d);
      if (at == dims.end()) continue;
      const auto i = static_cast<int>(at - dims.begin());
      out.dims.push_back(d);
      out.lower.push_back(use.gather->lower[i]);
      out.extents.push_back(use.gather->extents[i]);
      break;
    }
  }
  if (!has_tables) return std::nullopt;
  return out;
}

// What `c` makes is read, in the end, by what it reads: its places are as many
// as the program is large.
bool IsInCircle(const PointProgram& points, const PointClass& c) {
  std::vector<bool> is_made(points.arrays.size(), false);
  const auto make = [&is_made](int32_t array) {
    const bool is_new = !is_made[array];
    is_made[array] = true;
    return is_new;
  };
  for (const Create& create : c.creates) make(create.array);
  const auto is_read = [&is_made](const Use& use) {
    return is_made[use.array];
  };
  for (bool has_grown = true; std::exchange(has_grown, false);) {
    for (const PointClass& other : points.classes) {
      if (!std::any_of(other.uses.begin(), other.uses.end(), is_read)) continue;
      for (const Create& create : other.creates) {
        has_grown |= make(create.array);
      }
    }
    for (const PointReduction& reduction : points.reductions) {
      if (is_made[reduction.source]) {
        has_grown |= make(reduction.array);
      }
    }
  }
  return std::any_of(c.uses.begin(), c.uses.end(), is_read);
}

int64_t CountOf(const PlaceBox& box) {
  int64_t count = 1;
  for (const int64_t extent : box.extents) count = SaturatingMul(count, extent);
  return count;
}

void SetIndex(int32_t d, int64_t value, Domain& domain) {
  domain.Narrow({.expr = AffineExpr::Index(d) - AffineExpr::Constant(value),
                 .kind = Constraint::Kind::kZero});
  // As a number, where its bounds are.
  Dimension& dimension = domain.dimensions[d];
  const auto is_constant = [](const AffineBound& bound) {
    return bound.expr.IsConstant();
  };
  if (std::all_of(dimension.lower.begin(), dimension.lower.end(),
                  is_constant) &&
      std::all_of(dimension.upper.begin(), dimension.upper.end(),
                  is_constant) &&
      dimension.Lower({}) == value && dimension.Upper({}) == value) {
    dimension.lower = {{.expr = AffineExpr::Constant(value)}};
    dimension.upper = dimension.lower;
  }
}

// `c` at one place; none if it has no task there.
std::optional<PointClass> AtPlace(const PointClass& c, const PlaceBox& box,
                                  int64_t place) {
  PointClass out = c;
  IndexVector task;
  for (int d = 0; d < c.domain.size(); ++d) task.push_back(0);
  for (int i = box.extents.size() - 1; i >= 0; --i) {
    const int32_t d = box.dims[i];
    task[d] = box.lower[i] + place % box.extents[i];
    place /= box.extents[i];
    SetIndex(d, task[d], out.domain);
    if (out.needed) SetIndex(d, task[d], *out.needed);
  }
  if (out.domain.Count() == 0) return std::nullopt;
  // Labels at a number, as if the program said so.
  const auto with_numbers = [&](AffineMap& map) {
    for (AffineExpr& entry : map) {
      for (const int32_t d : box.dims) {
        entry.constant += std::exchange(entry.coefficients[d], 0) * task[d];
      }
    }
  };
  for (Create& create : out.creates) with_numbers(create.map);
  for (Use& use : out.uses) with_numbers(use.map);
  for (Use& use : out.uses) {
    if (use.gather == nullptr) continue;
    const auto at = static_cast<size_t>(use.gather->PlaceOf(task));
    for (const Gather::Table& table : use.gather->tables) {
      const int64_t value = table.values[at];
      // Its guard leaves such a label out.
      if (value == Gather::kNone) continue;
      use.map[table.position].constant += value;
    }
    use.gather = nullptr;
  }
  return out;
}

}  // namespace

PointProgram WithPlacesApart(PointProgram points) {
  int64_t count = 0;
  for (const PointClass& c : points.classes) {
    const auto box = BoxOf(c);
    if (!box) continue;
    if (IsInCircle(points, c)) return points;
    count = SaturatingAdd(count, CountOf(*box));
  }
  if (count == 0 || count > kPlacesMax) return points;
  std::vector<PointClass> classes;
  for (PointClass& c : points.classes) {
    const auto box = BoxOf(c);
    if (!box) {
      classes.push_back(std::move(c));
      continue;
    }
    const int64_t places = CountOf(*box);
    for (int64_t place = 0; place < places; ++place) {
      if (auto at = AtPlace(c, *box, place)) classes.push_back(*std::move(at));
    }
  }
  points.classes = std::move(classes);
  return points;
}

}  // namespace dogged::dsl
