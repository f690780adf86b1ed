#include "dsl/chunks/chunk_choice.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "dsl/chunks/chunk_cells.h"

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

// Index d of the domain takes the same values whatever the others are.
bool IsFree(const Domain& domain, int d) {
  const Dimension& dimension = domain.dimensions[d];
  for (const auto* bounds : {&dimension.lower, &dimension.upper}) {
    for (const AffineBound& bound : *bounds) {
      if (!bound.expr.IsConstant()) return false;
    }
  }
  for (const Dimension& other : domain.dimensions) {
    if (Mentions(other, d)) return false;
  }
  return !Mentions(domain.guard, d);
}

// Nor does it count for when and what the class reads.
bool IsFree(const PointClass& c, int d) {
  if (!IsFree(c.domain, d)) return false;
  if (c.priority.has_value() && Mentions(*c.priority, d)) return false;
  return std::none_of(c.uses.begin(), c.uses.end(),
                      [d](const Use& use) { return Mentions(use.guard, d); });
}

// The index that alone, as itself plus a number, is index `i` of a map; -1 if
// there is none.
int IndexAt(const AffineMap& map, int i) {
  const int d = map[i].LastIndex();
  if (d < 0 || map[i] != AffineExpr::Index(d, map[i].constant)) return -1;
  for (int other = 0; other < std::ssize(map); ++other) {
    if (other != i && Mentions(map[other], d)) return -1;
  }
  return d;
}

// The index of `domain` by which labels of the array are all made along index
// `i`, and by nothing else; -1 if there is none.
int CoveredBy(const PointProgram& points, int32_t array, const AffineMap& map,
              const Domain& domain, int i) {
  const Box& box = points.arrays[array].box;
  if (box.size() != points.arrays[array].rank) return -1;
  const int d = FreeIndexAt(map, i, domain);
  if (d < 0) return -1;
  const Dimension& dimension = domain.dimensions[d];
  const int64_t offset = map[i].constant;
  const bool covers = dimension.Lower({}) + offset == box.lower[i] &&
                      dimension.Upper({}) + offset == box.upper[i];
  return covers ? d : -1;
}

// Points that differ by it are of one round.
bool IsTimeless(const PointProgram& points, const AffineExpr& time, int d) {
  return !points.repeat.has_value() || !Mentions(time, d);
}

// The index of the class that gives index `i` of what `create` makes, if chunks
// can go along it; -1 if there is none.
int ChunkedBy(const PointProgram& points, const PointClass& c,
              const Create& create, int i) {
  const int d = CoveredBy(points, create.array, create.map, c.domain, i);
  return d >= 0 && IsFree(c, d) && IsTimeless(points, c.time, d) ? d : -1;
}

// The index of `over` along which what a reduction reads is in blocks, with
// the choice as it is; -1 if there is none.
int ReadAlong(const PointReduction& reduction, const ChunkChoice& choice) {
  const int32_t i = choice.array_index[reduction.source];
  return i < 0 ? -1 : FreeIndexAt(reduction.source_map, i, reduction.over);
}

bool TakesChunks(const PointProgram& points, const PointReduction& reduction,
                 const ChunkChoice& choice, int i) {
  const int d =
      CoveredBy(points, reduction.array, reduction.map, reduction.domain, i);
  return d >= 0 && d == ReadAlong(reduction, choice) &&
         IsTimeless(points, reduction.time, d);
}

// Chunks of an input begin where those of its file do.
bool TakesChunks(const PointClass& c, int d) {
  if (c.body != PointClass::Body::kInput) return true;
  const auto at = std::find(c.input.axis.begin(), c.input.axis.end(), d);
  return at != c.input.axis.end() &&
         c.input.step[static_cast<size_t>(at - c.input.axis.begin())] == 1;
}

// True if the class makes a part of what lies along index `i`, at least: in the
// indices of its labels, this one counts for nothing else.
bool MakesPart(const PointProgram& points, const PointClass& c, int i) {
  const std::vector<PointClass> pieces = InLabelIndices(points, c);
  return !pieces.empty() &&
         std::all_of(pieces.begin(), pieces.end(), [&](const PointClass& one) {
           return IsFree(one, i) && IsTimeless(points, one.time, i);
         });
}

bool CanGoAlong(const PointProgram& points, const ChunkChoice& choice,
                int32_t array, int i) {
  bool is_made = false;
  for (const PointClass& c : points.classes) {
    for (const Create& create : c.creates) {
      if (create.array != array) continue;
      const int d = ChunkedBy(points, c, create, i);
      if (d < 0 ? !MakesPart(points, c, i) : !TakesChunks(c, d)) return false;
      is_made = true;
    }
  }
  for (const PointReduction& reduction : points.reductions) {
    if (reduction.array != array) continue;
    if (!TakesChunks(points, reduction, choice, i)) return false;
    is_made = true;
  }
  return is_made;
}

int64_t Extent(const PointArray& array, int i) {
  return i < 0 ? 0 : array.box.upper[i] - array.box.lower[i] + 1;
}

// The longest index of an array that chunks can go along, with the choice as it
// is for the others; -1 if there is none.
int32_t LongestIndex(const PointProgram& points, const ChunkChoice& choice,
                     int32_t array) {
  // Labels of a loop's condition are looked at one by one.
  if (points.repeat.has_value() && points.repeat->array == array) return -1;
  const int version = VersionIndexOf(points, array);
  int32_t best = -1;
  for (int i = 0; i < points.arrays[array].rank; ++i) {
    if (i == version || !CanGoAlong(points, choice, array, i)) continue;
    const PointArray& one = points.arrays[array];
    if (Extent(one, i) > Extent(one, best)) best = i;
  }
  return best;
}

}  // namespace

int FreeIndexAt(const AffineMap& map, int i, const Domain& domain) {
  const int d = IndexAt(map, i);
  return d >= 0 && IsFree(domain, d) ? d : -1;
}

absl::StatusOr<ChunkChoice> ChooseChunks(const PointProgram& points) {
  ChunkChoice out;
  out.array_index.assign(points.arrays.size(), -1);
  // A reduction follows what it reads, which may be another one's.
  bool is_new = true;
  for (size_t round = 0; is_new && round <= points.arrays.size(); ++round) {
    is_new = false;
    for (size_t a = 0; a < points.arrays.size(); ++a) {
      const int32_t index = LongestIndex(points, out, static_cast<int32_t>(a));
      is_new |= index != out.array_index[a];
      out.array_index[a] = index;
    }
  }
  for (size_t a = 0; a < points.arrays.size(); ++a) {
    out.longest =
        std::max(out.longest, Extent(points.arrays[a], out.array_index[a]));
  }
  for (const PointReduction& reduction : points.reductions) {
    out.reduction_index.push_back(ReadAlong(reduction, out));
  }
  for (const PointClass& c : points.classes) {
    std::optional<int32_t> index;
    for (const Create& create : c.creates) {
      const int32_t i = out.array_index[create.array];
      int32_t d = i < 0 ? -1 : ChunkedBy(points, c, create, i);
      if (i >= 0 && d < 0) d = ChunkChoice::kInCells;
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
