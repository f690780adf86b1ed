#include "dsl/lower/static_values.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "dsl/ir/substitute.h"

namespace dogged::dsl {
namespace {

// Operands of `node`, which are nodes of one code, become those that stand for
// them in another: `there`, by position.
void MoveOperands(IrNode& node, const std::vector<int32_t>& there) {
  for (int32_t* const operand : {&node.a, &node.b, &node.c}) {
    if (*operand >= 0) *operand = there[*operand];
  }
}

// Classes that make one array: each costs its code in every reader.
constexpr size_t kMakersMax = 4;
// Nodes of a task's code with the formulas of all that it reads.
constexpr size_t kNodesMax = 400;

// A class that makes labels of a static array, seen from such a label: the
// index of its task, and the conditions under which it is this class's.
struct Maker {
  const PointClass* made_by = nullptr;
  std::vector<AffineExpr> index;  // of the label's indices
  Guard is_made;                  // likewise
};

// None where an index of the label is not one of the task's plus a number.
std::optional<Maker> MakerOf(const PointClass& c) {
  const AffineMap& map = c.creates.front().map;
  const int dims = c.domain.size();
  Maker out{.made_by = &c, .index = {}, .is_made = {}};
  std::vector<std::optional<AffineExpr>> index(dims);
  std::vector<Constraint> conditions;
  for (size_t i = 0; i < map.size(); ++i) {
    const AffineExpr label = AffineExpr::Index(static_cast<int>(i));
    const int d = map[i].LastIndex();
    if (d < 0) {
      conditions.push_back(
          {.expr = label - map[i], .kind = Constraint::Kind::kZero});
      continue;
    }
    AffineExpr rest = map[i];
    const int64_t factor = std::exchange(rest.coefficients[d], 0);
    if ((factor != 1 && factor != -1) || !rest.IsConstant()) {
      return std::nullopt;
    }
    const AffineExpr found = (label - rest) * factor;
    std::optional<AffineExpr>& known = index[d];
    if (known) {
      conditions.push_back(
          {.expr = found - *known, .kind = Constraint::Kind::kZero});
    } else {
      known = found;
    }
  }
  for (int d = 0; d < dims; ++d) {
    const Dimension& dimension = c.domain.dimensions[d];
    std::optional<AffineExpr>& known = index[d];
    if (!known && !dimension.IsNumber()) return std::nullopt;
    out.index.push_back(known ? *known : dimension.lower.front().expr);
  }
  for (int d = 0; d < dims; ++d) {
    const Dimension& dimension = c.domain.dimensions[d];
    const AffineExpr& own = out.index[d];
    for (const AffineBound& bound : dimension.lower) {
      conditions.push_back(
          {.expr = own * bound.divisor - Substitute(bound.expr, out.index)});
    }
    for (const AffineBound& bound : dimension.upper) {
      conditions.push_back(
          {.expr = Substitute(bound.expr, out.index) - own * bound.divisor});
    }
  }
  out.is_made = Substitute(c.domain.guard, out.index);
  out.is_made.Require(conditions);
  return out;
}

bool IsCode(const PointClass& c) {
  return c.body == PointClass::Body::kCode && !c.code.has_elements;
}

bool ReadsArray(const PointClass& c, int32_t array) {
  return std::any_of(c.uses.begin(), c.uses.end(),
                     [array](const Use& use) { return use.array == array; });
}

// Writes a class's code anew, with values in place of its uses of an array.
class StaticReader {
 public:
  StaticReader(const PointClass& reader, int32_t array,
               const std::vector<Maker>& makers)
      : from_(reader), array_(array), makers_(makers), out_(reader) {}
  // None if the code would be too long.
  std::optional<PointClass> Make();

 private:
  // The value of the element at `map` of the task, where `guard` holds.
  int32_t ValueOf(const AffineMap& map, const Guard& guard,
                  CodeBuilder& builder);

  const PointClass& from_;
  const int32_t array_;
  const std::vector<Maker>& makers_;
  PointClass out_;
  std::vector<int32_t> indices_;
};

int32_t StaticReader::ValueOf(const AffineMap& map, const Guard& guard,
                              CodeBuilder& builder) {
  int32_t value = -1;
  for (const Maker& maker : makers_) {
    const PointClass& c = *maker.made_by;
    AffineMap index = Substitute(maker.index, map);
    int32_t made = -1;
    if (c.body == PointClass::Body::kInput) {
      InputRead read{.position = c.input.position,
                     .at = {},
                     .step = c.input.step,
                     .guard = guard};
      for (size_t d = 0; d < c.input.axis.size(); ++d) {
        const int64_t axis = c.input.axis[d];
        read.at.push_back(
            index[axis] -
            AffineExpr::Constant(c.input.box.lower[static_cast<int>(d)]));
      }
      CodeBlock& code = out_.code.code;
      made = builder.Add({.op = IrOp::kLoad,
                          .type = IrTypeOf(c.input.element),
                          .integer = std::ssize(code.loads) - 1});
      out_.code.reads.push_back(std::move(read));
    } else {
      std::vector<int32_t> at;
      for (const AffineExpr& expr : index) {
        at.push_back(builder.Affine(expr, indices_));
      }
      const CodeBlock& code = c.code.code;
      std::vector<int32_t> nodes;
      for (IrNode node : code.nodes) {
        MoveOperands(node, nodes);
        nodes.push_back(node.op == IrOp::kIndex ? at[node.integer]
                                                : builder.Add(node));
      }
      made = nodes[code.stores.front().node];
    }
    // The first maker stands for what is left by the others.
    if (value < 0) {
      value = made;
      continue;
    }
    value = builder.Add(
        {.op = IrOp::kSelect,
         .type = builder.node(made).type,
         .a = builder.Holds(Substitute(maker.is_made, map), indices_),
         .b = made,
         .c = value});
  }
  return value;
}

std::optional<PointClass> StaticReader::Make() {
  const CodeBlock& code = from_.code.code;
  CodeBlock& made = out_.code.code;
  made.loads.clear();
  made.nodes.clear();
  out_.uses.clear();
  out_.code.reads.clear();
  // Loads of uses stand before reads of inputs.
  const size_t use_count = from_.uses.size();
  std::vector<int32_t> places(code.loads.size(), -1);
  for (size_t u = 0; u < use_count; ++u) {
    if (from_.uses[u].array == array_) continue;
    places[u] = static_cast<int32_t>(out_.uses.size());
    out_.uses.push_back(from_.uses[u]);
    made.loads.push_back(code.loads[u]);
  }
  for (size_t r = 0; r < from_.code.reads.size(); ++r) {
    places[use_count + r] = static_cast<int32_t>(made.loads.size());
    out_.code.reads.push_back(from_.code.reads[r]);
    made.loads.push_back(code.loads[use_count + r]);
  }
  CodeBuilder builder(made);
  for (int d = 0; d < from_.domain.size(); ++d) {
    indices_.push_back(builder.Index(d));
  }
  std::vector<int32_t> nodes;
  for (IrNode node : code.nodes) {
    MoveOperands(node, nodes);
    const int64_t load = node.integer;
    if (node.op == IrOp::kLoad && places[load] >= 0) {
      node.integer = places[load];
    } else if (node.op == IrOp::kLoad) {
      const Use& use = from_.uses[load];
      if (makers_.front().made_by->body == PointClass::Body::kInput) {
        made.loads.push_back(code.loads[load]);
      }
      const int32_t value = ValueOf(use.map, use.guard, builder);
      nodes.push_back(node.a < 0 ? value
                                 : builder.Add({.op = IrOp::kSelect,
                                                .type = node.type,
                                                .a = node.a,
                                                .b = value,
                                                .c = node.b}));
      continue;
    }
    nodes.push_back(builder.Add(node));
    if (made.nodes.size() > kNodesMax) return std::nullopt;
  }
  for (IrStore& store : made.stores) {
    store.node = nodes[store.node];
  }
  if (made.mask >= 0) made.mask = nodes[made.mask];
  if (made.nodes.size() > kNodesMax) return std::nullopt;
  return std::move(out_);
}

// Arrays that something else than code reads, or that have to be labels.
std::vector<bool> LabelArrays(const PointProgram& points) {
  std::vector<bool> out(points.arrays.size(), false);
  const auto keep = [&out](int32_t array) { out[array] = true; };
  for (size_t a = 0; a < out.size(); ++a) {
    const PointArray& array = points.arrays[a];
    if (array.block_rank > 0 || array.is_scalar_input) out[a] = true;
  }
  for (const PointResult& result : points.results) keep(result.array);
  for (const PointReduction& reduction : points.reductions) {
    keep(reduction.array);
    keep(reduction.source);
  }
  if (points.repeat) keep(points.repeat->array);
  for (const PointClass& c : points.classes) {
    for (const Use& use : c.uses) {
      if (!IsCode(c) || use.gather != nullptr) keep(use.array);
    }
    const bool is_formula = IsCode(c) && c.code.code.mask < 0;
    const bool is_file = c.body == PointClass::Body::kInput &&
                         c.input.block.empty() && c.input_at.empty();
    if ((is_formula || is_file) && c.creates.size() == 1) continue;
    for (const Create& create : c.creates) keep(create.array);
  }
  return out;
}

// The classes that make `array`; none if it is not static.
std::vector<Maker> MakersOf(const PointProgram& points, int32_t array) {
  std::vector<Maker> out;
  bool has_file = false;
  for (const PointClass& c : points.classes) {
    if (c.creates.front().array != array) continue;
    if (!c.uses.empty() || !c.code.reads.empty()) return {};
    std::optional<Maker> maker = MakerOf(c);
    has_file |= c.body == PointClass::Body::kInput;
    if (!maker || out.size() == kMakersMax) return {};
    out.push_back(*std::move(maker));
  }
  if (has_file && out.size() > 1) return {};
  return out;
}

// False if `array` is not static, or its readers would be too long.
bool TakeIn(int32_t array, PointProgram& points) {
  const std::vector<Maker> makers = MakersOf(points, array);
  if (makers.empty()) return false;
  std::vector<PointClass> classes;
  bool is_read = false;
  for (const PointClass& c : points.classes) {
    if (c.creates.front().array == array) continue;
    if (!ReadsArray(c, array)) {
      classes.push_back(c);
      continue;
    }
    is_read = true;
    std::optional<PointClass> reader = StaticReader(c, array, makers).Make();
    if (!reader) return false;
    classes.push_back(*std::move(reader));
  }
  if (!is_read) return false;
  points.classes = std::move(classes);
  return true;
}

bool IsFile(const PointProgram& points, int32_t array) {
  return std::any_of(points.classes.begin(), points.classes.end(),
                     [array](const PointClass& c) {
                       return c.body == PointClass::Body::kInput &&
                              c.creates.front().array == array;
                     });
}

// Uses of a formula's values that are no more work than to keep these.
constexpr int kSeldom = 2;

// Whether no two tasks of `c` read one element by `map`.
bool ReadsEachOnce(const PointClass& c, const AffineMap& map) {
  // Rows of the map, less what earlier ones tell, by integer elimination.
  std::vector<AffineExpr> rows;
  for (AffineExpr row : map) {
    row.constant = 0;
    for (int d = 0; d < c.domain.size(); ++d) {
      if (c.domain.dimensions[d].IsNumber()) {
        row.coefficients[d] = 0;
      }
    }
    for (const AffineExpr& other : rows) {
      const auto at = static_cast<size_t>(other.LastIndex());
      row = row * other.coefficients[at] - other * row.coefficients[at];
    }
    if (row.LastIndex() >= 0) rows.push_back(row);
  }
  const auto& dimensions = c.domain.dimensions;
  return std::ssize(rows) ==
         std::count_if(dimensions.begin(), dimensions.end(),
                       [](const Dimension& d) { return !d.IsNumber(); });
}

// Whether the values of `array` are read seldom.
bool IsReadSeldom(const PointProgram& points, int32_t array) {
  int uses = 0;
  for (const PointClass& c : points.classes) {
    for (const Use& use : c.uses) {
      if (use.array != array) continue;
      if (++uses > kSeldom || !ReadsEachOnce(c, use.map)) return false;
    }
  }
  return true;
}

PointProgram TakeAllIn(const PointProgram& points, bool seldom_only) {
  PointProgram out = points;
  if (points.has_static_labels) return out;
  const std::vector<bool> is_label = LabelArrays(points);
  // An array that is made of static values may become static itself.
  for (bool has_changed = true; std::exchange(has_changed, false);) {
    for (size_t a = 0; a < is_label.size(); ++a) {
      const auto array = static_cast<int32_t>(a);
      const bool is_left =
          seldom_only && !IsFile(out, array) && !IsReadSeldom(out, array);
      if (is_label[a] || is_left) continue;
      has_changed |= TakeIn(array, out);
    }
  }
  return out;
}

}  // namespace

PointProgram WithStaticValues(const PointProgram& points) {
  return TakeAllIn(points, /*seldom_only=*/false);
}

PointProgram WithSeldomReadValues(const PointProgram& points) {
  return TakeAllIn(points, /*seldom_only=*/true);
}

}  // namespace dogged::dsl
