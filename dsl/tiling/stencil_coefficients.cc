#include "dsl/tiling/stencil_coefficients.h"

#include <algorithm>
#include <compare>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/tiling/stencil_arrays.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// More ways to read coefficients than a program has that somebody wrote.
constexpr size_t kPlacesMax = 64;
constexpr int32_t kFixed = -1;

// Follows: the coordinate that an index of an array goes along with: `factor`
// times a coordinate, and `offset`; or none, and it is `offset`.
struct Follows {
  int32_t coordinate = kFixed;
  int64_t factor = 1;
  int64_t offset = 0;
  friend auto operator<=>(const Follows&, const Follows&) = default;
};
using Place = std::vector<Follows>;

// By index of a class: what it follows.
using Indices = std::vector<std::optional<Follows>>;

class Placer {
 public:
  Placer(const PointProgram& points, int32_t time)
      : points_(points), time_(time) {}
  absl::StatusOr<PlacedProgram> Run();

 private:
  bool IsRecurrent(int32_t array) const;
  bool IsCoefficient(int32_t array) const { return out_.is_coefficient[array]; }
  // The array that stands for `array` as it is read at `place`.
  absl::StatusOr<int32_t> ArrayAt(int32_t array, const Place& place);
  // The tasks of `c` that create such an array, which is create `k` of theirs.
  absl::Status AddClass(const PointClass& c, size_t k, const Place& place,
                        int32_t array);
  // The gathered coefficient that has the labels of `array`, which `reader`
  // reads.
  absl::StatusOr<int32_t> GatheredOf(int32_t array, const std::string& reader);
  // A new array like `source`, that tasks create.
  int32_t AddArray(const PointArray& source);
  absl::Status PlaceUses(PointClass& c);
  Indices IndicesOf(const PointClass& c) const;
  std::optional<Place> PlaceOf(const Use& use, const PointClass& c,
                               const Indices& indices) const;
  // All of space, in its order.
  Place WholeSpace() const;

  const PointProgram& points_;
  const int32_t time_;
  std::vector<std::vector<int32_t>> reads_;  // by array, arrays
  std::map<std::pair<int32_t, Place>, int32_t> known_;
  std::map<int32_t, int32_t> gathered_;
  PlacedProgram out_;
};

// The tasks of `source`, as far as they make create `k`, which is `create`.
PointClass OnlyCreate(const PointClass& source, size_t k, Create create) {
  PointClass out = source;
  out.creates = {std::move(create)};
  if (out.body == PointClass::Body::kCode) {
    out.code.code.stores = {source.code.code.stores[k]};
  }
  return out;
}

// The coordinates at which `follows` is in lower ... upper.
std::pair<int64_t, int64_t> Within(const Follows& follows, int64_t lower,
                                   int64_t upper) {
  lower -= follows.offset;
  upper -= follows.offset;
  if (follows.factor < 0) std::tie(lower, upper) = std::pair(-upper, -lower);
  const int64_t step = std::abs(follows.factor);
  return {CeilDiv(lower, step), FloorDiv(upper, step)};
}

// Whether an array depends on others of its own labels.
bool Placer::IsRecurrent(int32_t array) const {
  std::vector<bool> is_seen(reads_.size(), false);
  std::vector<int32_t> open = {array};
  while (!open.empty()) {
    const int64_t a = open.back();
    open.pop_back();
    for (const int32_t source : reads_[a]) {
      if (source == array) return true;
      if (is_seen[source]) continue;
      is_seen[source] = true;
      open.push_back(source);
    }
  }
  return false;
}

Place Placer::WholeSpace() const {
  Place out;
  for (int32_t d = 1; d <= out_.dims; ++d) out.push_back({.coordinate = d});
  return out;
}

Indices Placer::IndicesOf(const PointClass& c) const {
  Indices out(c.domain.dimensions.size());
  const Create& create = c.creates.front();
  const auto& own = out_.along[create.array];
  for (size_t i = 0; i < create.map.size(); ++i) {
    const std::optional<int> k = SingleIndex(create.map[i]);
    if (!k) continue;
    out[*k] = Follows{.coordinate = own[i].coordinate,
                      .factor = own[i].factor,
                      .offset = -create.map[i].constant};
  }
  const Box hull = HullOf(c.domain);
  for (int k = 0; k < hull.size(); ++k) {
    auto& index = out[k];
    if (!index && hull.lower[k] == hull.upper[k]) {
      index = Follows{.offset = hull.lower[k]};
    }
  }
  return out;
}

// None if some index follows no coordinate, or two the same.
std::optional<Place> Placer::PlaceOf(const Use& use, const PointClass& c,
                                     const Indices& indices) const {
  Place out;
  for (const AffineExpr& expr : use.map) {
    Follows follows{.offset = expr.constant};
    for (size_t k = 0; k < indices.size(); ++k) {
      const int64_t factor = expr.coefficients[k];
      if (factor == 0) continue;
      if (!indices[k]) return std::nullopt;
      follows.offset += factor * indices[k]->offset;
      if (indices[k]->coordinate == kFixed) continue;
      if (follows.coordinate != kFixed) return std::nullopt;
      follows.coordinate = indices[k]->coordinate;
      follows.factor = factor * indices[k]->factor;
      if (std::abs(follows.factor) > kFactorMax) return std::nullopt;
      for (const Follows& other : out) {
        if (other.coordinate == follows.coordinate) return std::nullopt;
      }
    }
    out.push_back(follows);
  }
  // At the edge of space, which a task creates, a number is a distance.
  const Create& create = c.creates.front();
  const auto& own = out_.along[create.array];
  bool is_whole_space = static_cast<int32_t>(out.size()) == out_.dims &&
                        !points_.arrays[use.array].is_scalar_input;
  for (size_t i = 0; i < out.size() && is_whole_space; ++i) {
    const auto coordinate = static_cast<int32_t>(i) + 1;
    const auto at = std::find_if(own.begin(), own.end(),
                                 [coordinate](const Along& along) {
                                   return along.coordinate == coordinate;
                                 }) -
                    own.begin();
    is_whole_space = (out[i].coordinate == coordinate && out[i].factor == 1) ||
                     (out[i].coordinate == kFixed &&
                      at < static_cast<ptrdiff_t>(own.size()) &&
                      create.map[at].IsConstant());
  }
  if (is_whole_space) return WholeSpace();
  for (Follows& follows : out) {
    // A shift by a multiple of the factor is a distance, which halo and carried
    // time steps take care of: the place keeps only the rest.
    const bool is_far = follows.coordinate > 0 ||
                        (follows.coordinate == 0 && IsRecurrent(use.array));
    if (is_far && follows.factor > 0) {
      follows.offset -=
          FloorDiv(follows.offset, follows.factor) * follows.factor;
    }
  }
  return out;
}

absl::Status Placer::PlaceUses(PointClass& c) {
  const Indices indices = IndicesOf(c);
  const bool is_gathered = out_.is_gathered[c.creates.front().array];
  for (Use& use : c.uses) {
    if (!IsCoefficient(use.array)) continue;
    const std::optional<Place> place = PlaceOf(use, c, indices);
    const PointArray& source = points_.arrays[use.array];
    const bool is_number =
        place.has_value() &&
        std::all_of(place->begin(), place->end(), [](const Follows& follows) {
          return follows.coordinate == kFixed;
        });
    if (source.is_scalar_input && !is_number) {
      return absl::UnimplementedError(
          absl::StrCat("task ", c.name, " reads ", source.name,
                       ", which is made of what all tiles hold, not at a "
                       "number"));
    }
    if (!place || (is_gathered && !is_number)) {
      DOGGED_ASSIGN_OR_RETURN(use.array, GatheredOf(use.array, c.name));
      continue;
    }
    AffineMap map;
    for (size_t i = 0; i < use.map.size(); ++i) {
      const Follows& follows = (*place)[i];
      if (follows.coordinate == kFixed) continue;
      map.push_back(use.map[i] - AffineExpr::Constant(follows.offset));
    }
    use.map = std::move(map);
    DOGGED_ASSIGN_OR_RETURN(use.array, ArrayAt(use.array, *place));
  }
  return absl::OkStatus();
}

absl::Status Placer::AddClass(const PointClass& source, size_t k,
                              const Place& place, int32_t array) {
  PointClass c = OnlyCreate(source, k, {.array = array, .map = {}});
  for (size_t i = 0; i < place.size(); ++i) {
    const AffineExpr& expr = source.creates[k].map[i];
    const AffineExpr from = expr - AffineExpr::Constant(place[i].offset);
    if (place[i].coordinate != kFixed) {
      const bool is_between =
          from.IsConstant() && from.constant % place[i].factor != 0;
      if (is_between) return absl::OkStatus();
      c.creates.front().map.push_back(from);
      continue;
    }
    if (!c.domain.Narrow({.expr = from, .kind = Constraint::Kind::kZero})) {
      return absl::OkStatus();
    }
  }
  if (HullOf(c.domain).IsEmpty()) return absl::OkStatus();
  DOGGED_RETURN_IF_ERROR(PlaceUses(c));
  out_.points.classes.push_back(std::move(c));
  return absl::OkStatus();
}

int32_t Placer::AddArray(const PointArray& source) {
  const size_t at = out_.points.arrays.size();
  out_.points.arrays.push_back(source);
  if (!source.is_scalar_input) {
    out_.points.arrays[at].name = absl::StrCat(source.name, "'", at);
  }
  out_.along.emplace_back();
  out_.is_created.push_back(true);
  out_.is_coefficient.push_back(true);
  out_.is_gathered.push_back(false);
  out_.scalar_inputs.emplace_back();
  return static_cast<int32_t>(at);
}

absl::StatusOr<int32_t> Placer::GatheredOf(int32_t array,
                                           const std::string& reader) {
  const auto [known, is_new] = gathered_.try_emplace(array, -1);
  if (!is_new) return known->second;
  const PointArray& source = points_.arrays[array];
  if (IsRecurrent(array)) {
    return absl::UnimplementedError(
        absl::StrCat("task ", reader, " reads ", source.name,
                     ", which is made of itself, not at a constant distance"));
  }
  // Coordinates are those of space, and the one that is time elsewhere.
  if (source.rank > out_.dims + 1) {
    return absl::UnimplementedError(
        absl::StrCat("task ", reader, " reads ", source.name,
                     " at sums, which has too many indices for that"));
  }
  const int32_t out = known->second = AddArray(source);
  out_.is_gathered[out] = true;
  for (int32_t i = 0; i < source.rank; ++i) {
    out_.along[out].push_back({.coordinate = out_.dims - source.rank + i + 1});
  }
  for (const PointClass& c : points_.classes) {
    for (size_t k = 0; k < c.creates.size(); ++k) {
      if (c.creates[k].array != array) continue;
      PointClass made =
          OnlyCreate(c, k, {.array = out, .map = c.creates[k].map});
      DOGGED_RETURN_IF_ERROR(PlaceUses(made));
      out_.points.classes.push_back(std::move(made));
    }
  }
  return out;
}

absl::StatusOr<int32_t> Placer::ArrayAt(int32_t array, const Place& place) {
  const auto [known, is_new] = known_.try_emplace({array, place}, array);
  if (!is_new) return known->second;
  const PointArray& source = points_.arrays[array];
  if (known_.size() > kPlacesMax) {
    return absl::UnimplementedError(
        absl::StrCat(source.name, " is read at too many places"));
  }
  // The first one has the name of the array.
  auto at = static_cast<size_t>(array);
  if (out_.is_created[at]) {
    known->second = AddArray(source);
    at = static_cast<size_t>(known->second);
  }
  out_.is_created[at] = true;
  if (source.is_scalar_input) {
    IndexVector& label = out_.scalar_inputs[at].emplace();
    for (const Follows& follows : place) label.push_back(follows.offset);
  }
  const auto position = known->second;
  PointArray& placed = out_.points.arrays[at];
  const bool has_box = source.box.size() == source.rank;
  placed.rank = 0;
  placed.box = {};
  for (size_t i = 0; i < place.size(); ++i) {
    if (place[i].coordinate == kFixed) continue;
    ++placed.rank;
    out_.along[at].push_back(
        {.coordinate = place[i].coordinate, .factor = place[i].factor});
    if (!has_box) continue;
    const auto d = static_cast<int>(i);
    const auto [lower, upper] =
        Within(place[i], source.box.lower[d], source.box.upper[d]);
    placed.box.lower.push_back(lower);
    placed.box.upper.push_back(upper);
  }
  for (const PointClass& c : points_.classes) {
    for (size_t k = 0; k < c.creates.size(); ++k) {
      if (c.creates[k].array != array) continue;
      DOGGED_RETURN_IF_ERROR(AddClass(c, k, place, position));
    }
  }
  return position;
}

absl::StatusOr<PlacedProgram> Placer::Run() {
  StencilArrays arrays = FindStencilArrays(points_);
  const int32_t rank = arrays.rank;
  out_.is_coefficient = std::move(arrays.has_time);
  out_.is_coefficient.flip();
  out_.is_created.assign(points_.arrays.size(), false);
  out_.is_gathered.assign(points_.arrays.size(), false);
  out_.dims = rank - 1;
  out_.points = points_;
  out_.points.classes.clear();
  out_.along.resize(points_.arrays.size());
  out_.scalar_inputs.resize(points_.arrays.size());
  reads_.resize(points_.arrays.size());
  for (const PointClass& c : points_.classes) {
    for (const Create& create : c.creates) {
      const int64_t a = create.array;
      for (const Use& use : c.uses) reads_[a].push_back(use.array);
      if (IsCoefficient(c.creates.front().array) !=
          IsCoefficient(create.array)) {
        return absl::UnimplementedError(absl::StrCat(
            "task ", c.name, " creates labels at different places"));
      }
      if (IsCoefficient(create.array) || out_.is_created[a]) continue;
      out_.is_created[a] = true;
      for (int32_t i = 0; i < rank; ++i) {
        out_.along[a].push_back({.coordinate = i == time_  ? 0
                                               : i < time_ ? i + 1
                                                           : i});
      }
    }
  }
  for (const PointResult& result : points_.results) {
    if (!IsCoefficient(result.array)) continue;
    const PointArray& array = points_.arrays[result.array];
    if (array.rank != out_.dims) {
      return absl::UnimplementedError(
          absl::StrCat("the result ", array.name, " does not lie in space"));
    }
    DOGGED_RETURN_IF_ERROR(ArrayAt(result.array, WholeSpace()).status());
  }
  for (const PointClass& source : points_.classes) {
    if (IsCoefficient(source.creates.front().array)) continue;
    PointClass c = source;
    DOGGED_RETURN_IF_ERROR(PlaceUses(c));
    out_.points.classes.push_back(std::move(c));
  }
  return std::move(out_);
}

}  // namespace

absl::StatusOr<PlacedProgram> PlaceCoefficients(const PointProgram& points,
                                                int32_t time) {
  return Placer(points, time).Run();
}

}  // namespace dogged::dsl
