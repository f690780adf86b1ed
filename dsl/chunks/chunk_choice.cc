#include "dsl/chunks/chunk_choice.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

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

// Chunks of an input begin where those of its file do.
bool TakesChunks(const PointClass& c, int d) {
  if (c.body != PointClass::Body::kInput) return true;
  const auto at = std::find(c.input.axis.begin(), c.input.axis.end(), d);
  return at != c.input.axis.end() &&
         c.input.step[at - c.input.axis.begin()] == 1;
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

int64_t Extent(const PointArray& array, int i) {
  return i < 0 ? 0 : array.box.upper[i] - array.box.lower[i] + 1;
}

// Chooses for one array after the other, the largest first, and with each for
// those that have to go along with it.
class ChunkChooser {
 public:
  explicit ChunkChooser(const PointProgram& points) : points_(points) {
    chosen_.assign(points.arrays.size(), -1);
  }
  std::vector<int32_t> Choose();
  // Why the largest array is in no blocks; empty if it is.
  const std::string& reason() const { return reason_; }
  // Why it is not in those of its longest index; empty if it is.
  const std::string& missed() const { return largest_missed_; }

 private:
  struct Place {  // index `i` of the labels of an array
    int32_t array;
    int32_t i;
  };

  void ChooseFor(int32_t array);
  // Adds an index of an array. Like all that follow, it gives why not, and
  // nothing if it is well.
  std::string Take(Place place);
  // Adds what an index that was taken asks of others: all that makes these
  // labels, and reductions of them, go along it, with what they make and read.
  std::string TakeNext(Place place);
  std::string TakeOf(const PointClass& c, const Create& create, Place place);
  std::string TakeOf(const PointReduction& reduction, Place place);
  // Adds those indices of a map that mention index d of a task.
  std::string TakeIndex(int32_t array, const AffineMap& map, int d);
  std::string Unlike(const std::string& name, Place place) const {
    return absl::StrCat(
        name, " has a range, a condition or an index that depends on index ",
        place.i + 1, " of ", points_.arrays[place.array].name,
        ", by which that would be cut");
  }
  bool IsMade(int32_t array) const;
  int64_t LabelsOf(int32_t array) const;

  const PointProgram& points_;
  std::vector<int32_t> chosen_;  // by array
  std::vector<Place> open_;
  std::string reason_;
  std::string missed_;  // of the array chosen last
  std::string largest_missed_;
};

bool ChunkChooser::IsMade(int32_t array) const {
  const auto makes = [array](const Create& create) {
    return create.array == array;
  };
  return std::any_of(points_.classes.begin(), points_.classes.end(),
                     [&](const PointClass& c) {
                       return std::any_of(c.creates.begin(), c.creates.end(),
                                          makes);
                     }) ||
         std::any_of(points_.reductions.begin(), points_.reductions.end(),
                     [array](const PointReduction& reduction) {
                       return reduction.array == array;
                     });
}

// At a step.
int64_t ChunkChooser::LabelsOf(int32_t array) const {
  const PointArray& one = points_.arrays[array];
  if (one.box.size() != one.rank) return 0;
  const int version = VersionIndexOf(points_, array);
  int64_t out = 1;
  for (int n = 0; n < one.rank; ++n) {
    if (n == version) continue;
    if (__builtin_mul_overflow(out, Extent(one, n), &out)) return INT64_MAX;
  }
  return out;
}

std::string ChunkChooser::Take(Place place) {
  int32_t& chosen = chosen_[place.array];
  if (chosen == place.i) return "";
  const std::string& name = points_.arrays[place.array].name;
  if (chosen >= 0) return absl::StrCat(name, " is read at unlike indices");
  // Labels of a loop's condition are looked at one by one.
  if (points_.repeat.has_value() && points_.repeat->array == place.array) {
    return absl::StrCat(name, " ends the loop");
  }
  if (VersionIndexOf(points_, place.array) == place.i) {
    return absl::StrCat("a step of ", name, " waits for the one before");
  }
  chosen = place.i;
  open_.push_back(place);
  return "";
}

std::string ChunkChooser::TakeIndex(int32_t array, const AffineMap& map,
                                    int d) {
  for (int n = 0; n < std::ssize(map); ++n) {
    if (!Mentions(map[n], d)) continue;
    const std::string no = Take({array, n});
    if (!no.empty()) return no;
  }
  return "";
}

std::string ChunkChooser::TakeNext(Place place) {
  for (const PointClass& c : points_.classes) {
    for (const Create& create : c.creates) {
      if (create.array != place.array) continue;
      const std::string no = TakeOf(c, create, place);
      if (!no.empty()) return no;
    }
  }
  for (const PointReduction& reduction : points_.reductions) {
    const std::string no = TakeOf(reduction, place);
    if (!no.empty()) return no;
  }
  return "";
}

std::string ChunkChooser::TakeOf(const PointClass& c, const Create& create,
                                 Place place) {
  const int d = ChunkedBy(points_, c, create, place.i);
  if (d < 0 ? !MakesPart(points_, c, place.i) : !TakesChunks(c, d)) {
    return Unlike(absl::StrCat("task ", c.name), place);
  }
  const int along = create.map[place.i].LastIndex();
  if (along < 0) return "";
  for (const Create& other : c.creates) {
    const std::string no = TakeIndex(other.array, other.map, along);
    if (!no.empty()) return no;
  }
  for (const Use& use : c.uses) {
    std::string no = TakeIndex(use.array, use.map, along);
    // Labels that are read by a table lie in blocks along its index.
    for (int n = 0; n < std::ssize(use.map) && no.empty(); ++n) {
      if (use.IsGathered(static_cast<size_t>(n))) no = Take({use.array, n});
    }
    if (!no.empty()) return no;
  }
  return "";
}

std::string ChunkChooser::TakeOf(const PointReduction& reduction, Place place) {
  if (reduction.array == place.array) {
    const int d = CoveredBy(points_, place.array, reduction.map,
                            reduction.domain, place.i);
    const auto mentions = [d](const AffineExpr& index) {
      return d >= 0 && Mentions(index, d);
    };
    if (std::none_of(reduction.source_map.begin(), reduction.source_map.end(),
                     mentions) ||
        !IsTimeless(points_, reduction.time, d)) {
      return Unlike(reduction.name, place);
    }
    const std::string no = TakeIndex(reduction.source, reduction.source_map, d);
    if (!no.empty()) return no;
  }
  if (reduction.source != place.array) return "";
  const int d = FreeIndexAt(reduction.source_map, place.i, reduction.over);
  if (d < 0) return Unlike(reduction.name, place);
  return TakeIndex(reduction.array, reduction.map, d);
}

void ChunkChooser::ChooseFor(int32_t array) {
  const PointArray& one = points_.arrays[array];
  if (one.box.size() != one.rank) return;
  std::vector<int32_t> indices;
  for (int32_t i = 0; i < one.rank; ++i) indices.push_back(i);
  std::stable_sort(indices.begin(), indices.end(), [&](int32_t a, int32_t b) {
    return Extent(one, a) > Extent(one, b);
  });
  const int version = VersionIndexOf(points_, array);
  for (const int32_t i : indices) {
    if (i == version) continue;
    const std::vector<int32_t> before = chosen_;
    open_.clear();
    std::string no = Take({array, i});
    while (no.empty() && !open_.empty()) {
      const Place next = open_.back();
      open_.pop_back();
      no = TakeNext(next);
    }
    if (no.empty()) {
      missed_ = std::exchange(reason_, "");
      return;
    }
    if (reason_.empty()) reason_ = no;
    chosen_ = before;
  }
}

std::vector<int32_t> ChunkChooser::Choose() {
  std::vector<std::pair<int64_t, int32_t>> arrays;  // by labels, largest first
  for (size_t a = 0; a < points_.arrays.size(); ++a) {
    const auto array = static_cast<int32_t>(a);
    // Nothing but tables reads some arrays, and nothing makes these.
    if (IsMade(array)) arrays.emplace_back(-LabelsOf(array), array);
  }
  std::sort(arrays.begin(), arrays.end());
  for (const auto& [labels, array] : arrays) {
    if (chosen_[array] < 0) ChooseFor(array);
    if (array == arrays.front().second) {
      largest_missed_ = missed_;
      if (!reason_.empty()) return chosen_;
    }
    reason_.clear();
  }
  return chosen_;
}

}  // namespace

int FreeIndexAt(const AffineMap& map, int i, const Domain& domain) {
  const int d = IndexAt(map, i);
  return d >= 0 && IsFree(domain, d) ? d : -1;
}

absl::StatusOr<ChunkChoice> ChooseChunks(const PointProgram& points) {
  ChunkChoice out;
  ChunkChooser chooser(points);
  out.array_index = chooser.Choose();
  out.missed = chooser.missed();
  for (size_t a = 0; a < points.arrays.size(); ++a) {
    out.longest =
        std::max(out.longest, Extent(points.arrays[a], out.array_index[a]));
  }
  if (!chooser.reason().empty()) {
    return absl::UnimplementedError(chooser.reason());
  }
  for (const PointReduction& reduction : points.reductions) {
    const int32_t i = out.array_index[reduction.source];
    out.reduction_index.push_back(
        i < 0 ? -1 : FreeIndexAt(reduction.source_map, i, reduction.over));
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
