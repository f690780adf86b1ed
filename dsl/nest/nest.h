// The loop nest that passes of this folder hand on: statements with their
// dependences, components with a schedule, and what tiles give each other.
// Internal to dsl/nest, whose face is lower_nest.h. Part of an isl adapter.
//
// Words: a *statement* is a task class of the point program, or the copy of a
// result. A *component* is a set of statements that need each other; its tiles
// are tasks. A *group* is what a tile touches of an array by accesses that move
// alike from tile to tile: one buffer. A *parcel* is a box of a group that a
// tile packs into a label for others.
#ifndef DOGGED_DSL_NEST_NEST_H_
#define DOGGED_DSL_NEST_NEST_H_

#include <isl/cpp.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/ir/kernel_ir.h"
#include "dsl/ir/nest_body.h"
#include "dsl/ir/point_bodies.h"
#include "runtime/base/value.h"
#include "runtime/graph/affine.h"
#include "runtime/graph/domain.h"

namespace dogged::dsl {

// A hyperplane form in terms of others: sum(factors[m] * theta_m) + rest.
struct Decomposition {
  std::vector<int64_t> factors;
  AffineExpr rest;  // of the statement's indices
};

// An interval of integers, both ends included.
struct Span {
  int64_t lower = 0;
  int64_t upper = -1;

  int64_t Count() const { return upper - lower + 1; }
};

// How a statement touches an array, or an input: element map(i).
struct NestTouch {
  int32_t array = 0;  // of an input its position
  AffineMap map;
  isl::map relation;  // statement -> element, where it is touched
  // By dimension of the array: the element from where its tile is, and how far
  // it is off from there.
  std::vector<Decomposition> parts;
  std::vector<Span> spans;
  int32_t group = -1;  // in its component
};

struct NestPoint {
  std::string name;
  std::string tuple;  // "S3"
  int32_t dims = 0;
  isl::set domain;
  CodeBlock code;  // loads: uses, then inputs
  std::vector<NestTouch> creates;
  std::vector<NestTouch> uses;
  std::vector<NestTouch> inputs;
  int32_t component = 0;
  std::vector<AffineExpr> theta;  // tile hyperplanes, of its indices
  // A reduction's points, or the results of one, see NestReduction.
  std::optional<NestReduce> reduce;
  std::optional<isl::map> order;  // its indices to the order within a tile
};

// Points of `consumer` to the points of `producer` that make what use `use`
// reads.
struct NestFlow {
  int32_t consumer = 0;
  int32_t use = 0;
  int32_t producer = 0;
  int32_t create = 0;
  isl::map map;
  // By tile index of the producer: its hyperplane at the producer's point, in
  // terms of the consumer's.
  std::vector<Decomposition> parts;
};

struct NestGroup {
  int32_t array = 0;
  ElementType element = ElementType::kDouble;
  // By dimension: the element where the buffer begins, of the tile's indices
  // and the sizes of tiles, is sum(factors[m] * size[m] * T[m]) + span.lower.
  std::vector<std::vector<int64_t>> factors;
  std::vector<Span> spans;
  std::vector<bool> is_folded;    // by dimension: one plane is enough
  std::optional<isl::set> plane;  // in which all that is read lies
  int64_t width = 1;              // elements side by side for one of the array
  bool is_made = false;           // statements of the component store to it
  bool is_input = false;
};

// What tiles of `component` give away of a group: a label.
struct NestParcel {
  int32_t component = 0;
  int32_t group = 0;
  std::vector<Span> spans;  // within those of the group
  // Where the elements that somebody needs lie (element_plane.h), and the
  // dimensions that take no place for it.
  std::optional<isl::set> plane;
  std::vector<bool> is_flat;
  int32_t array = -1;  // of the program, once it has one
};

// Tiles T of `consumer` read a parcel of tile `source`(T) into a group.
struct NestDelivery {
  int32_t consumer = 0;
  int32_t group = 0;
  int32_t parcel = -1;
  AffineMap source;
  isl::set tiles;  // T; more than those that need it, perhaps
  int32_t producer = 0;
  int32_t producer_group = 0;
  std::vector<Span> spans;        // that it needs, of the producer's group
  std::optional<isl::set> plane;  // in which these lie
};

// Statements that need each other, with one band of tiles.
struct NestComponent {
  std::vector<int32_t> points;
  int32_t rank = 0;                 // tile indices
  std::vector<bool> is_coincident;  // by tile index
  // Tile indices along which agents share the work: coincident ones, first
  // those along which most points go side by side.
  struct Spread {
    int32_t index = 0;
    int32_t index_class = 0;  // the same where flows join components' indices
  };
  std::vector<Spread> spread;
  // The order's dimension that runs innermost, if its points need nothing of
  // each other; -1 if there is none.
  int32_t parallel = -1;
  int32_t parallel_member = -1;  // the same, before buffers are folded
  // The tile index that runs innermost in a tile; -1 without any.
  int32_t inner = -1;
  // The tile index whose sum with the inner one runs around that, where points
  // along the inner one alone need each other: points of one sum do not. -1 if
  // there is none.
  int32_t wave = -1;
  int32_t order_rank = 0;
  int32_t result = -1;  // the copy of this result
  // A number that those parts share whose tiles go plane by plane, in order of
  // the parts: tile index 0 is the plane, and a tile has one. -1: no such part.
  int32_t planes = -1;
  int64_t point_goal = 0;      // points that a tile should have
  std::vector<int64_t> sizes;  // of tiles
  std::vector<bool> is_plane;  // by tile index: flows join it with planes
  std::vector<NestGroup> groups;
  std::optional<isl::set> tiles;  // all of them: convex
};

// A point's value goes to a further group as well, whose readers are in the
// same tile.
struct NestMirror {
  int32_t point = 0;
  int32_t create = 0;
  int32_t group = 0;
};

// A reduction: tiles of the component of `leaf` make accumulators of their
// points, tiles of that of `root` join all that there are of each result.
struct NestReduction {
  int32_t leaf = 0;
  int32_t root = 0;
};

struct Nest {
  isl::ctx context{nullptr};
  std::vector<NestPoint> points;
  std::vector<NestComponent> components;  // readers behind what they read
  std::vector<NestFlow> flows;
  std::vector<NestParcel> parcels;
  std::vector<NestDelivery> deliveries;
  std::vector<NestMirror> mirrors;
  std::vector<NestReduction> reductions;
  int32_t array_count = 0;  // arrays of the program; those of results follow
  // Some result needs each of the points.
  bool is_all_needed = false;
  // It has so few points that a component is a tile, or some: nothing is gained
  // by what takes isl long.
  bool is_small = false;
};

// Points i of the flow's consumer to points j of its producer that fulfil
// `conditions`, a text of isl.
isl::map PairsWhere(const Nest& nest, const NestFlow& flow,
                    const std::string& conditions);

// The condition that `point` lies in tile T: `size * T <= theta < size * (T +
// 1)`, with `tile` as the text of each index of the tile.
std::string TileText(const NestPoint& point, const NestComponent& component,
                     const std::vector<std::string>& tile);
// T0, T1, ... by prefix.
std::vector<std::string> IslNames(const std::string& prefix, int rank);
// The element where a group's buffer begins, without the span, along a
// dimension, with `tile` as above.
std::string OriginText(const std::vector<int64_t>& factors,
                       const std::vector<int64_t>& sizes,
                       const std::vector<std::string>& tile);

// The dimensions of a group along the inner index of its component's tiles and
// along that of its wavefronts. A buffer has a wavefront's elements side by
// side if the first is as far from its neighbour as the second, and one.
struct WaveDimensions {
  size_t inner = 0;
  size_t wave = 0;
};
std::optional<WaveDimensions> WaveOf(const NestComponent& component,
                                     const NestGroup& group);
// Elements of `spans` of a group by dimension, one along those that are folded,
// and how wide an element is if it is that.
std::vector<int64_t> ExtentsOf(const NestGroup& group,
                               const std::vector<Span>& spans);
// Those of its buffer, with room for wavefronts.
std::vector<int64_t> BufferExtents(const NestComponent& component,
                                   const NestGroup& group);

// Text of isl: "i0 + 2*i1 - 3", by prefix.
std::string IslText(const AffineExpr& expr, const std::string& prefix);
// "S3[i0, i1]".
std::string IslTuple(const std::string& name, int rank,
                     const std::string& prefix);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_NEST_H_
