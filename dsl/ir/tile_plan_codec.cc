#include "dsl/ir/tile_plan_codec.h"

#include <algorithm>
#include <utility>

#include "dsl/ir/integer_codec.h"

namespace dogged::dsl {
namespace {

// Indices stay below 2^40; ends of boxes may be one beyond.
constexpr int64_t kExtentMax = (int64_t{1} << 40) + 1;

bool IsBounded(int64_t value) {
  return value >= -kExtentMax && value <= kExtentMax;
}

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
    if (!IsBounded(out.lower[d]) || !IsBounded(out.upper[d])) in.Fail();
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
  out.PutBool(field.scalar_input.has_value());
  if (field.scalar_input) field.scalar_input->Encode(out);
  out.PutBool(field.is_gathered);
  out.PutSigned(field.stage);
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
  if (in.GetBool()) out.scalar_input = IndexVector::Decode(in);
  out.is_gathered = in.GetBool();
  out.stage = static_cast<int32_t>(in.GetSigned());
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
  piece.time_steps.Encode(out);
  PutIntegers(out, piece.stores);
  out.PutVarint(piece.loads.size());
  for (const TileLoad& load : piece.loads) {
    out.PutBool(load.is_input);
    out.PutSigned(load.source);
    out.PutSigned(load.lag);
    PutIntegers(out, load.coordinates);
    PutIntegers(out, load.shifts);
    out.PutVarint(load.at.size());
    for (const AffineExpr& expr : load.at) expr.Encode(out);
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
  out.at_least.resize(in.GetCount());
  for (AffineExpr& expr : out.at_least) expr = AffineExpr::Decode(in);
  out.time_steps = Guard::Decode(in);
  out.stores = GetIntegers<int32_t>(in);
  out.loads.resize(in.GetCount(4));
  for (TileLoad& load : out.loads) {
    load.is_input = in.GetBool();
    load.source = static_cast<int32_t>(in.GetSigned());
    load.lag = static_cast<int32_t>(in.GetSigned());
    load.coordinates = GetIntegers<int32_t>(in);
    load.shifts = GetIntegers<int64_t>(in);
    load.at.resize(in.GetCount());
    for (AffineExpr& expr : load.at) expr = AffineExpr::Decode(in);
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

bool IsIndexBelow(int64_t value, size_t limit) {
  return value >= 0 && value < static_cast<int64_t>(limit);
}

bool IsValidField(const TileField& field, const TilePlan& plan) {
  const int32_t least = field.is_gathered ? -1 : 0;
  for (auto d = field.dims.begin(); d != field.dims.end(); ++d) {
    if (*d < least || *d >= plan.dim_count()) return false;
    if (std::find(field.dims.begin(), d, *d) != d) return false;
  }
  return field.box.size() == static_cast<int>(field.dims.size()) &&
         field.carried >= 0 && field.carried <= 16 &&
         (!field.scalar_input || (field.is_static && field.dims.empty())) &&
         (!field.is_gathered || (field.is_static && !field.scalar_input)) &&
         IsIndexBelow(field.stage, field.is_static ? kStagesMax + 1 : 1) &&
         IsIndexBelow(field.time_position, field.dims.size() + 1);
}

// The coordinates that there are, with factors of which products are no harm.
bool IsValidIndex(const AffineExpr& expr, const TilePlan& plan) {
  return IsBounded(expr.constant) && expr.LastIndex() <= plan.dim_count() &&
         std::all_of(expr.coefficients.begin(), expr.coefficients.end(),
                     [](int64_t factor) {
                       return factor >= -kFactorMax && factor <= kFactorMax;
                     });
}

// True if the source of load l of `piece` exists, has the type that the code
// takes it for, and is read at a time step that is kept.
bool IsValidLoad(const TilePiece& piece, size_t l, const TilePlan& plan) {
  const TileLoad& load = piece.loads[l];
  if (!IsIndexBelow(load.source,
                    load.is_input ? plan.inputs.size() : plan.fields.size())) {
    return false;
  }
  const int64_t source = load.source;
  int64_t time_steps_back = 0;
  size_t rank = 0;
  ElementType element{};
  if (load.is_input) {
    element = plan.inputs[source].element;
    rank = static_cast<size_t>(plan.inputs[source].box.size());
  } else {
    const TileField& field = plan.fields[source];
    // Gathered coefficients are made of fields that all of space can have.
    if (plan.IsGathered(piece) && !field.is_gathered &&
        !(field.is_static && field.dims.empty())) {
      return false;
    }
    element = field.element;
    rank = field.dims.size();
    time_steps_back = field.carried;
  }
  const bool is_elsewhere = load.is_input || plan.IsGathered(load);
  const size_t rank_in_space = is_elsewhere ? 0 : rank;
  if (load.coordinates.size() != rank_in_space ||
      load.shifts.size() != rank_in_space ||
      load.at.size() != (is_elsewhere ? rank : 0) || load.lag < 0 ||
      load.lag > time_steps_back || piece.code.loads[l].element != element) {
    return false;
  }
  return std::all_of(load.coordinates.begin(), load.coordinates.end(),
                     [&](int32_t c) {
                       return IsIndexBelow(
                           c, static_cast<size_t>(plan.dim_count()) + 1);
                     }) &&
         std::all_of(load.shifts.begin(), load.shifts.end(),
                     [](int64_t shift) { return IsBounded(shift); }) &&
         std::all_of(
             load.at.begin(), load.at.end(),
             [&](const AffineExpr& at) { return IsValidIndex(at, plan); }) &&
         std::all_of(piece.makers[l].begin(), piece.makers[l].end(),
                     [&plan](int32_t maker) {
                       return IsIndexBelow(maker, plan.pieces.size());
                     });
}

bool IsValidPiece(const TilePiece& piece, const TilePlan& plan) {
  if (piece.code.index_count != plan.dim_count() + 1 || piece.stores.empty() ||
      piece.code.loads.size() != piece.loads.size() ||
      piece.code.stores.size() != piece.stores.size()) {
    return false;
  }
  for (size_t s = 0; s < piece.stores.size(); ++s) {
    const int32_t field = piece.stores[s];
    if (!IsIndexBelow(field, plan.fields.size()) ||
        plan.fields[field].scalar_input ||
        piece.code.stores[s].element != plan.fields[field].element) {
      return false;
    }
  }
  const bool has_gathered =
      std::any_of(piece.stores.begin(), piece.stores.end(),
                  [&](int32_t f) { return plan.fields[f].is_gathered; });
  if (has_gathered && (!piece.is_static || piece.stores.size() != 1))
    return false;
  for (size_t l = 0; l < piece.loads.size(); ++l) {
    if (!IsValidLoad(piece, l, plan)) return false;
  }
  return true;
}

// True if a static piece's inputs are there at its stage, and each piece stands
// after the pieces that make the gathered coefficients it reads.
bool IsValidOrder(const TilePlan& plan) {
  std::vector<size_t> made(plan.fields.size(), 0);  // by field: last piece + 1
  for (size_t p = 0; p < plan.pieces.size(); ++p) {
    for (const int32_t f : plan.pieces[p].stores) {
      made[f] = p + 1;
    }
  }
  for (size_t p = 0; p < plan.pieces.size(); ++p) {
    const TilePiece& piece = plan.pieces[p];
    for (const int32_t f : piece.stores) {
      const TileField& field = plan.fields[f];
      if (field.is_static != piece.is_static) return false;
      if (field.stage != plan.StageOf(piece)) return false;
    }
    for (const TileLoad& load : piece.loads) {
      if (load.is_input) continue;
      const int64_t f = load.source;
      const TileField& field = plan.fields[f];
      if (field.is_gathered && made[f] > p) return false;
      if (piece.is_static &&
          (!field.is_static || field.stage > plan.StageOf(piece))) {
        return false;
      }
    }
  }
  return true;
}

// Numbers of which sums and products stay far below 2^63.
bool IsBounded(const TilePlan& plan) {
  for (const int64_t number :
       {plan.first_time_step, plan.base_time_step, plan.last_time_step,
        plan.depth, plan.round_first, plan.round_step, plan.slab_points}) {
    if (!IsBounded(number)) return false;
  }
  return std::all_of(plan.widths.begin(), plan.widths.end(),
                     [](int64_t width) { return width <= 2 * kExtentMax + 1; });
}

bool IsValidPlan(const TilePlan& plan) {
  const int d = plan.dim_count();
  if (!IsBounded(plan)) return false;
  if (d < 1 || d >= kMaxIndices || plan.space.IsEmpty()) return false;
  if (static_cast<int>(plan.widths.size()) != d) return false;
  if (static_cast<int>(plan.counts.size()) != d) return false;
  for (int i = 0; i < d; ++i) {
    if (plan.widths[i] < 1 ||
        plan.counts[i] != CeilDiv(plan.space.upper[i] - plan.space.lower[i] + 1,
                                  plan.widths[i])) {
      return false;
    }
  }
  if (plan.depth < 1 || plan.slab_points < 1 ||
      plan.base_time_step < plan.first_time_step ||
      plan.last_time_step < plan.base_time_step) {
    return false;
  }
  if (plan.round_step < 0 ||
      (plan.round_step > 0 &&
       (plan.round_step % plan.depth != 0 ||
        (plan.round_first - plan.base_time_step) % plan.depth != 0))) {
    return false;
  }
  return HasRoomForHalos(plan) &&
         std::all_of(plan.fields.begin(), plan.fields.end(),
                     [&](const auto& f) { return IsValidField(f, plan); }) &&
         std::all_of(plan.pieces.begin(), plan.pieces.end(),
                     [&](const auto& p) { return IsValidPiece(p, plan); }) &&
         IsValidOrder(plan);
}

}  // namespace

void EncodeTilePlan(const TilePlan& plan, Encoder& out) {
  PutBox(out, plan.space);
  PutIntegers(out, plan.widths);
  PutIntegers(out, plan.counts);
  out.PutSigned(plan.first_time_step);
  out.PutSigned(plan.base_time_step);
  out.PutSigned(plan.last_time_step);
  out.PutSigned(plan.depth);
  out.PutSigned(plan.round_first);
  out.PutSigned(plan.round_step);
  out.PutSigned(plan.slab_points);
  out.PutVarint(plan.fields.size());
  for (const TileField& field : plan.fields) EncodeField(field, out);
  out.PutVarint(plan.inputs.size());
  for (const TileInput& input : plan.inputs) {
    out.PutSigned(input.position);
    out.PutU8(static_cast<uint8_t>(input.element));
    PutBox(out, input.box);
  }
  out.PutVarint(plan.pieces.size());
  for (const TilePiece& piece : plan.pieces) EncodePiece(piece, out);
}

TilePlan DecodeTilePlan(Decoder& in) {
  TilePlan out;
  out.space = GetBox(in);
  out.widths = GetIntegers<int64_t>(in);
  out.counts = GetIntegers<int64_t>(in);
  out.first_time_step = in.GetSigned();
  out.base_time_step = in.GetSigned();
  out.last_time_step = in.GetSigned();
  out.depth = in.GetSigned();
  out.round_first = in.GetSigned();
  out.round_step = in.GetSigned();
  out.slab_points = in.GetSigned();
  out.fields.resize(in.GetCount(6));
  for (TileField& field : out.fields) field = DecodeField(in);
  out.inputs.resize(in.GetCount(4));
  for (TileInput& input : out.inputs) {
    input.position = static_cast<int32_t>(in.GetSigned());
    input.element = GetElement(in);
    input.box = GetBox(in);
  }
  out.pieces.resize(in.GetCount(8));
  for (TilePiece& piece : out.pieces) {
    piece = DecodePiece(in, out.dim_count());
  }
  if (!in.ok() || !IsValidPlan(out)) {
    in.Fail();
    return TilePlan();
  }
  ComputeHalos(out);
  return out;
}

}  // namespace dogged::dsl
