#include "dsl/lower/chunk_choice.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"

namespace dogged::dsl {
namespace {

bool Mentions(const AffineExpr& expr, int d) {
  return expr.coefficients[d] != 0;
}

bool Mentions(const Guard& guard, int d) {
  for (const std::vector<Constraint>& all_of : guard.any_of) {
    for (const Constraint& c : all_of) {
      if (Mentions(c.expr, d)) return true;
    }
  }
  return false;
}

bool Mentions(const Dimension& dimension, int d) {
  for (const auto* bounds : {&dimension.lower, &dimension.upper}) {
    for (const AffineBound& bound : *bounds) {
      if (Mentions(bound.expr, d)) return true;
    }
  }
  return false;
}

// Index d of the class takes the same values whatever the others are.
bool IsFree(const PointClass& c, int d) {
  const Dimension& dimension = c.domain.dimensions[d];
  for (const auto* bounds : {&dimension.lower, &dimension.upper}) {
    for (const AffineBound& bound : *bounds) {
      if (!bound.expr.IsConstant()) return false;
    }
  }
  for (const Dimension& other : c.domain.dimensions) {
    if (Mentions(other, d)) return false;
  }
  if (Mentions(c.domain.guard, d)) return false;
  if (c.priority.has_value() && Mentions(*c.priority, d)) return false;
  return std::none_of(c.uses.begin(), c.uses.end(),
                      [d](const Use& use) { return Mentions(use.guard, d); });
}

// The index of the class that alone gives index `i` of what `create` makes, if
// the class has all of the array along it; -1 if there is none.
int ChunkedBy(const PointProgram& points, const PointClass& c,
              const Create& create, int i) {
  const Box& box = points.arrays[create.array].box;
  if (box.size() != points.arrays[create.array].rank) return -1;
  const int d = create.map[i].LastIndex();
  if (d < 0 || create.map[i] != AffineExpr::Index(d, create.map[i].constant) ||
      !IsFree(c, d)) {
    return -1;
  }
  for (int other = 0; other < box.size(); ++other) {
    if (other != i && Mentions(create.map[other], d)) return -1;
  }
  const Dimension& dimension = c.domain.dimensions[d];
  const int64_t offset = create.map[i].constant;
  const bool covers = dimension.Lower({}) + offset == box.lower[i] &&
                      dimension.Upper({}) + offset == box.upper[i];
  return covers ? d : -1;
}

// Chunks of an input begin where those of its file do.
bool TakesChunks(const PointClass& c, int d) {
  if (c.body != PointClass::Body::kInput) return true;
  const auto at = std::find(c.input.axis.begin(), c.input.axis.end(), d);
  return at != c.input.axis.end() &&
         c.input.step[static_cast<size_t>(at - c.input.axis.begin())] == 1;
}

bool CanGoAlong(const PointProgram& points, int32_t array, int i) {
  bool is_made = false;
  for (const PointClass& c : points.classes) {
    for (const Create& create : c.creates) {
      if (create.array != array) continue;
      const int d = ChunkedBy(points, c, create, i);
      if (d < 0 || !TakesChunks(c, d)) return false;
      is_made = true;
    }
  }
  return is_made;
}

}  // namespace

absl::StatusOr<ChunkChoice> ChooseChunks(const PointProgram& points) {
  ChunkChoice out;
  for (size_t a = 0; a < points.arrays.size(); ++a) {
    const PointArray& array = points.arrays[a];
    int32_t& best = out.array_index.emplace_back(-1);
    const int version = VersionIndexOf(points, static_cast<int32_t>(a));
    int64_t longest = 0;
    for (int i = 0; i < array.rank; ++i) {
      if (i == version || !CanGoAlong(points, static_cast<int32_t>(a), i)) {
        continue;
      }
      const int64_t extent = array.box.upper[i] - array.box.lower[i] + 1;
      if (extent <= longest) continue;
      longest = extent;
      best = i;
    }
    out.longest = std::max(out.longest, longest);
  }
  for (const PointClass& c : points.classes) {
    std::optional<int32_t> index;
    for (const Create& create : c.creates) {
      const int32_t i = out.array_index[create.array];
      const int32_t d = i < 0 ? -1 : ChunkedBy(points, c, create, i);
      if (index.value_or(d) != d) {
        return absl::UnimplementedError(absl::StrCat(
            "task ", c.name, " makes arrays that go along unlike indices"));
      }
      index = d;
    }
    out.class_index.push_back(index.value_or(-1));
  }
  return out;
}

}  // namespace dogged::dsl
