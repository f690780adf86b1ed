#include "dsl/nest/tile_flows.h"

#include <isl/map.h>
#include <isl/set.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/isl/set_queries.h"
#include "dsl/kernels/reduce_kernel.h"
#include "dsl/nest/decompose.h"
#include "dsl/nest/element_plane.h"
#include "runtime/base/division.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// Tiles that one use of a task may be made in, and the tiles that are read all
// in all.
constexpr int64_t kSourcesMax = 64;
// Buffers of so few elements are one in any case.
constexpr int64_t kSmallBuffer = 64;
// Values that one label may hold for the sake of others of so many times fewer.
constexpr int64_t kNearTimes = 8;
// Labels of so few values may be one in any case: 64 KB.
constexpr int64_t kSmallLabel = 8192;
// Pieces of a flow between components, such as those of a domain with
// conditions on remainders, up to which the tiles are those of each piece.
constexpr int kPiecesMax = 4;
// Counts are right up to here.
constexpr int64_t kCountMax = int64_t{1} << 40;

int64_t CountOf(const std::vector<int64_t>& extents) {
  int64_t out = 1;
  for (const int64_t extent : extents) {
    out = extent > kCountMax / std::max<int64_t>(1, out) ? kCountMax
                                                         : out * extent;
  }
  return out;
}

int64_t CountOf(const std::vector<Span>& spans) {
  std::vector<int64_t> extents;
  for (const Span& span : spans) extents.push_back(span.Count());
  return CountOf(extents);
}

int64_t CountOf(const std::vector<Span>& spans,
                const std::optional<isl::set>& plane) {
  std::vector<Span> out = spans;
  const std::vector<bool> is_flat = FlatDimensions(plane, spans);
  for (size_t d = 0; d < out.size(); ++d) {
    if (is_flat[d]) out[d].upper = out[d].lower;
  }
  return CountOf(out);
}

std::vector<Span> UnionOf(const std::vector<Span>& a,
                          const std::vector<Span>& b) {
  std::vector<Span> out = a;
  for (size_t d = 0; d < out.size(); ++d) {
    out[d].lower = std::min(out[d].lower, b[d].lower);
    out[d].upper = std::max(out[d].upper, b[d].upper);
  }
  return out;
}

bool AreApart(const std::vector<Span>& a, const std::vector<Span>& b) {
  for (size_t d = 0; d < a.size(); ++d) {
    if (a[d].upper < b[d].lower || b[d].upper < a[d].lower) return true;
  }
  return false;
}

// The least convex set of this form around it, without divisions.
isl::set HullOfTiles(const isl::set& set) {
  isl_set* out = isl_set_remove_divs(set.copy());
  return isl::manage(isl_set_from_basic_set(
      isl_basic_set_remove_redundancies(isl_set_simple_hull(out))));
}

isl::map HullOfFlow(const isl::map& flow) {
  return isl::manage(isl_map_from_basic_map(isl_map_simple_hull(flow.copy())));
}

// The parts of a touch: as those of a group of its array if they are as good,
// so that it may join it.
void FindParts(const NestPoint& point, const NestComponent& component,
               NestTouch& touch) {
  touch.parts.clear();
  for (const AffineExpr& expr : touch.map) {
    touch.parts.push_back(Decompose(expr, point.theta, point.dims));
  }
  for (const NestGroup& group : component.groups) {
    if (group.array != touch.array || group.is_input) continue;
    std::vector<Decomposition> parts;
    for (size_t d = 0; d < touch.map.size(); ++d) {
      parts.push_back(DecomposeBy(touch.map[d], point.theta, group.factors[d]));
      if (IndexCount(parts[d].rest) > IndexCount(touch.parts[d].rest)) break;
      if (d + 1 < touch.map.size()) continue;
      touch.parts = std::move(parts);
      return;
    }
  }
}

// The ways to take a number of each span, the first span's changing fastest,
// and how many there are: all above kSourcesMax are one more.
int64_t WaysOf(const std::vector<Span>& spans) {
  int64_t out = 1;
  for (const Span& span : spans) {
    out = std::min(out * std::min(span.Count(), kSourcesMax + 1),
                   kSourcesMax + 1);
  }
  return out;
}

absl::Status ForEachWay(
    const std::vector<Span>& spans,
    absl::FunctionRef<absl::Status(const std::vector<int64_t>&)> visit) {
  if (WaysOf(spans) == 0) return absl::OkStatus();
  std::vector<int64_t> at;
  for (const Span& span : spans) at.push_back(span.lower);
  while (true) {
    DOGGED_RETURN_IF_ERROR(visit(at));
    size_t k = 0;
    while (k < at.size() && at[k] == spans[k].upper) {
      at[k] = spans[k].lower;
      ++k;
    }
    if (k == at.size()) return absl::OkStatus();
    ++at[k];
  }
}

// Whether hyperplanes of producers are those of consumers, and numbers: then
// intervals tell what isl takes long for, seconds where tiles are skewed.
bool IsUniform(const NestFlow& flow) {
  return std::all_of(
      flow.parts.begin(), flow.parts.end(), [](const Decomposition& part) {
        const auto factors = [&part](int64_t factor) {
          return std::count(part.factors.begin(), part.factors.end(), factor);
        };
        const int64_t others = std::ssize(part.factors) - factors(0);
        return part.rest.IsConstant() && others <= 1 && others == factors(1);
      });
}

bool IsNumber(const Decomposition& part) {
  return std::count(part.factors.begin(), part.factors.end(), 0) ==
         std::ssize(part.factors);
}

// Whether tile index k of producers is that of consumers, for all k.
bool IsIdentity(const NestFlow& flow) {
  for (size_t k = 0; k < flow.parts.size(); ++k) {
    if (flow.parts[k].factors[k] != 1) return false;
  }
  return true;
}

// By tile index of the producer of a uniform flow, how far its tiles are off
// from what the consumer's index tells.
std::vector<Span> UniformOffsets(const NestFlow& flow,
                                 const std::vector<int64_t>& sizes) {
  std::vector<Span> out;
  for (size_t k = 0; k < flow.parts.size(); ++k) {
    const int64_t rest = flow.parts[k].rest.constant;
    const int64_t last = IsNumber(flow.parts[k]) ? 0 : sizes[k] - 1;
    out.push_back({.lower = FloorDiv(rest, sizes[k]),
                   .upper = FloorDiv(rest + last, sizes[k])});
  }
  return out;
}

// Whether the hyperplanes of a point tell the elements that it touches.
bool IsTold(const NestTouch& touch) {
  return std::all_of(
      touch.parts.begin(), touch.parts.end(),
      [](const Decomposition& part) { return part.rest.IsConstant(); });
}

// What a tile's elements have of those that go to the tile at `offsets` from
// it, of a uniform flow that makes elements which are told.
std::vector<Span> UniformSpans(const NestFlow& flow, const NestTouch& touch,
                               const std::vector<int64_t>& sizes,
                               const std::vector<int64_t>& offsets) {
  // Where the points lie within the tile that makes them.
  std::vector<Span> inside;
  for (size_t k = 0; k < flow.parts.size(); ++k) {
    const int64_t last = sizes[k] - 1;
    const int64_t begin = flow.parts[k].rest.constant - sizes[k] * offsets[k];
    inside.push_back({.lower = std::max<int64_t>(0, begin),
                      .upper = std::min(
                          last, begin + (IsNumber(flow.parts[k]) ? 0 : last))});
  }
  std::vector<Span> out;
  for (const Decomposition& part : touch.parts) {
    Span span{.lower = part.rest.constant, .upper = part.rest.constant};
    for (size_t k = 0; k < part.factors.size(); ++k) {
      const int64_t factor = part.factors[k];
      const Span& here = inside[k];
      span.lower += factor * (factor > 0 ? here.lower : here.upper);
      span.upper += factor * (factor > 0 ? here.upper : here.lower);
    }
    out.push_back(span);
  }
  return out;
}

class TileFlows {
 public:
  explicit TileFlows(Nest& nest) : nest_(nest) {}
  absl::Status Find();

 private:
  NestComponent& ComponentOf(int32_t point) {
    return nest_.components[nest_.points[static_cast<size_t>(point)].component];
  }
  // The points of a statement to their tiles.
  const isl::map& TilesOf(int32_t point);
  // By dimension of the array: how far the elements that `points` of a
  // statement touch are off from where their tile is.
  std::vector<Span> OffsetsOf(int32_t point, const NestTouch& touch,
                              const isl::set& points);
  // The tiles of a component of so many tile indices whose `source`, numbers
  // of tiles as isl text, is a tile of `from`.
  isl::set TilesWithSource(int rank, const std::vector<std::string>& source,
                           const NestComponent& from) const;
  void FindTiles();
  // The flow, or one around it where only more tiles could come of that.
  NestFlow Simplified(const NestFlow& flow);
  void Measure(int32_t point, NestTouch& touch);
  void Group(int32_t point, NestTouch& touch, bool is_made, bool is_input);
  absl::Status AddFlow(const NestFlow& flow);
  bool IsWithin(const NestFlow& flow) const {
    return nest_.points[flow.consumer].component ==
           nest_.points[flow.producer].component;
  }
  // By intervals, of a uniform flow that makes elements which are told.
  absl::Status AddUniformFlow(const NestFlow& flow);
  // `readers` are tiles that read, `tiles` is from them to tiles that make; it
  // is not looked at where intervals are enough.
  absl::Status AddDelivery(const NestFlow& flow, const isl::set& readers,
                           const isl::map& tiles,
                           const std::vector<int64_t>& offsets);
  // Values of the flow that go to another group of the same tile.
  void AddMirror(const NestFlow& flow);
  absl::Status TooManySources(const NestFlow& flow) const {
    return absl::OutOfRangeError(absl::StrCat(
        "a tile of task ", nest_.points[flow.consumer].name,
        " reads too many tiles of task ", nest_.points[flow.producer].name));
  }
  std::vector<Span> Needed(const NestFlow& flow, const isl::map& tiles,
                           const std::vector<int64_t>& offsets);
  void Order(NestDelivery& delivery) const;
  // The same for parts of a component that goes plane by plane.
  void OrderPlanes(NestDelivery& delivery) const;
  void MakeParcels();
  // Reads of the root of a reduction: all accumulators of its tile.
  absl::Status AddPartials(const NestReduction& reduction);

  Nest& nest_;
  std::vector<std::optional<isl::map>> tiles_of_;  // by statement
};

const isl::map& TileFlows::TilesOf(int32_t p) {
  std::optional<isl::map>& known = tiles_of_[p];
  if (known) return *known;
  const NestPoint& point = nest_.points[p];
  const NestComponent& component = ComponentOf(p);
  const std::vector<std::string> tile = IslNames("T", component.rank);
  known = isl::map(nest_.context,
                   absl::StrCat("{ ", IslTuple(point.tuple, point.dims, "i"),
                                " -> ", IslTuple("", component.rank, "T"),
                                " : ", TileText(point, component, tile), " }"))
              .intersect_domain(point.domain);
  return *known;
}

void TileFlows::FindTiles() {
  for (NestComponent& component : nest_.components) {
    std::optional<isl::set> tiles;
    for (const int32_t p : component.points) {
      const isl::set own = TilesOf(p).range();
      tiles = tiles ? tiles->unite(own) : own;
    }
    component.tiles = HullOfTiles(*tiles);
  }
}

std::vector<Span> TileFlows::OffsetsOf(int32_t p, const NestTouch& touch,
                                       const isl::set& points) {
  const NestPoint& point = nest_.points[p];
  const NestComponent& component = ComponentOf(p);
  const std::vector<std::string> tile = IslNames("T", component.rank);
  std::vector<Span> out;
  for (size_t d = 0; d < touch.map.size(); ++d) {
    const isl::map offset(
        nest_.context,
        absl::StrCat(
            "{ ", IslTuple(point.tuple, point.dims, "i"), " -> [o] : ",
            component.rank == 0
                ? ""
                : absl::StrCat("exists ", absl::StrJoin(tile, ", "), " : "),
            TileText(point, component, tile),
            " and o = ", IslText(touch.map[d], "i"), " - (",
            OriginText(touch.parts[d].factors, component.sizes, tile), ") }"));
    const isl::set values = points.apply(offset);
    out.push_back({.lower = Least(values, 0).value_or(0),
                   .upper = Greatest(values, 0).value_or(-1)});
  }
  return out;
}

isl::set TileFlows::TilesWithSource(int rank,
                                    const std::vector<std::string>& source,
                                    const NestComponent& from) const {
  const isl::map to_source(nest_.context,
                           absl::StrCat("{ ", IslTuple("", rank, "T"), " -> [",
                                        absl::StrJoin(source, ", "), "] }"));
  return to_source.intersect_range(*from.tiles).domain();
}

void TileFlows::Measure(int32_t p, NestTouch& touch) {
  const NestComponent& component = ComponentOf(p);
  FindParts(nest_.points[p], component, touch);
  touch.spans = OffsetsOf(p, touch, touch.relation.domain());
  // A result's tiles are of one size each, and end at the array's end.
  for (size_t d = 0; component.result >= 0 && d < touch.spans.size() &&
                     touch.array >= nest_.array_count;
       ++d) {
    touch.spans[d] = {.lower = 0, .upper = component.sizes[d] - 1};
  }
}

void TileFlows::Group(int32_t p, NestTouch& touch, bool is_made,
                      bool is_input) {
  NestComponent& component = ComponentOf(p);
  Measure(p, touch);
  std::vector<std::vector<int64_t>> factors;
  for (const Decomposition& part : touch.parts) factors.push_back(part.factors);
  // A use whose condition never holds still has an element to name.
  const bool is_touched = !touch.relation.is_empty();
  for (size_t d = 0; !is_touched && d < touch.spans.size(); ++d) {
    touch.spans[d] = {.lower = 0, .upper = 0};
  }
  for (size_t g = 0; is_touched && g < component.groups.size(); ++g) {
    NestGroup& group = component.groups[g];
    if (group.array != touch.array || group.is_input != is_input ||
        group.factors != factors) {
      continue;
    }
    // Never the same element: the values of other tiles that are read stay
    // where they are.
    if (group.is_made && !is_made && AreApart(group.spans, touch.spans)) {
      continue;
    }
    const std::vector<Span> both = UnionOf(group.spans, touch.spans);
    if (CountOf(both) >
        2 * (CountOf(group.spans) + CountOf(touch.spans)) + kSmallBuffer) {
      continue;
    }
    group.spans = both;
    group.is_made |= is_made;
    touch.group = static_cast<int32_t>(g);
    return;
  }
  touch.group = static_cast<int32_t>(component.groups.size());
  component.groups.push_back({.array = touch.array,
                              .factors = std::move(factors),
                              .spans = touch.spans,
                              .is_made = is_made,
                              .is_input = is_input});
}

// The elements that flow from tile to tile in `tiles`, seen from the tile that
// makes them.
std::vector<Span> TileFlows::Needed(const NestFlow& flow, const isl::map& tiles,
                                    const std::vector<int64_t>& offsets) {
  const NestPoint& producer = nest_.points[flow.producer];
  const NestComponent& component = ComponentOf(flow.producer);
  const NestTouch& touch = producer.creates[flow.create];
  if (IsUniform(flow) && IsTold(touch)) {
    std::vector<Span> spans =
        UniformSpans(flow, touch, component.sizes, offsets);
    // Small programs do not fill a tile.
    const NestGroup& group = component.groups[touch.group];
    for (size_t d = 0; d < spans.size(); ++d) {
      Span& span = spans[d];
      span.lower = std::max(span.lower, group.spans[d].lower);
      span.upper = std::min(span.upper, group.spans[d].upper);
    }
    return spans;
  }
  const NestGroup& group = component.groups[touch.group];
  if (nest_.is_small && CountOf(group.spans) <= kSmallLabel) return group.spans;
  const isl::map points = TilesOf(flow.consumer)
                              .apply_range(tiles)
                              .apply_range(TilesOf(flow.producer).reverse());
  return OffsetsOf(flow.producer, producer.creates[flow.create],
                   flow.map.intersect(points).range());
}

// Tiles that take more than they need must not wait for each other: within a
// component each waits for tiles before it alone.
void TileFlows::Order(NestDelivery& delivery) const {
  const int rank = static_cast<int>(delivery.source.size());
  const std::vector<std::string> tile = IslNames("T", rank);
  const auto tiles = [&](const std::string& conditions) {
    return isl::set(nest_.context, absl::StrCat("{ ", IslTuple("", rank, "T"),
                                                " : ", conditions, " }"));
  };
  std::string is_before = "true";
  std::string is_same = "true";
  std::vector<std::string> before;
  for (int k = 0; k < rank; ++k) {
    const std::string from = IslText(delivery.source[k], "T");
    absl::StrAppend(&is_before, " and ", from, " <= T", k);
    before.push_back(absl::StrCat("(", is_same, " and ", from, " < T", k, ")"));
    absl::StrAppend(&is_same, " and ", from, " = T", k);
  }
  const isl::set ordered =
      tiles(before.empty() ? "false" : absl::StrJoin(before, " or "));
  if (delivery.tiles.is_subset(ordered)) return;
  delivery.tiles = delivery.tiles.intersect(tiles(is_before));
  if (delivery.tiles.is_subset(ordered)) return;
  // The band has no dependence that goes back, so tiles that need something are
  // all here: it is the hull around them that holds others, such as the tiles
  // on a diagonal, which have all that they need themselves.
  delivery.tiles = Coalesced(delivery.tiles.intersect(ordered));
}

void TileFlows::OrderPlanes(NestDelivery& delivery) const {
  const int rank = nest_.components[delivery.consumer].rank;
  const std::vector<std::string> tile = IslNames("T", rank);
  const std::string from = IslText(delivery.source[0], "T");
  std::string is_before = absl::StrCat(from, " < T0");
  if (delivery.producer < delivery.consumer) {
    is_before = absl::StrCat(from, " <= T0");
  } else if (delivery.producer == delivery.consumer) {
    // Within a plane as within any component.
    std::string is_not_behind = absl::StrCat(from, " = T0");
    std::string is_same = "true";
    for (int k = 1; k < rank; ++k) {
      const std::string other = IslText(delivery.source[k], "T");
      absl::StrAppend(&is_not_behind, " and ", other, " <= T", k);
      absl::StrAppend(&is_same, " and ", other, " = T", k);
    }
    absl::StrAppend(&is_before, " or (", is_not_behind, " and not (", is_same,
                    "))");
  }
  const isl::set before(
      nest_.context,
      absl::StrCat("{ ", IslTuple("", rank, "T"), " : ", is_before, " }"));
  if (delivery.tiles.is_subset(before)) return;
  delivery.tiles = Coalesced(delivery.tiles.intersect(before));
}

absl::Status TileFlows::AddDelivery(const NestFlow& flow,
                                    const isl::set& readers,
                                    const isl::map& tiles,
                                    const std::vector<int64_t>& offsets) {
  const NestPoint& consumer = nest_.points[flow.consumer];
  const NestPoint& producer = nest_.points[flow.producer];
  const NestComponent& from = ComponentOf(flow.producer);
  NestDelivery out{.consumer = consumer.component,
                   .group = consumer.uses[flow.use].group,
                   .producer = producer.component,
                   .producer_group = producer.creates[flow.create].group,
                   .spans = Needed(flow, tiles, offsets),
                   .plane = PlaneOf(flow.map.range().apply(
                       producer.creates[flow.create].relation))};
  std::vector<std::string> source;
  for (size_t k = 0; k < offsets.size(); ++k) {
    AffineExpr expr = AffineExpr::Constant(offsets[k]);
    for (size_t m = 0; m < flow.parts[k].factors.size(); ++m) {
      expr.coefficients[m] = flow.parts[k].factors[m];
    }
    source.push_back(IslText(expr, "T"));
    out.source.push_back(expr);
  }
  out.tiles = HullOfTiles(readers);
  const isl::set has_source =
      TilesWithSource(ComponentOf(flow.consumer).rank, source, from);
  if (!out.tiles.is_subset(has_source)) {
    out.tiles = out.tiles.intersect(has_source);
  }
  const int32_t planes = ComponentOf(flow.consumer).planes;
  if (planes >= 0 && planes == from.planes) {
    OrderPlanes(out);
  } else if (out.consumer == out.producer) {
    Order(out);
  }
  if (out.tiles.is_empty()) return absl::OkStatus();
  for (NestDelivery& known : nest_.deliveries) {
    if (known.consumer != out.consumer || known.group != out.group ||
        known.producer != out.producer ||
        known.producer_group != out.producer_group ||
        known.source != out.source) {
      continue;
    }
    known.spans = UnionOf(known.spans, out.spans);
    known.plane = PlaneAround(known.plane, out.plane);
    known.tiles = known.tiles.unite(out.tiles);
    return absl::OkStatus();
  }
  nest_.deliveries.push_back(std::move(out));
  return absl::OkStatus();
}

void TileFlows::AddMirror(const NestFlow& flow) {
  const int32_t group = nest_.points[flow.consumer].uses[flow.use].group;
  const int32_t made = nest_.points[flow.producer].creates[flow.create].group;
  if (group == made) return;
  nest_.mirrors.push_back(
      {.point = flow.producer, .create = flow.create, .group = group});
}

absl::Status TileFlows::AddUniformFlow(const NestFlow& flow) {
  const std::vector<Span> spans =
      UniformOffsets(flow, ComponentOf(flow.producer).sizes);
  if (WaysOf(spans) > kSourcesMax) return TooManySources(flow);
  const isl::set readers =
      TilesOf(flow.consumer).intersect_domain(flow.map.domain()).range();
  const bool is_within = IsWithin(flow);
  return ForEachWay(spans, [&](const std::vector<int64_t>& at) {
    if (is_within && std::count(at.begin(), at.end(), 0) == std::ssize(at)) {
      AddMirror(flow);
      return absl::OkStatus();
    }
    return AddDelivery(flow, readers, isl::map(), at);
  });
}

// Hundreds of pieces would each be joined with the tiles of both sides. Tiles
// of one component, or of one plane, wait for no more than they need.
NestFlow TileFlows::Simplified(const NestFlow& flow) {
  const NestComponent& to = ComponentOf(flow.consumer);
  const NestComponent& from = ComponentOf(flow.producer);
  const bool are_ordered =
      &to == &from || (to.planes >= 0 && to.planes == from.planes);
  NestFlow out = flow;
  if (!are_ordered && isl_map_n_basic_map(flow.map.get()) > kPiecesMax) {
    out.map = HullOfFlow(flow.map);
  }
  return out;
}

absl::Status TileFlows::AddFlow(const NestFlow& flow) {
  const NestPoint& consumer = nest_.points[flow.consumer];
  const NestPoint& producer = nest_.points[flow.producer];
  isl::map tiles = TilesOf(flow.consumer)
                       .reverse()
                       .apply_range(flow.map)
                       .apply_range(TilesOf(flow.producer));
  if (consumer.component == producer.component) {
    const isl::map same =
        isl::manage(isl_map_identity(isl_map_get_space(tiles.get())));
    if (!tiles.intersect(same).is_empty()) AddMirror(flow);
    tiles = tiles.subtract(same);
  }
  if (tiles.is_empty()) return absl::OkStatus();
  // The offsets of each index, and all of them together.
  const int rank = ComponentOf(flow.consumer).rank;
  const int from_rank = ComponentOf(flow.producer).rank;
  std::vector<Span> spans;
  for (int k = 0; k < from_rank; ++k) {
    AffineExpr base;
    const std::vector<int64_t>& factors = flow.parts[k].factors;
    for (size_t m = 0; m < factors.size(); ++m) {
      base.coefficients[m] = factors[m];
    }
    const isl::map offset(
        nest_.context, absl::StrCat("{ [", IslTuple("", rank, "T"), " -> ",
                                    IslTuple("", from_rank, "U"), "] -> [U", k,
                                    " - (", IslText(base, "T"), ")] }"));
    const isl::set values = tiles.wrap().apply(offset);
    spans.push_back({.lower = Least(values, 0).value_or(0),
                     .upper = Greatest(values, 0).value_or(-1)});
  }
  if (WaysOf(spans) > kSourcesMax) {
    return TooManySources(flow);
  }
  return ForEachWay(spans, [&](const std::vector<int64_t>& at) {
    std::vector<std::string> equal = {"true"};
    for (int k = 0; k < from_rank; ++k) {
      const auto s = static_cast<size_t>(k);
      AffineExpr expr = AffineExpr::Constant(at[s]);
      for (size_t m = 0; m < flow.parts[s].factors.size(); ++m) {
        expr.coefficients[m] = flow.parts[s].factors[m];
      }
      equal.push_back(absl::StrCat("U", k, " = ", IslText(expr, "T")));
    }
    const isl::map here = tiles.intersect(isl::map(
        nest_.context, absl::StrCat("{ ", IslTuple("", rank, "T"), " -> ",
                                    IslTuple("", from_rank, "U"), " : ",
                                    absl::StrJoin(equal, " and "), " }")));
    return here.is_empty() ? absl::OkStatus()
                           : AddDelivery(flow, here.domain(), here, at);
  });
}

absl::Status TileFlows::AddPartials(const NestReduction& reduction) {
  const NestPoint& leaf = nest_.points[reduction.leaf];
  NestComponent& from = ComponentOf(reduction.leaf);
  NestComponent& to = ComponentOf(reduction.root);
  const NestGroup partials = from.groups[leaf.creates.front().group];
  std::vector<Span> spans;
  for (int k = to.rank; k < from.rank; ++k) {
    spans.push_back({.lower = Least(*from.tiles, k).value_or(0),
                     .upper = Greatest(*from.tiles, k).value_or(-1)});
  }
  if (WaysOf(spans) > kSourcesMax) {
    return absl::OutOfRangeError(
        absl::StrCat(leaf.name, " goes over too many tiles"));
  }
  // The accumulators of the root itself stand in its group behind the result.
  NestGroup group{.array = partials.array,
                  .element = partials.element,
                  .width = partials.width};
  group.spans = partials.spans;
  for (size_t d = 0; d < group.spans.size(); ++d) {
    group.factors.emplace_back(static_cast<size_t>(to.rank), 0);
    group.factors.back()[d] = 1;
  }
  NestGroup own = group;
  own.is_made = true;
  // Results without a point have accumulators, too.
  for (size_t d = 0; d < own.spans.size(); ++d) {
    Span& span = own.spans[d];
    span = {.lower = std::min<int64_t>(span.lower, 0),
            .upper = std::max(span.upper, to.sizes[d] - 1)};
  }
  to.groups.push_back(std::move(own));
  return ForEachWay(spans, [&](const std::vector<int64_t>& at) {
    NestDelivery delivery{.consumer = nest_.points[reduction.root].component,
                          .group = static_cast<int32_t>(to.groups.size()),
                          .producer = leaf.component,
                          .producer_group = leaf.creates.front().group,
                          .spans = partials.spans};
    std::vector<std::string> source = IslNames("T", to.rank);
    for (int k = 0; k < to.rank; ++k) {
      delivery.source.push_back(AffineExpr::Index(k));
    }
    for (const int64_t number : at) {
      delivery.source.push_back(AffineExpr::Constant(number));
      source.push_back(absl::StrCat(number));
    }
    delivery.tiles =
        to.tiles->intersect(TilesWithSource(to.rank, source, from));
    if (!delivery.tiles.is_empty()) {
      to.groups.push_back(group);
      nest_.deliveries.push_back(std::move(delivery));
    }
    return absl::OkStatus();
  });
}

// A parcel for the values that go the same way; small differences are no reason
// for another label.
void TileFlows::MakeParcels() {
  for (NestDelivery& delivery : nest_.deliveries) {
    delivery.parcel = -1;
    int64_t best = 0;
    for (size_t p = 0; p < nest_.parcels.size(); ++p) {
      const NestParcel& parcel = nest_.parcels[p];
      if (parcel.component != delivery.producer ||
          parcel.group != delivery.producer_group) {
        continue;
      }
      const int64_t both = CountOf(UnionOf(parcel.spans, delivery.spans),
                                   PlaneAround(parcel.plane, delivery.plane));
      const int64_t own = CountOf(parcel.spans, parcel.plane);
      const int64_t part = CountOf(delivery.spans, delivery.plane);
      // A row of a tile is not worth the tile on its way to another agent.
      const bool is_near =
          both <= kSmallLabel || both <= kNearTimes * std::min(own, part);
      if (both <= own + part && is_near &&
          (delivery.parcel < 0 || both < best)) {
        delivery.parcel = static_cast<int32_t>(p);
        best = both;
      }
    }
    if (delivery.parcel < 0) {
      delivery.parcel = static_cast<int32_t>(nest_.parcels.size());
      nest_.parcels.push_back({.component = delivery.producer,
                               .group = delivery.producer_group,
                               .spans = delivery.spans,
                               .plane = delivery.plane});
      continue;
    }
    NestParcel& parcel = nest_.parcels[delivery.parcel];
    parcel.spans = UnionOf(parcel.spans, delivery.spans);
    parcel.plane = PlaneAround(parcel.plane, delivery.plane);
  }
  for (NestParcel& parcel : nest_.parcels) {
    parcel.is_flat = FlatDimensions(parcel.plane, parcel.spans);
  }
  for (size_t c = 0; c < nest_.components.size(); ++c) {
    const NestComponent& component = nest_.components[c];
    if (component.result < 0) continue;
    const auto& create = nest_.points[component.points.front()].creates[0];
    nest_.parcels.push_back({.component = static_cast<int32_t>(c),
                             .group = create.group,
                             .spans = component.groups[create.group].spans});
  }
}

absl::Status TileFlows::Find() {
  nest_.parcels.clear();
  nest_.deliveries.clear();
  nest_.mirrors.clear();
  for (NestComponent& component : nest_.components) component.groups.clear();
  tiles_of_.assign(nest_.points.size(), std::nullopt);
  FindTiles();
  // Groups that are made come first: what is read alike joins them.
  for (size_t p = 0; p < nest_.points.size(); ++p) {
    NestPoint& point = nest_.points[p];
    const auto at = static_cast<int32_t>(p);
    for (size_t k = 0; k < point.creates.size(); ++k) {
      Group(at, point.creates[k], /*is_made=*/true, /*is_input=*/false);
      NestGroup& group = ComponentOf(at).groups[point.creates[k].group];
      group.element = point.code.stores[k].element;
      if (point.reduce && point.reduce->step == NestReduce::Step::kAdd) {
        group.width =
            AccumulatorWidth(point.reduce->kind, point.reduce->element);
      }
    }
  }
  for (size_t p = 0; p < nest_.points.size(); ++p) {
    NestPoint& point = nest_.points[p];
    const auto at = static_cast<int32_t>(p);
    const auto add = [&](NestTouch& touch, size_t load, bool is_input) {
      Group(at, touch, /*is_made=*/false, is_input);
      ComponentOf(at).groups[touch.group].element =
          point.code.loads[load].element;
    };
    for (size_t u = 0; u < point.uses.size(); ++u) {
      add(point.uses[u], u, false);
    }
    for (size_t r = 0; r < point.inputs.size(); ++r) {
      add(point.inputs[r], point.uses.size() + r, true);
    }
  }
  for (const NestFlow& flow : nest_.flows) {
    const NestTouch& made = nest_.points[flow.producer].creates[flow.create];
    // Within a component a tile must not take itself for another.
    const bool by_intervals = IsUniform(flow) && IsTold(made) &&
                              (!IsWithin(flow) || IsIdentity(flow));
    const NestFlow around = Simplified(flow);
    DOGGED_RETURN_IF_ERROR(by_intervals ? AddUniformFlow(around)
                                        : AddFlow(around));
  }
  for (const NestReduction& reduction : nest_.reductions) {
    DOGGED_RETURN_IF_ERROR(AddPartials(reduction));
  }
  MakeParcels();
  return absl::OkStatus();
}

}  // namespace

absl::Status FindTileFlows(Nest& nest) { return TileFlows(nest).Find(); }

std::vector<int32_t> ComponentsBeyond(const Nest& nest, int64_t elements_max) {
  std::vector<int32_t> out;
  for (size_t c = 0; c < nest.components.size(); ++c) {
    int64_t elements = 0;
    for (const NestGroup& group : nest.components[c].groups) {
      elements += CountOf(BufferExtents(nest.components[c], group));
    }
    if (elements > elements_max) out.push_back(static_cast<int32_t>(c));
  }
  return out;
}

}  // namespace dogged::dsl
