#include "dsl/tile_plan.h"

#include <algorithm>
#include <utility>

#include "dsl/integer_codec.h"
#include "runtime/base/check.h"

namespace dogged::dsl {
namespace {

constexpr int64_t kExtentMax = int64_t{1} << 40;

void PutBox(Encoder& out, const Box& box) {
  box.lower.Encode(out);
  box.upper.Encode(out);
}

Box GetBox(Decoder& in) {
  Box out;
  out.lower = IndexVector::Decode(in);
  out.upper = IndexVector::Decode(in);
  if (out.lower.size() != out.upper.size()) in.Fail();
  for (int d = 0; in.ok() && d < out.size(); ++d) {
    if (out.lower[d] < -kExtentMax || out.upper[d] > kExtentMax) in.Fail();
  }
  return in.ok() ? out : Box();
}

ElementType GetElement(Decoder& in) {
  const uint8_t value = in.GetU8();
  if (value > 2) in.Fail();
  return in.ok() ? static_cast<ElementType>(value) : ElementType::kDouble;
}

void EncodeField(const TileField& field, Encoder& out) {
  out.PutString(field.name);
  out.PutU8(static_cast<uint8_t>(field.element));
  out.PutBool(field.is_static);
  PutIntegers(out, field.dims);
  out.PutSigned(field.time_position);
  PutBox(out, field.box);
  out.PutSigned(field.carried);
}

TileField DecodeField(Decoder& in) {
  TileField out;
  out.name = std::string(in.GetString());
  out.element = GetElement(in);
  out.is_static = in.GetBool();
  out.dims = GetIntegers<int32_t>(in);
  out.time_position = static_cast<int32_t>(in.GetSigned());
  out.box = GetBox(in);
  out.carried = in.GetSigned();
  return out;
}

void EncodePiece(const TilePiece& piece, Encoder& out) {
  piece.code.Encode(out);
  out.PutVarint(piece.at_least.size());
  for (const AffineExpr& expr : piece.at_least) expr.Encode(out);
  piece.levels.Encode(out);
  PutIntegers(out, piece.stores);
  out.PutVarint(piece.loads.size());
  for (const TileLoad& load : piece.loads) {
    out.PutBool(load.is_input);
    out.PutSigned(load.source);
    out.PutSigned(load.lag);
    PutIntegers(out, load.coordinates);
    PutIntegers(out, load.shifts);
  }
  out.PutBool(piece.is_static);
  for (const auto& makers : piece.makers) PutIntegers(out, makers);
  for (const auto& inward : piece.is_inward) {
    for (const bool value : inward) out.PutBool(value);
  }
}

TilePiece DecodePiece(Decoder& in, int dim_count) {
  TilePiece out;
  out.code = CodeBlock::Decode(in);
  out.at_least.resize(static_cast<size_t>(in.GetCount()));
  for (AffineExpr& expr : out.at_least) expr = AffineExpr::Decode(in);
  out.levels = Guard::Decode(in);
  out.stores = GetIntegers<int32_t>(in);
  out.loads.resize(static_cast<size_t>(in.GetCount(4)));
  for (TileLoad& load : out.loads) {
    load.is_input = in.GetBool();
    load.source = static_cast<int32_t>(in.GetSigned());
    load.lag = static_cast<int32_t>(in.GetSigned());
    load.coordinates = GetIntegers<int32_t>(in);
    load.shifts = GetIntegers<int64_t>(in);
  }
  out.is_static = in.GetBool();
  for (size_t l = 0; l < out.loads.size() && in.ok(); ++l) {
    out.makers.push_back(GetIntegers<int32_t>(in));
  }
  for (size_t l = 0; l < out.loads.size() && in.ok(); ++l) {
    out.is_inward.emplace_back();
    for (int d = 0; d < dim_count; ++d) {
      out.is_inward.back().push_back(in.GetBool());
    }
  }
  return out;
}

// How far away a load reads along a dimension of space.
int64_t ShiftOf(const TileLoad& load, size_t dimension) {
  for (size_t e = 0; e < load.coordinates.size(); ++e) {
    if (load.coordinates[e] == static_cast<int32_t>(dimension) + 1) {
      return load.shifts[e];
    }
  }
  return 0;
}

bool IsIn(int64_t value, size_t limit) {
  return value >= 0 && value < static_cast<int64_t>(limit);
}

bool IsValidField(const TileField& field, const TilePlan& plan) {
  for (const int32_t d : field.dims) {
    if (!IsIn(d, static_cast<size_t>(plan.dim_count()))) return false;
  }
  return field.box.size() == static_cast<int>(field.dims.size()) &&
         field.carried >= 0 && field.carried <= 16 &&
         IsIn(field.time_position, field.dims.size() + 1);
}

bool IsValidPiece(const TilePiece& piece, const TilePlan& plan) {
  const auto coordinates = static_cast<size_t>(plan.dim_count()) + 1;
  if (piece.code.index_count != static_cast<int32_t>(coordinates) ||
      piece.code.loads.size() != piece.loads.size() ||
      piece.code.stores.size() != piece.stores.size()) {
    return false;
  }
  for (const int32_t field : piece.stores) {
    if (!IsIn(field, plan.fields.size())) return false;
  }
  for (size_t l = 0; l < piece.loads.size(); ++l) {
    const TileLoad& load = piece.loads[l];
    const size_t sources =
        load.is_input ? plan.inputs.size() : plan.fields.size();
    if (!IsIn(load.source, sources)) return false;
    const auto source = static_cast<size_t>(load.source);
    const size_t rank =
        load.is_input ? static_cast<size_t>(plan.inputs[source].box.size())
                      : plan.fields[source].dims.size();
    if (load.coordinates.size() != rank || load.shifts.size() != rank ||
        load.lag < 0 || load.lag > 16) {
      return false;
    }
    for (const int32_t c : load.coordinates) {
      if (!IsIn(c, coordinates)) return false;
    }
    for (const int32_t maker : piece.makers[l]) {
      if (!IsIn(maker, plan.pieces.size())) return false;
    }
  }
  return true;
}

bool IsValid(const TilePlan& plan) {
  const int d = plan.dim_count();
  if (d < 1 || d >= kMaxIndices || plan.space.IsEmpty()) return false;
  if (static_cast<int>(plan.widths.size()) != d) return false;
  if (static_cast<int>(plan.counts.size()) != d) return false;
  for (int i = 0; i < d; ++i) {
    const auto s = static_cast<size_t>(i);
    if (plan.widths[s] < 1 ||
        plan.counts[s] != CeilDiv(plan.space.upper[i] - plan.space.lower[i] + 1,
                                  plan.widths[s])) {
      return false;
    }
  }
  if (plan.depth < 1 || plan.slab_points < 1 ||
      plan.base_level < plan.first_level || plan.last_level < plan.base_level) {
    return false;
  }
  if (plan.round_step < 0 ||
      (plan.round_step > 0 &&
       (plan.round_step % plan.depth != 0 ||
        (plan.round_first - plan.base_level) % plan.depth != 0))) {
    return false;
  }
  return std::all_of(plan.fields.begin(), plan.fields.end(),
                     [&](const auto& f) { return IsValidField(f, plan); }) &&
         std::all_of(plan.pieces.begin(), plan.pieces.end(),
                     [&](const auto& p) { return IsValidPiece(p, plan); });
}

}  // namespace

bool Box::IsEmpty() const {
  for (int d = 0; d < size(); ++d) {
    if (upper[d] < lower[d]) return true;
  }
  return false;
}

int64_t Box::Count() const {
  int64_t count = 1;
  for (int d = 0; d < size(); ++d) {
    count *= std::max<int64_t>(0, upper[d] - lower[d] + 1);
  }
  return count;
}

IndexVector Box::Extents() const {
  IndexVector out;
  for (int d = 0; d < size(); ++d) {
    out.push_back(std::max<int64_t>(0, upper[d] - lower[d] + 1));
  }
  return out;
}

Box Intersect(const Box& a, const Box& b) {
  DOGGED_CHECK(a.size() == b.size()) << a.size() << " and " << b.size();
  Box out = a;
  for (int d = 0; d < a.size(); ++d) {
    out.lower[d] = std::max(a.lower[d], b.lower[d]);
    out.upper[d] = std::min(a.upper[d], b.upper[d]);
  }
  return out;
}

std::vector<Box> Without(const std::vector<Box>& boxes, const Box& box) {
  std::vector<Box> out;
  for (Box rest : boxes) {
    if (Intersect(rest, box).IsEmpty()) {
      out.push_back(std::move(rest));
      continue;
    }
    // What lies below and above along each dimension, cut off in turn.
    for (int d = 0; d < rest.size(); ++d) {
      Box part = rest;
      part.upper[d] = box.lower[d] - 1;
      if (!part.IsEmpty()) out.push_back(part);
      part = rest;
      part.lower[d] = box.upper[d] + 1;
      if (!part.IsEmpty()) out.push_back(part);
      rest.lower[d] = std::max(rest.lower[d], box.lower[d]);
      rest.upper[d] = std::min(rest.upper[d], box.upper[d]);
    }
  }
  return out;
}

Box Project(const Box& box, const std::vector<int32_t>& dims) {
  Box out;
  for (const int32_t d : dims) {
    out.lower.push_back(box.lower[d]);
    out.upper.push_back(box.upper[d]);
  }
  return out;
}

int64_t TilePlan::block_count() const {
  return CeilDiv(last_level - base_level, depth);
}

int64_t TilePlan::BlockOf(int64_t level) const {
  return level <= base_level ? 0 : CeilDiv(level - base_level, depth);
}

int64_t TilePlan::FirstLevelOf(int64_t block) const {
  return block == 0 ? first_level : base_level + (block - 1) * depth + 1;
}

int64_t TilePlan::LastLevelOf(int64_t block) const {
  return std::min(last_level, base_level + block * depth);
}

bool TilePlan::IsTile(const IndexVector& tile) const {
  for (int d = 0; d < dim_count(); ++d) {
    if (tile[d] < 0 || tile[d] >= counts[static_cast<size_t>(d)]) return false;
  }
  return true;
}

Box TilePlan::Tile(const IndexVector& tile) const {
  Box out = space;
  for (int d = 0; d < dim_count(); ++d) {
    const int64_t width = widths[static_cast<size_t>(d)];
    out.lower[d] = space.lower[d] + tile[d] * width;
    out.upper[d] = std::min(out.lower[d] + width - 1, space.upper[d]);
  }
  return out;
}

Box TilePlan::Core(const TileField& field, const IndexVector& tile) const {
  return Intersect(Project(Tile(tile), field.dims), field.box);
}

Box TilePlan::Window(const TileField& field, const IndexVector& tile) const {
  Box box = Tile(tile);
  for (int d = 0; d < dim_count(); ++d) {
    box.lower[d] -= field.reach_below[static_cast<size_t>(d)];
    box.upper[d] += field.reach_above[static_cast<size_t>(d)];
  }
  return Intersect(Project(box, field.dims), field.box);
}

Box TilePlan::Strip(const TileField& field, const IndexVector& tile,
                    const IndexVector& delta) const {
  IndexVector other = tile;
  for (int d = 0; d < dim_count(); ++d) other[d] += delta[d];
  const Box core = Core(field, tile);
  if (IsTile(other)) return Intersect(core, Window(field, other));
  Box none = core;
  for (int d = 0; d < none.size(); ++d) none.upper[d] = none.lower[d] - 1;
  return none;
}

std::vector<IndexVector> TilePlan::Directions() const {
  std::vector<IndexVector> out;
  IndexVector delta;
  for (int d = 0; d < dim_count(); ++d) delta.push_back(-1);
  while (true) {
    bool is_wanted = false;
    for (const TileField& field : fields) {
      if (field.is_static || field.carried == 0) continue;
      bool reaches = true;
      for (int d = 0; d < dim_count(); ++d) {
        const auto s = static_cast<size_t>(d);
        // A neighbour above reads what lies below it.
        reaches &= delta[d] == 0 ||
                   (counts[s] > 1 && (delta[d] > 0 ? field.reach_below[s]
                                                   : field.reach_above[s]) > 0);
      }
      is_wanted |= reaches;
    }
    const bool is_zero = std::all_of(delta.begin(), delta.end(),
                                     [](int64_t v) { return v == 0; });
    if (is_wanted && !is_zero) out.push_back(delta);
    int d = dim_count() - 1;
    while (d >= 0 && delta[d] == 1) delta[d--] = -1;
    if (d < 0) return out;
    ++delta[d];
  }
}

void TilePlan::Encode(Encoder& out) const {
  PutBox(out, space);
  PutIntegers(out, widths);
  PutIntegers(out, counts);
  out.PutSigned(first_level);
  out.PutSigned(base_level);
  out.PutSigned(last_level);
  out.PutSigned(depth);
  out.PutSigned(round_first);
  out.PutSigned(round_step);
  out.PutSigned(slab_points);
  out.PutVarint(fields.size());
  for (const TileField& field : fields) EncodeField(field, out);
  out.PutVarint(inputs.size());
  for (const TileInput& input : inputs) {
    out.PutSigned(input.position);
    out.PutU8(static_cast<uint8_t>(input.element));
    PutBox(out, input.box);
  }
  out.PutVarint(pieces.size());
  for (const TilePiece& piece : pieces) EncodePiece(piece, out);
}

TilePlan TilePlan::Decode(Decoder& in) {
  TilePlan out;
  out.space = GetBox(in);
  out.widths = GetIntegers<int64_t>(in);
  out.counts = GetIntegers<int64_t>(in);
  out.first_level = in.GetSigned();
  out.base_level = in.GetSigned();
  out.last_level = in.GetSigned();
  out.depth = in.GetSigned();
  out.round_first = in.GetSigned();
  out.round_step = in.GetSigned();
  out.slab_points = in.GetSigned();
  out.fields.resize(static_cast<size_t>(in.GetCount(6)));
  for (TileField& field : out.fields) field = DecodeField(in);
  out.inputs.resize(static_cast<size_t>(in.GetCount(4)));
  for (TileInput& input : out.inputs) {
    input.position = static_cast<int32_t>(in.GetSigned());
    input.element = GetElement(in);
    input.box = GetBox(in);
  }
  out.pieces.resize(static_cast<size_t>(in.GetCount(8)));
  for (TilePiece& piece : out.pieces) {
    piece = DecodePiece(in, out.dim_count());
  }
  if (!in.ok() || !IsValid(out)) {
    in.Fail();
    return TilePlan();
  }
  ComputeReach(out);
  return out;
}

Reach ComputeReach(TilePlan& plan) {
  const auto dims = static_cast<size_t>(plan.dim_count());
  int64_t carried_max = 0;
  for (const TileField& field : plan.fields) {
    carried_max = std::max(carried_max, field.carried);
  }
  const int64_t levels = plan.levels_max();
  const auto rows = static_cast<size_t>(levels + carried_max);
  Reach reach;
  reach.below.assign(
      plan.pieces.size(),
      std::vector<std::vector<int64_t>>(rows, std::vector<int64_t>(dims, 0)));
  reach.above = reach.below;
  const auto spread = [&](size_t p, size_t row) {
    const TilePiece& piece = plan.pieces[p];
    for (size_t l = 0; l < piece.loads.size(); ++l) {
      const TileLoad& load = piece.loads[l];
      // What a static piece needs, it needs once: row 0 stands for all.
      for (const int32_t maker : piece.makers[l]) {
        const auto m = static_cast<size_t>(maker);
        const bool to_static = plan.pieces[m].is_static;
        const size_t to = to_static ? 0 : row + static_cast<size_t>(load.lag);
        if (to >= rows) continue;
        for (size_t d = 0; d < dims; ++d) {
          const int64_t shift = piece.is_inward[l][d] ? 0 : ShiftOf(load, d);
          auto& below = reach.below[m][to][d];
          auto& above = reach.above[m][to][d];
          below = std::max(below, reach.below[p][row][d] - shift);
          above = std::max(above, reach.above[p][row][d] + shift);
        }
      }
    }
  };
  for (size_t row = 0; row < static_cast<size_t>(levels); ++row) {
    for (size_t p = plan.pieces.size(); p-- > 0;) {
      if (!plan.pieces[p].is_static) spread(p, row);
    }
  }
  for (size_t p = plan.pieces.size(); p-- > 0;) {
    if (plan.pieces[p].is_static) spread(p, 0);
  }
  for (size_t f = 0; f < plan.fields.size(); ++f) {
    TileField& field = plan.fields[f];
    field.reach_below.assign(dims, 0);
    field.reach_above.assign(dims, 0);
    for (size_t p = 0; p < plan.pieces.size(); ++p) {
      const auto& stores = plan.pieces[p].stores;
      if (std::find(stores.begin(), stores.end(), static_cast<int32_t>(f)) ==
          stores.end()) {
        continue;
      }
      for (size_t row = 0; row < rows; ++row) {
        for (size_t d = 0; d < dims; ++d) {
          field.reach_below[d] =
              std::max(field.reach_below[d], reach.below[p][row][d]);
          field.reach_above[d] =
              std::max(field.reach_above[d], reach.above[p][row][d]);
        }
      }
    }
  }
  return reach;
}

}  // namespace dogged::dsl
