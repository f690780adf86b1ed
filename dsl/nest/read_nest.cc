#include "dsl/nest/read_nest.h"

#include <isl/map.h>
#include <isl/set.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/isl/set_queries.h"
#include "dsl/kernels/reduce_kernel.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// More statements than a program has that somebody wrote by hand.
constexpr size_t kPointsMax = 200;
// Parts of a formula's domain, such as the faces and edges of a box.
constexpr size_t kPartsMax = 24;

// Points of the least box around `set`, as a real number: it may be beyond all
// integers.
double BoxVolume(const isl::set& set) {
  double out = 1;
  for (int d = 0; d < Dimensions(set); ++d) {
    const auto least = Least(set, d);
    const auto greatest = Greatest(set, d);
    if (!least || !greatest) return 0;
    out *= static_cast<double>(*greatest - *least + 1);
  }
  return out;
}

// Convex parts of `set`, apart from each other, where their boxes have fewer
// points than its own by half: tiles are boxes, and those of an array's edges
// would have all that is between these.
std::vector<isl::set> PartsOf(const isl::set& set) {
  const isl::set apart =
      isl::manage(isl_set_make_disjoint(Coalesced(set).release()));
  if (HasDivs(apart)) return {set};
  std::vector<isl::set> out;
  double volume = 0;
  apart.foreach_basic_set([&](const isl::basic_set& part) {
    out.emplace_back(part);
    volume += BoxVolume(out.back());
  });
  const bool is_worth_it =
      out.size() > 1 && out.size() <= kPartsMax && 2 * volume <= BoxVolume(set);
  return is_worth_it ? out : std::vector<isl::set>{set};
}

std::string ConstraintText(const Constraint& c) {
  const std::string expr = IslText(c.expr, "i");
  switch (c.kind) {
    case Constraint::Kind::kAtLeastZero:
      return absl::StrCat(expr, " >= 0");
    case Constraint::Kind::kZero:
      return absl::StrCat(expr, " = 0");
    case Constraint::Kind::kDivisible:
      return absl::StrCat("(", expr, ") mod ", c.modulus, " = 0");
  }
  return "";
}

std::string GuardText(const Guard& guard) {
  if (guard.any_of.empty()) return "true";
  std::vector<std::string> alternatives;
  for (const std::vector<Constraint>& all : guard.any_of) {
    std::vector<std::string> parts = {"true"};
    for (const Constraint& c : all) parts.push_back(ConstraintText(c));
    alternatives.push_back(
        absl::StrCat("(", absl::StrJoin(parts, " and "), ")"));
  }
  return absl::StrCat("(", absl::StrJoin(alternatives, " or "), ")");
}

std::string DomainText(const Domain& domain) {
  std::string out = GuardText(domain.guard);
  for (int d = 0; d < domain.size(); ++d) {
    const Dimension& dimension = domain.dimensions[d];
    for (const AffineBound& bound : dimension.lower) {
      absl::StrAppend(&out, " and ", bound.divisor, "*i", d,
                      " >= ", IslText(bound.expr, "i"));
    }
    for (const AffineBound& bound : dimension.upper) {
      absl::StrAppend(&out, " and ", bound.divisor, "*i", d,
                      " <= ", IslText(bound.expr, "i"));
    }
  }
  return out;
}

std::string MapText(const AffineMap& map) {
  std::vector<std::string> parts;
  for (const AffineExpr& expr : map) parts.push_back(IslText(expr, "i"));
  return absl::StrCat("[", absl::StrJoin(parts, ", "), "]");
}

// Whether what no result needs can be left out, everywhere or nowhere: who
// reads it is left out, too.
bool IsNeededKnown(const PointProgram& points) {
  const auto is_known = [](const auto& c) { return c.needed.has_value(); };
  return !points.every_task_needed &&
         std::all_of(points.classes.begin(), points.classes.end(), is_known) &&
         std::all_of(points.reductions.begin(), points.reductions.end(),
                     is_known);
}

class NestReader {
 public:
  NestReader(const PointProgram& points, isl::ctx context)
      : points_(points), needed_only_(IsNeededKnown(points)) {
    nest_.context = context;
    nest_.array_count = static_cast<int32_t>(points.arrays.size());
    nest_.is_all_needed = points.every_task_needed || needed_only_;
  }
  absl::StatusOr<Nest> Read();

 private:
  absl::Status AddClass(const PointClass& c);
  // The statement of a class, or of a part of it.
  absl::Status AddPoint(const PointClass& c, NestPoint point);
  absl::Status AddInputs(const PointClass& c, NestPoint& point) const;
  absl::Status AddResult(size_t r);
  void AddReduction(size_t r);
  void AddFlows(int32_t consumer, int32_t use);
  isl::set Points(const NestPoint& point, const std::string& conditions) const {
    return isl::set(nest_.context,
                    absl::StrCat("{ ", IslTuple(point.tuple, point.dims, "i"),
                                 " : ", conditions, " }"));
  }
  NestTouch Touch(const NestPoint& point, int32_t array, const AffineMap& map,
                  const Guard& guard) const;

  const PointProgram& points_;
  const bool needed_only_;
  Nest nest_;
};

NestTouch NestReader::Touch(const NestPoint& point, int32_t array,
                            const AffineMap& map, const Guard& guard) const {
  NestTouch out{.array = array, .map = map};
  out.relation =
      isl::map(nest_.context,
               absl::StrCat("{ ", IslTuple(point.tuple, point.dims, "i"),
                            " -> A", array, MapText(map), " }"))
          .intersect_domain(point.domain);
  if (!guard.any_of.empty()) {
    out.relation =
        out.relation.intersect_domain(Points(point, GuardText(guard)));
  }
  return out;
}

absl::Status NestReader::AddInputs(const PointClass& c,
                                   NestPoint& point) const {
  std::vector<InputRead> reads = c.code.reads;
  if (c.body == PointClass::Body::kInput) {
    InputRead read{.position = c.input.position,
                   .at = {},
                   .step = c.input.step,
                   .guard = {}};
    for (size_t d = 0; d < c.input.axis.size(); ++d) {
      const AffineExpr index = c.input_at.empty()
                                   ? AffineExpr::Index(c.input.axis[d])
                                   : c.input_at[d];
      read.at.push_back(
          index - AffineExpr::Constant(c.input.box.lower[static_cast<int>(d)]));
    }
    reads.push_back(std::move(read));
  }
  for (const InputRead& read : reads) {
    AffineMap map = read.at;
    for (size_t d = 0; d < map.size(); ++d) {
      const int64_t step = read.step[d];
      bool is_whole = map[d].constant % step == 0;
      for (int64_t& factor : map[d].coefficients) {
        is_whole = is_whole && factor % step == 0;
        factor /= step;
      }
      if (!is_whole) {
        return absl::UnimplementedError(absl::StrCat(
            "task ", c.name, " reads a file at indices of another stride"));
      }
      map[d].constant /= step;
    }
    NestTouch touch = Touch(point, read.position, map, read.guard);
    point.inputs.push_back(std::move(touch));
  }
  return absl::OkStatus();
}

absl::Status NestReader::AddClass(const PointClass& c) {
  const auto is_block = [this](int32_t array) {
    return points_.arrays[array].block_rank > 0;
  };
  if (c.body == PointClass::Body::kNative) {
    return absl::UnimplementedError(
        absl::StrCat("task ", c.name, " calls a kernel"));
  }
  const bool has_blocks =
      std::any_of(
          c.creates.begin(), c.creates.end(),
          [&](const Create& create) { return is_block(create.array); }) ||
      std::any_of(c.uses.begin(), c.uses.end(),
                  [&](const Use& use) { return is_block(use.array); });
  if (has_blocks || c.code.has_elements) {
    return absl::UnimplementedError(
        absl::StrCat("task ", c.name, " computes blocks"));
  }
  NestPoint point{.name = c.name,
                  .tuple = absl::StrCat("S", nest_.points.size()),
                  .dims = c.domain.size()};
  point.domain = Points(point, DomainText(needed_only_ ? *c.needed : c.domain));
  if (point.domain.is_empty()) return absl::OkStatus();
  if (c.body == PointClass::Body::kInput) {
    point.code = CopyCode(c.input.element, point.dims);
  } else {
    point.code = c.code.code;
  }
  if (point.code.mask >= 0) {
    return absl::UnimplementedError(
        absl::StrCat("task ", c.name, " has a mask"));
  }
  const bool is_formula = c.uses.empty() && c.code.reads.empty() &&
                          c.body != PointClass::Body::kInput;
  const std::vector<isl::set> parts =
      is_formula ? PartsOf(point.domain) : std::vector<isl::set>{point.domain};
  for (const isl::set& part : parts) {
    NestPoint own = point;
    own.tuple = absl::StrCat("S", nest_.points.size());
    own.domain =
        isl::manage(isl_set_set_tuple_name(part.copy(), own.tuple.c_str()));
    DOGGED_RETURN_IF_ERROR(AddPoint(c, std::move(own)));
  }
  return absl::OkStatus();
}

absl::Status NestReader::AddPoint(const PointClass& c, NestPoint point) {
  for (const Create& create : c.creates) {
    point.creates.push_back(Touch(point, create.array, create.map, {}));
  }
  for (const Use& use : c.uses) {
    point.uses.push_back(Touch(point, use.array, use.map, use.guard));
  }
  DOGGED_RETURN_IF_ERROR(AddInputs(c, point));
  nest_.points.push_back(std::move(point));
  return absl::OkStatus();
}

// The copy of a result, over its indices that vary, counted from 0: so tiles of
// it are blocks of the dense array that the user gets, whatever made it.
absl::Status NestReader::AddResult(size_t r) {
  const PointResult& result = points_.results[r];
  const PointArray& array = points_.arrays[result.array];
  if (array.block_rank > 0) {
    return absl::UnimplementedError("a result has blocks");
  }
  if (result.box.IsEmpty()) {
    return absl::UnimplementedError("a result is empty");
  }
  NestPoint point{.name = absl::StrCat("result of ", array.name),
                  .tuple = absl::StrCat("S", nest_.points.size())};
  AffineMap from;
  AffineMap to;
  std::string conditions = "true";
  for (int d = 0; d < result.box.size(); ++d) {
    const auto s = static_cast<size_t>(d);
    from.push_back(AffineExpr::Constant(result.box.lower[d]));
    if (!result.varies[s]) continue;
    from.back() = from.back() + AffineExpr::Index(point.dims) * result.step[s];
    to.push_back(AffineExpr::Index(point.dims));
    absl::StrAppend(
        &conditions, " and 0 <= i", point.dims,
        " <= ", (result.box.upper[d] - result.box.lower[d]) / result.step[s]);
    ++point.dims;
  }
  point.domain = Points(point, conditions);
  if (!result.is_whole_box && !result.is_grid) {
    // The places whose label is wanted.
    const isl::map to_label(
        nest_.context,
        absl::StrCat("{ ", IslTuple(point.tuple, point.dims, "i"), " -> ",
                     MapText(from), " }"));
    const isl::map labels(
        nest_.context,
        absl::StrCat("{ ", IslTuple("R", result.domain.size(), "i"), " -> ",
                     MapText(result.map), " : ", DomainText(result.domain),
                     " }"));
    point.domain = point.domain.intersect(
        isl::manage(isl_map_range(labels.copy())).apply(to_label.reverse()));
  }
  point.code = CopyCode(array.element, point.dims);
  point.creates.push_back(
      Touch(point, nest_.array_count + static_cast<int32_t>(r), to, {}));
  point.uses.push_back(Touch(point, result.array, from, {}));
  nest_.points.push_back(std::move(point));
  return absl::OkStatus();
}

// Its points add to accumulators, an array of its own with the indices of the
// results; the root makes the results of these.
void NestReader::AddReduction(size_t r) {
  const PointReduction& reduction = points_.reductions[r];
  const ElementType element = points_.arrays[reduction.source].element;
  const auto partials =
      static_cast<int32_t>(nest_.array_count + points_.results.size() + r);
  const int kept = reduction.domain.size();
  AffineMap own;
  for (int d = 0; d < kept; ++d) own.push_back(AffineExpr::Index(d));
  NestPoint leaf{.name = reduction.name,
                 .tuple = absl::StrCat("S", nest_.points.size()),
                 .dims = reduction.over.size()};
  leaf.reduce = NestReduce{.step = NestReduce::Step::kAdd,
                           .kind = reduction.kind,
                           .element = element};
  const std::string wanted =
      DomainText(needed_only_ ? *reduction.needed : reduction.domain);
  leaf.domain =
      Points(leaf, absl::StrCat(DomainText(reduction.over), " and ", wanted));
  leaf.creates.push_back(Touch(leaf, partials, own, {}));
  leaf.uses.push_back(Touch(leaf, reduction.source, reduction.source_map, {}));
  leaf.code.index_count = std::max(1, leaf.dims);
  leaf.code.loads = {{.element = element}};
  leaf.code.stores = {{.element = PartialElement(reduction.kind, element)}};
  NestPoint root{.name = absl::StrCat(reduction.name, " (root)"),
                 .tuple = absl::StrCat("S", nest_.points.size() + 1),
                 .dims = kept};
  root.reduce = leaf.reduce;
  root.reduce->step = NestReduce::Step::kRound;
  root.domain = Points(root, wanted);
  if (root.domain.is_empty()) return;
  root.creates.push_back(Touch(root, reduction.array, reduction.map, {}));
  root.code.index_count = std::max(1, kept);
  root.code.stores = {{.element = element}};
  nest_.reductions.push_back(
      {.leaf = static_cast<int32_t>(nest_.points.size()),
       .root = static_cast<int32_t>(nest_.points.size() + 1)});
  nest_.points.push_back(std::move(leaf));
  nest_.points.push_back(std::move(root));
}

void NestReader::AddFlows(int32_t consumer, int32_t use) {
  const NestTouch& read = nest_.points[consumer].uses[use];
  for (size_t p = 0; p < nest_.points.size(); ++p) {
    const NestPoint& producer = nest_.points[p];
    for (size_t c = 0; c < producer.creates.size(); ++c) {
      if (producer.creates[c].array != read.array) continue;
      isl::map map =
          read.relation.apply_range(producer.creates[c].relation.reverse());
      if (map.is_empty()) continue;
      nest_.flows.push_back({.consumer = consumer,
                             .use = use,
                             .producer = static_cast<int32_t>(p),
                             .create = static_cast<int32_t>(c),
                             .map = std::move(map)});
    }
  }
}

absl::StatusOr<Nest> NestReader::Read() {
  if (points_.repeat)
    return absl::UnimplementedError("its loop ends by a value");
  if (points_.classes.size() + points_.results.size() > kPointsMax) {
    return absl::UnimplementedError("it has too many tasks");
  }
  for (const PointClass& c : points_.classes) {
    DOGGED_RETURN_IF_ERROR(AddClass(c));
  }
  for (size_t r = 0; r < points_.results.size(); ++r) {
    DOGGED_RETURN_IF_ERROR(AddResult(r));
  }
  for (size_t r = 0; r < points_.reductions.size(); ++r) AddReduction(r);
  for (size_t p = 0; p < nest_.points.size(); ++p) {
    for (size_t u = 0; u < nest_.points[p].uses.size(); ++u) {
      AddFlows(static_cast<int32_t>(p), static_cast<int32_t>(u));
    }
  }
  return std::move(nest_);
}

}  // namespace

absl::StatusOr<Nest> ReadNest(const PointProgram& points, isl::ctx context) {
  return NestReader(points, context).Read();
}

}  // namespace dogged::dsl
