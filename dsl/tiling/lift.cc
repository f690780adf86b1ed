#include "dsl/tiling/lift.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dsl/tiling/stencil_arrays.h"
#include "dsl/tiling/stencil_coefficients.h"

namespace dogged::dsl {
namespace {

AffineMap Embedded(const Embedding& embedding, const AffineMap& map) {
  if (embedding.empty()) return map;
  AffineMap out;
  for (const Follow& follow : embedding) {
    AffineExpr expr = AffineExpr::Constant(follow.offset);
    if (follow.from >= 0) {
      expr = expr + map[follow.from] * follow.factor;
    }
    out.push_back(expr);
  }
  return out;
}

// `expr` times `factor`, at points whose index k is scaled by `factor` and
// moved by `offset`.
AffineExpr Scaled(const AffineExpr& expr, int k, int64_t factor,
                  int64_t offset) {
  AffineExpr out = expr * factor;
  int64_t& own = out.coefficients[k];
  own /= factor;
  out.constant -= own * offset;
  return out;
}

// Not times anything; false if it has no whole coefficients.
bool Rescale(AffineExpr& expr, int k, int64_t factor, int64_t offset) {
  int64_t& own = expr.coefficients[k];
  if (own % factor != 0) return false;
  own /= factor;
  expr.constant -= own * offset;
  return true;
}

void Scale(Guard& guard, int k, int64_t factor, int64_t offset) {
  for (auto& alternative : guard.any_of) {
    for (Constraint& c : alternative) {
      if (c.expr.coefficients[k] == 0) continue;
      c.expr = Scaled(c.expr, k, factor, offset);
      if (c.kind == Constraint::Kind::kDivisible) c.modulus *= factor;
    }
  }
}

// Index k of the domain becomes factor * k + offset. False if it can't.
bool Scale(Domain& domain, int k, int64_t factor, int64_t offset) {
  for (int d = 0; d < domain.size(); ++d) {
    Dimension& dimension = domain.dimensions[d];
    for (auto* bounds : {&dimension.lower, &dimension.upper}) {
      for (AffineBound& bound : *bounds) {
        if (d == k && bound.divisor != 1) return false;
        const bool is_free = bound.expr.coefficients[k] == 0;
        if (d != k && is_free) continue;
        bound.expr = Scaled(bound.expr, k, factor, offset);
        if (d == k) {
          bound.expr.constant += offset;
        } else {
          bound.divisor *= factor;
        }
      }
    }
  }
  Scale(domain.guard, k, factor, offset);
  domain.guard.Require({{.expr = AffineExpr::Index(k, -offset),
                         .kind = Constraint::Kind::kDivisible,
                         .modulus = factor}});
  return true;
}

// `code` where index k is factor * k + offset.
CodeBlock LiftedCode(const CodeBlock& code, int k, int64_t factor,
                     int64_t offset) {
  CodeBlock out;
  out.name = code.name;
  out.comment = code.comment;
  out.index_count = code.index_count;
  out.loads = code.loads;
  out.stores = code.stores;
  CodeBuilder builder(out);
  std::vector<int32_t> place;  // of each old node
  for (IrNode node : code.nodes) {
    for (int32_t* operand : {&node.a, &node.b, &node.c}) {
      if (*operand >= 0) *operand = place[*operand];
    }
    if (node.op != IrOp::kIndex || node.integer != k) {
      place.push_back(builder.Add(node));
      continue;
    }
    const int32_t ahead = builder.Binary(IrOp::kSubtract, builder.Index(k),
                                         builder.Integer(offset));
    place.push_back(
        builder.Binary(IrOp::kDivide, ahead, builder.Integer(factor)));
  }
  for (IrStore& store : out.stores) {
    store.node = place[store.node];
  }
  if (code.mask >= 0) out.mask = place[code.mask];
  return out;
}

// Lets index k of a class be factor * k + offset. Maps are done already where
// that makes them whole.
bool Scale(PointClass& c, int k, int64_t factor, int64_t offset) {
  if (c.body != PointClass::Body::kCode) return false;
  if (!Scale(c.domain, k, factor, offset)) return false;
  for (Create& create : c.creates) {
    for (AffineExpr& expr : create.map) {
      if (!Rescale(expr, k, factor, offset)) return false;
    }
  }
  for (Use& use : c.uses) {
    for (AffineExpr& expr : use.map) {
      if (!Rescale(expr, k, factor, offset)) return false;
    }
    Scale(use.guard, k, factor, offset);
  }
  if (!Rescale(c.time, k, factor, offset)) return false;
  c.priority.reset();
  c.needed.reset();
  c.code.code = LiftedCode(c.code.code, k, factor, offset);
  return true;
}

// Whether some index of the result's labels goes in larger steps than its own.
bool StandsInSteps(const PointResult& result) {
  return std::any_of(result.map.begin(), result.map.end(),
                     [](const AffineExpr& expr) {
                       const int k = expr.LastIndex();
                       return k >= 0 && expr.coefficients[k] > 1;
                     });
}

// Every index where it is, at some distance.
bool IsDistance(const Embedding& embedding) {
  for (size_t i = 0; i < embedding.size(); ++i) {
    if (embedding[i].from != static_cast<int32_t>(i) ||
        embedding[i].factor != 1) {
      return false;
    }
  }
  return true;
}

// The embedding of `create` in the label that its task reads at `read`: each
// index of `create`, in their order, is in one of `read`, whose others are
// numbers. None if that is not so.
std::optional<Embedding> EmbeddingOf(const Create& create,
                                     const AffineMap& read) {
  Embedding out;
  int32_t next = 0;
  for (const AffineExpr& expr : read) {
    Follow follow{.offset = expr.constant};
    const int k = expr.LastIndex();
    if (k >= 0) {
      const int64_t factor = expr.coefficients[k];
      const bool is_plain =
          factor > 0 && expr == AffineExpr::Index(k) * factor +
                                    AffineExpr::Constant(expr.constant);
      if (!is_plain || next >= static_cast<int32_t>(create.map.size()) ||
          SingleIndex(create.map[next]) != k) {
        return std::nullopt;
      }
      follow.from = next;
      follow.factor = factor;
      follow.offset -= factor * create.map[next].constant;
      ++next;
    }
    out.push_back(follow);
  }
  if (next != static_cast<int32_t>(create.map.size())) return std::nullopt;
  return out;
}

class Lifter {
 public:
  explicit Lifter(const PointProgram& points)
      : points_(points),
        arrays_(FindStencilArrays(points)),
        is_field_(arrays_.has_time),
        embeddings_(points.arrays.size()) {}

  // Arrays of fewer indices than fields that have steps.
  std::optional<LiftedProgram> Embed();
  // All of a program without steps.
  std::optional<LiftedProgram> GiveSteps();

 private:
  // True for arrays of fewer indices, or of as many if some stand for steps.
  bool IsLow(int32_t array) const {
    const int32_t rank = points_.arrays[array].rank;
    return rank > 0 && rank <= arrays_.rank &&
           arrays_.has_time[array] == (rank == arrays_.rank) &&
           points_.arrays[array].block_rank == 0 && !is_hopeless_[array];
  }
  // Where `use` of a class reads a field, by the fields' indices; empty if it
  // reads none.
  AffineMap FieldAt(const Use& use) const;
  bool FindEmbedding(const PointClass& c);
  // Marks arrays that stay as they are.
  void FindHopeless();
  void FindFieldsWithoutSteps();
  std::optional<LiftedProgram> Rewritten() const;
  bool Rewrite(PointClass& c) const;
  bool Rewrite(PointResult& result) const;

  const PointProgram& points_;
  const StencilArrays arrays_;
  std::vector<bool> is_field_;
  std::vector<Embedding> embeddings_;
  std::vector<bool> is_hopeless_;
};

AffineMap Lifter::FieldAt(const Use& use) const {
  const int64_t a = use.array;
  if (!embeddings_[a].empty()) return Embedded(embeddings_[a], use.map);
  return is_field_[a] ? use.map : AffineMap();
}

void Lifter::FindHopeless() {
  is_hopeless_ = RecurrentArrays(points_);
  for (const PointReduction& r : points_.reductions) {
    is_hopeless_[r.array] = true;
  }
  for (bool has_changed = true; std::exchange(has_changed, false);) {
    for (const PointClass& c : points_.classes) {
      const bool reads_one =
          std::any_of(c.uses.begin(), c.uses.end(), [this](const Use& use) {
            const int64_t a = use.array;
            return is_hopeless_[a] && !is_field_[a];
          });
      for (const Create& create : c.creates) {
        const int64_t a = create.array;
        if (!reads_one || is_hopeless_[a]) continue;
        is_hopeless_[a] = has_changed = true;
      }
    }
  }
}

// True if something has changed.
bool Lifter::FindEmbedding(const PointClass& c) {
  std::optional<Embedding> found;
  for (const Use& use : c.uses) {
    const AffineMap read = FieldAt(use);
    if (read.empty()) continue;
    const auto one = EmbeddingOf(c.creates.front(), read);
    if (!one) return false;
    if (!found) found = one;
    // The latest of several times is taken; any other difference is a distance.
    Follow& time = found->back();
    if (time.from == one->back().from) {
      time.offset = std::max(time.offset, one->back().offset);
    }
  }
  if (!found) return false;
  bool has_changed = false;
  for (const Create& create : c.creates) {
    Embedding& own = embeddings_[create.array];
    if (!IsLow(create.array) || create.map != c.creates.front().map ||
        (own.empty() && IsDistance(*found))) {
      continue;
    }
    if (own.empty()) {
      own = *found;
      has_changed = true;
    } else if (own.back().from == found->back().from &&
               own.back().offset < found->back().offset) {
      own.back().offset = found->back().offset;
      has_changed = true;
    }
  }
  return has_changed;
}

bool Lifter::Rewrite(PointClass& c) const {
  // Indices that a field has in larger steps than the class.
  std::vector<std::pair<int, Follow>> scaled;
  const Create first = c.creates.front();
  for (const Follow& follow : embeddings_[first.array]) {
    if (follow.from < 0 || follow.factor == 1) continue;
    const AffineExpr& own = first.map[follow.from];
    if (own.IsConstant()) continue;
    const std::optional<int> k = SingleIndex(own);
    if (!k) return false;
    scaled.emplace_back(
        *k, Follow{.factor = follow.factor,
                   .offset = follow.offset + follow.factor * own.constant});
  }
  for (Create& create : c.creates) {
    create.map = Embedded(embeddings_[create.array], create.map);
  }
  for (Use& use : c.uses) {
    use.map = Embedded(embeddings_[use.array], use.map);
  }
  return std::all_of(scaled.begin(), scaled.end(), [&c](const auto& index) {
    return Scale(c, index.first, index.second.factor, index.second.offset);
  });
}

// A result of every n-th point gets their indices for its own.
bool Lifter::Rewrite(PointResult& result) const {
  const Embedding& embedding = embeddings_[result.array];
  if (embedding.empty() && !StandsInSteps(result)) return true;
  Domain domain = result.domain;
  AffineMap map = Embedded(embedding, result.map);
  for (size_t i = 0; i < map.size(); ++i) {
    const AffineExpr expr = map[i];
    const int k = expr.LastIndex();
    if (k < 0) continue;
    const int64_t factor = expr.coefficients[k];
    const AffineExpr rest = expr - AffineExpr::Index(k) * factor;
    if (factor < 2 || !rest.IsConstant()) continue;
    if (!Scale(domain, k, factor, rest.constant)) return false;
    for (AffineExpr& other : map) {
      if (!Rescale(other, k, factor, rest.constant)) return false;
    }
  }
  PointResult out = MakeResult(result.array, std::move(domain), std::move(map));
  out.time = result.time;
  out.range = result.range;
  out.file = result.file;
  result = std::move(out);
  return true;
}

std::optional<LiftedProgram> Lifter::Rewritten() const {
  PointProgram out = points_;
  for (PointClass& c : out.classes) {
    if (!Rewrite(c)) return std::nullopt;
  }
  for (PointReduction& r : out.reductions) {
    r.source_map = Embedded(embeddings_[r.source], r.source_map);
  }
  for (PointResult& result : out.results) {
    if (!Rewrite(result)) return std::nullopt;
  }
  for (size_t a = 0; a < out.arrays.size(); ++a) {
    const Embedding& embedding = embeddings_[a];
    if (embedding.empty()) continue;
    PointArray& array = out.arrays[a];
    if (array.box.size() != array.rank) return std::nullopt;
    Box box;
    for (const Follow& follow : embedding) {
      const auto at = [&follow](const IndexVector& ends) {
        return follow.offset +
               (follow.from < 0 ? 0 : follow.factor * ends[follow.from]);
      };
      box.lower.push_back(at(array.box.lower));
      box.upper.push_back(at(array.box.upper));
    }
    array.rank = static_cast<int32_t>(embedding.size());
    array.box = std::move(box);
    array.place.clear();
  }
  return LiftedProgram{.points = std::move(out), .embeddings = embeddings_};
}

std::optional<LiftedProgram> Lifter::Embed() {
  FindHopeless();
  bool is_any = false;
  for (bool has_changed = true; std::exchange(has_changed, false);) {
    for (const PointClass& c : points_.classes) {
      if (!IsLow(c.creates.front().array)) continue;
      has_changed |= FindEmbedding(c);
    }
    is_any |= has_changed;
  }
  is_any |= std::any_of(points_.results.begin(), points_.results.end(),
                        StandsInSteps);
  if (!is_any) return std::nullopt;
  return Rewritten();
}

// Finds arrays of the highest rank that are read at constant distances by one
// another.
void Lifter::FindFieldsWithoutSteps() {
  for (size_t a = 0; a < is_field_.size(); ++a) {
    is_field_[a] = points_.arrays[a].rank == arrays_.rank &&
                   points_.arrays[a].block_rank == 0;
  }
  for (bool has_changed = true; std::exchange(has_changed, false);) {
    for (const PointClass& c : points_.classes) {
      const Create& create = c.creates.front();
      if (!is_field_[create.array]) continue;
      for (const Use& use : c.uses) {
        const int64_t a = use.array;
        if (!is_field_[a]) continue;
        for (size_t i = 0; i < use.map.size(); ++i) {
          if ((use.map[i] - create.map[i]).IsConstant()) continue;
          is_field_[a] = false;
          has_changed = true;
        }
      }
    }
  }
}

std::optional<LiftedProgram> Lifter::GiveSteps() {
  if (arrays_.rank < 1 || arrays_.rank >= kMaxIndices) return std::nullopt;
  FindFieldsWithoutSteps();
  std::vector<int64_t> steps(is_field_.size(), 0);
  for (bool has_changed = true; std::exchange(has_changed, false);) {
    for (const PointClass& c : points_.classes) {
      for (const Create& create : c.creates) {
        if (!is_field_[create.array]) continue;
        int64_t& own = steps[create.array];
        for (const Use& use : c.uses) {
          const int64_t a = use.array;
          if (!is_field_[a] || own > steps[a]) continue;
          own = steps[a] + 1;
          has_changed = true;
        }
      }
    }
  }
  // All that one task makes it makes at once.
  for (const PointClass& c : points_.classes) {
    for (const Create& create : c.creates) {
      if (steps[create.array] != steps[c.creates.front().array]) {
        return std::nullopt;
      }
    }
  }
  for (size_t a = 0; a < is_field_.size(); ++a) {
    if (!is_field_[a]) continue;
    for (int32_t i = 0; i < arrays_.rank; ++i) {
      embeddings_[a].push_back({.from = i, .factor = 1});
    }
    embeddings_[a].push_back({.offset = steps[a]});
  }
  std::optional<LiftedProgram> out = Rewritten();
  if (out) out->points.has_given_steps = true;
  return out;
}

}  // namespace

std::optional<LiftedProgram> LiftPoints(const PointProgram& points) {
  if (points.repeat) return std::nullopt;
  Lifter lifter(points);
  return FindStencilArrays(points).has_steps ? lifter.Embed()
                                             : lifter.GiveSteps();
}

}  // namespace dogged::dsl
