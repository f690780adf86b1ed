#include "dsl/tiling/stencil_piece.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "dsl/tiling/stencil.h"

namespace dogged::dsl {
namespace {

// Boxes that one piece becomes, at most: more are dearer than their mask.
constexpr size_t kBoxesMax = 32;

using Conjunction = std::vector<Constraint>;

// `all` with bounds from one side each; none if one of them is no bound of a
// single coordinate.
std::optional<Conjunction> BoxOf(const Conjunction& all) {
  Conjunction out;
  for (const Constraint& one : all) {
    const auto& factors = one.expr.coefficients;
    const bool is_bound = std::count_if(factors.begin(), factors.end(),
                                        [](int64_t f) { return f != 0; }) == 1;
    if (!is_bound || one.kind == Constraint::Kind::kDivisible) return {};
    out.push_back({.expr = one.expr});
    if (one.kind == Constraint::Kind::kZero) {
      out.push_back({.expr = one.expr * -1});
    }
  }
  return out;
}

// `hull` where also `expr` >= 0, which is of one coordinate.
void Bound(const AffineExpr& expr, Box& hull) {
  for (int c = 0; c < hull.size(); ++c) {
    const int64_t factor = expr.coefficients[c];
    if (factor > 0) {
      hull.lower[c] = std::max(hull.lower[c], CeilDiv(-expr.constant, factor));
    } else if (factor < 0) {
      hull.upper[c] = std::min(hull.upper[c], FloorDiv(expr.constant, -factor));
    }
  }
}

bool IsEmptyIn(Box hull, const Conjunction& box) {
  for (const Constraint& constraint : box) Bound(constraint.expr, hull);
  return hull.IsEmpty();
}

// The points of a box outside of `other`, as disjoint boxes that have points in
// `hull`.
void AddOutside(const Box& hull, const Conjunction& box,
                const Conjunction& other, std::vector<Conjunction>& out) {
  Conjunction rest = box;
  for (const Constraint& constraint : other) {
    Conjunction part = rest;
    part.push_back({.expr = constraint.expr * -1 - AffineExpr::Constant(1)});
    if (!IsEmptyIn(hull, part)) out.push_back(std::move(part));
    rest.push_back(constraint);
  }
}

// The points of `guard`, a union of boxes, in `hull` as disjoint boxes; none if
// it is no such union, or there would be too many.
std::vector<Conjunction> DisjointBoxes(const Box& hull, const Guard& guard) {
  std::vector<Conjunction> wanted;
  for (const Conjunction& all : guard.any_of) {
    const std::optional<Conjunction> box = BoxOf(all);
    if (!box.has_value()) return {};
    if (!IsEmptyIn(hull, *box)) wanted.push_back(*box);
  }
  // The larger boxes stay whole.
  std::stable_sort(
      wanted.begin(), wanted.end(),
      [](const auto& a, const auto& b) { return a.size() < b.size(); });
  std::vector<Conjunction> out;
  for (size_t w = 0; w < wanted.size(); ++w) {
    std::vector<Conjunction> left = {wanted[w]};
    for (size_t before = 0; before < w; ++before) {
      std::vector<Conjunction> outside;
      for (const Conjunction& part : left) {
        AddOutside(hull, part, wanted[before], outside);
      }
      left = std::move(outside);
      if (out.size() + left.size() > kBoxesMax) return {};
    }
    out.insert(out.end(), left.begin(), left.end());
  }
  return out;
}

// How an address moves along the innermost coordinate.
Step StepOf(const std::vector<int32_t>& coordinates, int32_t innermost) {
  if (!coordinates.empty() && coordinates.back() == innermost) {
    return Step::kUnit;
  }
  const bool is_there = std::find(coordinates.begin(), coordinates.end(),
                                  innermost) != coordinates.end();
  return is_there ? Step::kStrided : Step::kNone;
}

Step StepOf(const TileLoad& load, int32_t innermost) {
  if (load.at.empty()) return StepOf(load.coordinates, innermost);
  Step out = Step::kNone;
  for (const AffineExpr& expr : load.at) {
    const int64_t factor = expr.coefficients[innermost];
    if (factor == 0) continue;
    const bool is_unit = factor == 1 && &expr == &load.at.back();
    out = is_unit && out == Step::kNone ? Step::kUnit : Step::kStrided;
  }
  return out;
}

// Stores node stored[s] in field piece.stores[s].
void AddStores(const TilePlan& plan, const std::vector<int32_t>& stored,
               TilePiece& piece) {
  const int32_t dims = plan.dim_count();
  for (size_t s = 0; s < stored.size(); ++s) {
    const TileField& field = plan.fields[piece.stores[s]];
    std::vector<int32_t> own;
    for (const int32_t d : field.dims) own.push_back(d + 1);
    piece.code.stores.push_back({.element = field.element,
                                 .step = StepOf(own, dims),
                                 .node = stored[s]});
  }
}

}  // namespace

void MakePieceCode(const TilePlan& plan, Normal& normal) {
  const int32_t dims = plan.dim_count();
  const PointClass& source = *normal.source;
  CodeBlock& code = normal.piece.code;
  code.name = source.name;
  code.comment = source.body == PointClass::Body::kInput
                     ? absl::StrCat(source.name, ": from its file")
                     : source.code.code.comment;
  code.index_count = dims + 1;
  CodeBuilder builder(code);
  for (const TileLoad& load : normal.piece.loads) {
    const int64_t s = load.source;
    code.loads.push_back({.element = load.is_input ? plan.inputs[s].element
                                                   : plan.fields[s].element,
                          .step = StepOf(load, dims)});
  }
  std::vector<int32_t> coordinates;
  for (int c = 0; c <= dims; ++c) coordinates.push_back(builder.Index(c));
  const auto require = [&](int32_t holds) {
    code.mask =
        code.mask < 0 ? holds : builder.Binary(IrOp::kAnd, code.mask, holds);
  };
  for (const Constraint& constraint : normal.mask_all) {
    require(builder.Holds(constraint, coordinates));
  }
  if (!normal.mask.IsAlways()) {
    require(builder.Holds(normal.mask, coordinates));
  }
  // Where the mask fails nothing may be read: it may not be there.
  const auto load_under_mask = [&](IrNode node) {
    if (code.mask < 0) return builder.Add(node);
    if (node.a < 0) {
      node.a = code.mask;
      node.b = builder.Convert(builder.Integer(0), node.type);
    } else {
      node.a = builder.Binary(IrOp::kAnd, code.mask, node.a);
    }
    return builder.Add(node);
  };
  std::vector<int32_t> stored;
  if (source.body == PointClass::Body::kInput) {
    stored.push_back(load_under_mask(
        {.op = IrOp::kLoad, .type = IrTypeOf(source.input.element)}));
  } else {
    std::vector<int32_t> place;  // of each old node
    for (IrNode node : source.code.code.nodes) {
      for (int32_t* operand : {&node.a, &node.b, &node.c}) {
        if (*operand >= 0) *operand = place[*operand];
      }
      if (node.op == IrOp::kIndex) {
        place.push_back(
            builder.Affine(normal.index[node.integer], coordinates));
      } else if (node.op == IrOp::kLoad) {
        place.push_back(load_under_mask(node));
      } else {
        place.push_back(builder.Add(node));
      }
    }
    for (const IrStore& store : source.code.code.stores) {
      stored.push_back(place[store.node]);
    }
  }
  AddStores(plan, stored, normal.piece);
}

void FindHull(const TilePlan& plan, Normal& normal) {
  const int32_t dims = plan.dim_count();
  const TileField& field = plan.fields[normal.piece.stores.front()];
  constexpr int64_t kFar = int64_t{1} << 40;
  for (int32_t c = 0; c <= dims; ++c) {
    normal.hull.lower.push_back(-kFar);
    normal.hull.upper.push_back(kFar);
  }
  if (normal.piece.is_static) normal.hull.lower[0] = normal.hull.upper[0] = 0;
  for (size_t e = 0; e < field.dims.size(); ++e) {
    normal.hull.lower[field.dims[e] + 1] = field.box.lower[static_cast<int>(e)];
    normal.hull.upper[field.dims[e] + 1] = field.box.upper[static_cast<int>(e)];
  }
  for (const AffineExpr& expr : normal.piece.at_least) {
    const int count = static_cast<int>(
        std::count_if(expr.coefficients.begin(), expr.coefficients.end(),
                      [](int64_t factor) { return factor != 0; }));
    if (count == 1) Bound(expr, normal.hull);
  }
}

void WidenMasked(std::vector<Normal>& normals) {
  for (Normal& normal : normals) {
    if (normal.mask.IsAlways() || !normal.mask_all.empty() ||
        normal.source->body == PointClass::Body::kInput ||
        !normal.source->uses.empty()) {
      continue;
    }
    const bool is_alone = std::none_of(
        normals.begin(), normals.end(), [&normal](const Normal& other) {
          const auto& stores = normal.piece.stores;
          const bool shares =
              std::any_of(other.piece.stores.begin(), other.piece.stores.end(),
                          [&stores](int32_t store) {
                            return std::find(stores.begin(), stores.end(),
                                             store) != stores.end();
                          });
          return &other != &normal && shares &&
                 !Intersect(normal.hull, other.hull).IsEmpty();
        });
    if (is_alone) normal.mask = Guard();
  }
}

void SplitMasked(const TilePlan& plan, std::vector<Normal>& normals) {
  std::vector<Normal> out;
  for (Normal& normal : normals) {
    std::vector<Conjunction> boxes;
    if (!plan.IsGathered(normal.piece))
      boxes = DisjointBoxes(normal.hull, normal.mask);
    if (boxes.empty()) {
      out.push_back(std::move(normal));
      continue;
    }
    for (const Conjunction& box : boxes) {
      Normal part = normal;
      part.mask = Guard();
      for (const Constraint& constraint : box) {
        part.piece.at_least.push_back(constraint.expr);
        Bound(constraint.expr, part.hull);
      }
      out.push_back(std::move(part));
    }
  }
  normals = std::move(out);
}

void FindMakers(const TilePlan& plan, std::vector<Normal>& normals) {
  const int32_t dims = plan.dim_count();
  for (Normal& normal : normals) {
    for (const TileLoad& load : normal.piece.loads) {
      auto& makers = normal.piece.makers.emplace_back();
      auto& inward =
          normal.piece.is_inward.emplace_back(static_cast<size_t>(dims), false);
      if (load.is_input) continue;
      Box read = normal.hull;
      read.lower[0] -= load.lag;
      read.upper[0] -= load.lag;
      for (size_t e = 0; e < load.coordinates.size(); ++e) {
        const int32_t c = load.coordinates[e];
        const int64_t shift = load.shifts[e];
        read.lower[c] += shift;
        read.upper[c] += shift;
        const int64_t d = c - 1;
        const std::optional<int64_t>& fixed = normal.fixed[c];
        if (!fixed.has_value()) continue;
        const int64_t target = *fixed + shift;
        const auto i = static_cast<int>(d);
        inward[d] = (shift > 0 && *fixed >= plan.space.lower[i] &&
                     target - plan.space.lower[i] < kEdgeWidth) ||
                    (shift < 0 && *fixed <= plan.space.upper[i] &&
                     plan.space.upper[i] - target < kEdgeWidth);
      }
      const bool is_gathered = plan.IsGathered(load);
      const bool is_static = plan.fields[load.source].is_static;
      for (size_t m = 0; m < normals.size(); ++m) {
        const TilePiece& maker = normals[m].piece;
        if (std::find(maker.stores.begin(), maker.stores.end(), load.source) ==
            maker.stores.end()) {
          continue;
        }
        Box made = normals[m].hull;
        if (is_static) made.lower[0] = read.lower[0];
        if (is_static) made.upper[0] = read.upper[0];
        if (is_gathered || !Intersect(read, made).IsEmpty()) {
          makers.push_back(static_cast<int32_t>(m));
        }
      }
    }
  }
}

}  // namespace dogged::dsl
