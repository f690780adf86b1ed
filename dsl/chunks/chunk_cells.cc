#include "dsl/chunks/chunk_cells.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "dsl/ir/substitute.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// Cells of some arrays that are made together, at most.
constexpr size_t kCellsMax = 64;
// Cuts of an index for one constraint, at most.
constexpr int64_t kCutsMax = 16;
// Boxes between the cuts of some classes, at most.
constexpr size_t kBoxesMax = 4096;

// Adds cuts between which `constraint`, on points of `hull`, holds or fails as
// a whole. False if there are too many: on several indices it takes one at
// each value of all but the longest of them.
bool Cut(const Constraint& constraint, const Box& hull,
         std::vector<std::vector<int64_t>>& cuts) {
  const auto& factors = constraint.expr.coefficients;
  const auto extent = [&](int d) { return hull.upper[d] - hull.lower[d] + 1; };
  int longest = -1;
  for (int d = 0; d < hull.size(); ++d) {
    if (factors[d] == 0) continue;
    if (longest < 0 || extent(d) > extent(longest)) longest = d;
  }
  if (longest < 0) return true;
  const int64_t factor = factors[longest];
  if ((factor != 1 && factor != -1) ||
      constraint.kind == Constraint::Kind::kDivisible) {
    return false;
  }
  Domain others;
  int64_t count = 1;
  for (int d = 0; d < hull.size(); ++d) {
    const bool varies = d != longest && factors[d] != 0;
    const int64_t upper = varies ? hull.upper[d] : hull.lower[d];
    others.dimensions.push_back(
        {.name = "",
         .lower = {{.expr = AffineExpr::Constant(hull.lower[d])}},
         .upper = {{.expr = AffineExpr::Constant(upper)}}});
    if (!varies) continue;
    count *= extent(d);
    if (count > kCutsMax) return false;
    for (int64_t x = hull.lower[d]; x <= upper; ++x) cuts[d].push_back(x);
  }
  others.ForEach([&](const IndexVector& point) {
    IndexVector at = point;
    at[longest] = 0;
    const int64_t zero = -factor * constraint.expr.Evaluate(at);
    // It changes behind the zero, before it, or both.
    cuts[longest].push_back(zero);
    cuts[longest].push_back(zero + 1);
    return true;
  });
  return true;
}

// Calls `visit` for each box between the cuts, which are sorted here.
bool ForEachBox(std::vector<std::vector<int64_t>> cuts,
                absl::FunctionRef<absl::Status(const Box&)> visit,
                absl::Status& status) {
  size_t count = 1;
  for (std::vector<int64_t>& at : cuts) {
    std::sort(at.begin(), at.end());
    at.erase(std::unique(at.begin(), at.end()), at.end());
    count = std::min(count * (at.size() - 1), kBoxesMax + 1);
  }
  if (count > kBoxesMax) return false;
  for (size_t number = 0; number < count && status.ok(); ++number) {
    Box box;
    size_t left = number;
    for (const std::vector<int64_t>& at : cuts) {
      const size_t k = left % (at.size() - 1);
      left /= at.size() - 1;
      box.lower.push_back(at[k]);
      box.upper.push_back(at[k + 1] - 1);
    }
    status = visit(box);
  }
  return true;
}

// The box that both make, if there is one.
std::optional<Box> Joined(const Box& a, const Box& b) {
  Box out = a;
  int unlike = 0;
  for (int n = 0; n < a.size(); ++n) {
    if (a.lower[n] == b.lower[n] && a.upper[n] == b.upper[n]) continue;
    if (++unlike > 1 || a.upper[n] + 1 != b.lower[n]) return {};
    out.upper[n] = b.upper[n];
  }
  return out;
}

// Joins boxes, with what is of them, that lie side by side and have the same.
template <typename T>
void JoinBoxes(std::vector<std::pair<Box, T>>& boxes) {
  for (size_t a = 0; a < boxes.size(); ++a) {
    for (size_t b = 0; b < boxes.size(); ++b) {
      if (a == b || boxes[a].second != boxes[b].second) continue;
      const std::optional<Box> both = Joined(boxes[a].first, boxes[b].first);
      if (!both) continue;
      boxes[a].first = *both;
      boxes.erase(boxes.begin() + static_cast<ptrdiff_t>(b));
      a = static_cast<size_t>(-1);  // from the first one again
      break;
    }
  }
}

// The boxes that a domain is made of, of not too many; else none.
std::vector<Box> BoxesOf(const Domain& domain) {
  const Box hull = HullOf(domain);
  if (hull.IsEmpty()) return {};
  std::vector<std::vector<int64_t>> cuts(hull.size());
  for (const Constraint& bound : domain.BoundConstraints()) {
    if (!Cut(bound, hull, cuts)) return {};
  }
  for (const std::vector<Constraint>& all_of : domain.guard.any_of) {
    for (const Constraint& constraint : all_of) {
      if (!Cut(constraint, hull, cuts)) return {};
    }
  }
  for (int d = 0; d < hull.size(); ++d) {
    std::erase_if(cuts[d], [&](int64_t at) {
      return at < hull.lower[d] || at > hull.upper[d];
    });
    cuts[d].push_back(hull.lower[d]);
    cuts[d].push_back(hull.upper[d] + 1);
  }
  std::vector<std::pair<Box, int>> boxes;
  absl::Status ok;
  const auto add = [&](const Box& box) {
    if (domain.Contains(box.lower)) boxes.emplace_back(box, 0);
    return absl::OkStatus();
  };
  if (!ForEachBox(std::move(cuts), add, ok)) return {};
  JoinBoxes(boxes);
  std::vector<Box> out;
  for (const auto& [box, same] : boxes) out.push_back(box);
  return out;
}

// A formula's points without the steps at which alone they are wanted: what is
// made beside these nothing reads.
Domain Widened(Domain domain) {
  for (std::vector<Constraint>& all_of : domain.guard.any_of) {
    std::erase_if(all_of, [](const Constraint& constraint) {
      return constraint.kind == Constraint::Kind::kDivisible;
    });
  }
  return domain;
}

// The table by other indices, of which each value is one, plus a number; null
// if they don't keep their order.
std::shared_ptr<const Gather> Renamed(const Gather& gather,
                                      const std::vector<AffineExpr>& values) {
  auto out = std::make_shared<Gather>(gather);
  for (size_t i = 0; i < out->dims.size(); ++i) {
    const AffineExpr& value = values[out->dims[i]];
    out->dims[i] = value.LastIndex();
    if (out->dims[i] < 0) return nullptr;
    out->lower[static_cast<int>(i)] -= value.constant;
  }
  return std::is_sorted(out->dims.begin(), out->dims.end()) ? out : nullptr;
}

// The node of an index's value: one of other indices plus a number, or a
// number.
int32_t AddIndexValue(const AffineExpr& value, CodeBuilder& builder) {
  const int n = value.LastIndex();
  if (n < 0) return builder.Integer(value.constant);
  const int32_t index = builder.Index(n);
  if (value.constant == 0) return index;
  return builder.Binary(IrOp::kAdd, index, builder.Integer(value.constant));
}

// The code by other indices, `count` of them.
CodeBlock Renamed(const CodeBlock& code, const std::vector<AffineExpr>& values,
                  int count) {
  CodeBlock out = code;
  out.nodes.clear();
  out.index_count = std::max(1, count);
  CodeBuilder builder(out);
  std::vector<int32_t> places;  // by node of `code`
  const auto move = [&places](int32_t& node) {
    if (node >= 0) node = places[node];
  };
  for (IrNode node : code.nodes) {
    for (int32_t* operand : {&node.a, &node.b, &node.c}) move(*operand);
    places.push_back(node.op == IrOp::kIndex
                         ? AddIndexValue(values[node.integer], builder)
                         : builder.Add(node));
  }
  for (IrStore& store : out.stores) move(store.node);
  move(out.mask);
  return out;
}

// Makes the cells of arrays that some classes make together.
class CellMaker {
 public:
  CellMaker(const PointProgram& points, std::vector<PointClass> pieces,
            int32_t dim)
      : points_(points), pieces_(std::move(pieces)), dim_(dim) {}

  absl::Status Make(std::vector<ChunkCell>& out);

 private:
  using Chosen = std::vector<size_t>;  // pieces, by position

  absl::Status AddCells(const Box& box, const Chosen& chosen);
  absl::Status AddCell(const Box& box, const Chosen& chosen);
  ChunkCell CellOf(const Box& box, const Chosen& chosen) const;
  std::vector<int32_t> ArraysOf(const Chosen& chosen) const;
  Box BoxOf(size_t piece) const { return HullOf(pieces_[piece].domain); }

  const PointProgram& points_;
  const std::vector<PointClass> pieces_;
  const int32_t dim_;
  std::vector<std::pair<Box, Chosen>> cells_;
};

std::vector<int32_t> CellMaker::ArraysOf(const Chosen& chosen) const {
  std::set<int32_t> out;
  for (const size_t p : chosen) {
    for (const Create& create : pieces_[p].creates) out.insert(create.array);
  }
  return {out.begin(), out.end()};
}

absl::Status CellMaker::Make(std::vector<ChunkCell>& out) {
  const auto& first = points_.arrays[pieces_[0].creates[0].array];
  // By index: where a piece begins or has ended.
  std::vector<std::vector<int64_t>> cuts(first.rank);
  for (size_t p = 0; p < pieces_.size(); ++p) {
    const Box box = BoxOf(p);
    for (int n = 0; n < box.size(); ++n) {
      cuts[n].push_back(box.lower[n]);
      cuts[n].push_back(box.upper[n] + 1);
    }
  }
  cuts[dim_] = {first.box.lower[dim_], first.box.upper[dim_] + 1};
  absl::Status status;
  const auto add = [&](const Box& box) {
    Chosen chosen;
    for (size_t p = 0; p < pieces_.size(); ++p) {
      const Box whole = BoxOf(p);
      bool is_in = true;
      for (int n = 0; n < box.size(); ++n) {
        is_in &= n == dim_ || (whole.lower[n] <= box.lower[n] &&
                               box.upper[n] <= whole.upper[n]);
      }
      if (is_in) chosen.push_back(p);
    }
    return AddCells(box, chosen);
  };
  const bool are_few = ForEachBox(std::move(cuts), add, status);
  DOGGED_RETURN_IF_ERROR(status);
  JoinBoxes(cells_);
  if (!are_few || cells_.size() > kCellsMax) {
    return absl::UnimplementedError(
        absl::StrCat(first.name, " is made in too many parts"));
  }
  for (const auto& [box, chosen] : cells_) out.push_back(CellOf(box, chosen));
  return absl::OkStatus();
}

// A cell for the arrays that pieces make together here.
absl::Status CellMaker::AddCells(const Box& box, const Chosen& chosen) {
  Chosen left = chosen;
  while (!left.empty()) {
    Chosen together = {left.front()};
    for (bool has_grown = true; has_grown;) {
      has_grown = false;
      const std::vector<int32_t> arrays = ArraysOf(together);
      for (const size_t p : left) {
        const std::vector<int32_t> own = ArraysOf({p});
        const bool shares =
            std::find_first_of(own.begin(), own.end(), arrays.begin(),
                               arrays.end()) != own.end();
        if (!shares ||
            std::find(together.begin(), together.end(), p) != together.end()) {
          continue;
        }
        together.push_back(p);
        has_grown = true;
      }
    }
    std::sort(together.begin(), together.end());
    std::erase_if(left, [&](size_t p) {
      return std::binary_search(together.begin(), together.end(), p);
    });
    DOGGED_RETURN_IF_ERROR(AddCell(box, together));
  }
  return absl::OkStatus();
}

absl::Status CellMaker::AddCell(const Box& box, const Chosen& chosen) {
  for (const int32_t array : ArraysOf(chosen)) {
    std::vector<std::pair<int64_t, int64_t>> ranges;
    for (const size_t p : chosen) {
      const std::vector<int32_t> own = ArraysOf({p});
      if (std::find(own.begin(), own.end(), array) == own.end()) continue;
      const Box piece = BoxOf(p);
      ranges.emplace_back(piece.lower[dim_], piece.upper[dim_]);
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t p = 1; p < ranges.size(); ++p) {
      if (ranges[p].first > ranges[p - 1].second) continue;
      return absl::UnimplementedError(absl::StrCat(
          "tasks make labels of ", points_.arrays[array].name, " in turns"));
    }
  }
  cells_.emplace_back(box, chosen);
  return absl::OkStatus();
}

ChunkCell CellMaker::CellOf(const Box& box, const Chosen& chosen) const {
  ChunkCell out{
      .arrays = ArraysOf(chosen), .box = box, .dim = dim_, .pieces = {}};
  std::vector<AffineExpr> values;
  for (int n = 0; n < box.size(); ++n) {
    const bool is_number = n != dim_ && box.lower[n] == box.upper[n];
    values.push_back(is_number ? AffineExpr::Constant(box.lower[n])
                               : AffineExpr::Index(n));
  }
  for (const size_t p : chosen) {
    PointClass& piece = out.pieces.emplace_back(pieces_[p]);
    for (int n = 0; n < box.size(); ++n) {
      if (n == dim_) continue;
      Dimension& dimension = piece.domain.dimensions[n];
      dimension.lower = {{.expr = AffineExpr::Constant(box.lower[n])}};
      dimension.upper = {{.expr = AffineExpr::Constant(box.upper[n])}};
    }
    piece.time = Substitute(piece.time, values);
  }
  return out;
}

// The points of a class that lie in `box`.
std::optional<PointClass> InLabelIndices(const PointClass& c,
                                         const AffineMap& map, const Box& box) {
  std::vector<AffineExpr> values;  // by index of the class
  for (int d = 0; d < box.size(); ++d) {
    values.push_back(AffineExpr::Constant(
        box.lower[d] == box.upper[d] ? box.lower[d] : Gather::kNone));
  }
  PointClass out = c;
  out.domain = Domain();
  const auto rank = static_cast<int>(map.size());
  for (int n = 0; n < rank; ++n) {
    const int d = map[n].LastIndex();
    const int64_t offset = map[n].constant;
    if (d >= 0 &&
        (map[n] != AffineExpr::Index(d, offset) || !values[d].IsConstant())) {
      return {};
    }
    const int64_t lower = offset + (d < 0 ? 0 : box.lower[d]);
    const int64_t upper = offset + (d < 0 ? 0 : box.upper[d]);
    if (d >= 0) values[d] = AffineExpr::Index(n, -offset);
    out.domain.dimensions.push_back(
        {.name = d < 0 ? absl::StrCat("i", n) : c.domain.dimensions[d].name,
         .lower = {{.expr = AffineExpr::Constant(lower)}},
         .upper = {{.expr = AffineExpr::Constant(upper)}}});
  }
  for (const AffineExpr& value : values) {
    if (value == AffineExpr::Constant(Gather::kNone)) return {};
  }
  for (Create& create : out.creates) {
    for (int n = 0; n < rank; ++n) create.map[n] = AffineExpr::Index(n);
  }
  for (Use& use : out.uses) {
    use.map = Substitute(use.map, values);
    use.guard = Substitute(use.guard, values);
    if (use.gather == nullptr) continue;
    use.gather = Renamed(*use.gather, values);
    if (use.gather == nullptr) return {};
  }
  out.time = Substitute(c.time, values);
  if (c.priority) out.priority = Substitute(*c.priority, values);
  out.code.code = Renamed(c.code.code, values, rank);
  return out;
}

}  // namespace

PointProgram WithCommonBoxes(PointProgram points) {
  const auto widen = [&](const PointClass& c) {
    PointArray& first = points.arrays[c.creates.front().array];
    Box box = first.box;
    for (const Create& create : c.creates) {
      const Box& other = points.arrays[create.array].box;
      if (create.map != c.creates.front().map || other.size() != box.size()) {
        return false;
      }
      for (int n = 0; n < box.size(); ++n) {
        box.lower[n] = std::min(box.lower[n], other.lower[n]);
        box.upper[n] = std::max(box.upper[n], other.upper[n]);
      }
    }
    bool is_new = false;
    for (const Create& create : c.creates) {
      Box& own = points.arrays[create.array].box;
      is_new |= own.lower != box.lower || own.upper != box.upper;
      own = box;
    }
    return is_new;
  };
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (const PointClass& c : points.classes) is_new |= widen(c);
  }
  return points;
}

std::vector<PointClass> InLabelIndices(const PointProgram& points,
                                       const PointClass& c) {
  const int rank = points.arrays[c.creates.front().array].rank;
  if (c.body != PointClass::Body::kCode || rank > kMaxIndices - 1) return {};
  const AffineMap& map = c.creates.front().map;
  for (const Create& create : c.creates) {
    if (create.map != map) return {};
  }
  std::vector<PointClass> out;
  for (const Box& box :
       BoxesOf(c.uses.empty() ? Widened(c.domain) : c.domain)) {
    std::optional<PointClass> one = InLabelIndices(c, map, box);
    if (!one) return {};
    out.push_back(*std::move(one));
  }
  return out;
}

absl::StatusOr<std::vector<ChunkCell>> MakeCells(const PointProgram& points,
                                                 const ChunkChoice& choice) {
  std::vector<PointClass> left;
  for (size_t k = 0; k < points.classes.size(); ++k) {
    if (choice.class_index[k] != ChunkChoice::kInCells) continue;
    for (PointClass& one : InLabelIndices(points, points.classes[k])) {
      left.push_back(std::move(one));
    }
  }
  std::vector<ChunkCell> out;
  while (!left.empty()) {
    // All that make some of the same arrays, in any number of steps.
    std::vector<PointClass> together;
    std::set<int32_t> arrays;
    const auto take = [&](PointClass c) {
      for (const Create& create : c.creates) arrays.insert(create.array);
      together.push_back(std::move(c));
    };
    take(left.front());
    left.erase(left.begin());
    for (size_t k = 0; k < left.size();) {
      const bool shares = std::any_of(
          left[k].creates.begin(), left[k].creates.end(),
          [&](const Create& create) { return arrays.contains(create.array); });
      if (!shares) {
        ++k;
        continue;
      }
      take(left[k]);
      left.erase(left.begin() + static_cast<ptrdiff_t>(k));
      k = 0;
    }
    const int32_t dim = choice.array_index[*arrays.begin()];
    const PointArray& first = points.arrays[*arrays.begin()];
    for (const int32_t array : arrays) {
      const PointArray& other = points.arrays[array];
      if (other.rank == first.rank && choice.array_index[array] == dim &&
          other.box.lower[dim] == first.box.lower[dim] &&
          other.box.upper[dim] == first.box.upper[dim]) {
        continue;
      }
      return absl::UnimplementedError(absl::StrCat(
          first.name, " and ", other.name,
          " are made together, and have unlike ranges or indices"));
    }
    DOGGED_RETURN_IF_ERROR(
        CellMaker(points, std::move(together), dim).Make(out));
  }
  return out;
}

}  // namespace dogged::dsl
