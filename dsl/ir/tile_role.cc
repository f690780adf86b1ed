#include "dsl/ir/tile_role.h"

#include <algorithm>

#include "runtime/graph/affine.h"

namespace dogged::dsl {

int64_t TileResult::FirstWanted(int64_t first) const {
  const int64_t ahead = std::max(first, first_time_step) - first_time_step;
  return first_time_step + CeilDiv(ahead, time_interval) * time_interval;
}

int64_t TileResult::CountWanted(int64_t first, int64_t last) const {
  first = std::max(first, first_time_step) - first_time_step;
  last = std::min(last, last_time_step) - first_time_step;
  if (last < first) return 0;
  return FloorDiv(last, time_interval) - CeilDiv(first, time_interval) + 1;
}

Box TileResult::WantedOf(const Box& core) const {
  Box out = Intersect(core, box);
  for (int e = 0; e < out.size(); ++e) {
    const int64_t ahead = out.lower[e] - box.lower[e];
    out.lower[e] = box.lower[e] + CeilDiv(ahead, step[e]) * step[e];
    if (out.upper[e] >= out.lower[e]) {
      out.upper[e] -= (out.upper[e] - out.lower[e]) % step[e];
    }
  }
  return out;
}

IndexVector TileResult::CountsOf(const Box& wanted) const {
  IndexVector out = wanted.Extents();
  for (int e = 0; e < out.size(); ++e) out[e] = CeilDiv(out[e], step[e]);
  return out;
}

bool FitsPlan(const TileRole& role, const TilePlan& plan) {
  return std::all_of(role.results.begin(), role.results.end(),
                     [&](const TileResult& r) {
                       if (r.field < 0 || r.field >= std::ssize(plan.fields)) {
                         return false;
                       }
                       const TileField& field = plan.fields[r.field];
                       if (role.kind == TileRole::Kind::kStatic &&
                           (!field.is_static || field.stage != role.stage)) {
                         return false;
                       }
                       return !field.scalar_input && !field.is_gathered &&
                              r.box.size() == field.box.size();
                     });
}

void TileRole::Encode(Encoder& out) const {
  out.PutU8(static_cast<uint8_t>(kind));
  out.PutBool(gives_carry);
  out.PutSigned(stage);
  out.PutVarint(results.size());
  for (const TileResult& result : results) {
    out.PutSigned(result.field);
    result.box.lower.Encode(out);
    result.box.upper.Encode(out);
    result.step.Encode(out);
    out.PutSigned(result.first_time_step);
    out.PutSigned(result.last_time_step);
    out.PutSigned(result.time_interval);
    out.PutBool(result.has_time);
  }
}

TileRole TileRole::Decode(Decoder& in) {
  TileRole out;
  const uint8_t kind = in.GetU8();
  if (kind > 2) in.Fail();
  if (in.ok()) out.kind = static_cast<Kind>(kind);
  out.gives_carry = in.GetBool();
  out.stage = static_cast<int32_t>(in.GetSigned());
  out.results.resize(in.GetCount(7));
  for (TileResult& result : out.results) {
    result.field = static_cast<int32_t>(in.GetSigned());
    result.box.lower = IndexVector::Decode(in);
    result.box.upper = IndexVector::Decode(in);
    result.step = IndexVector::Decode(in);
    result.first_time_step = in.GetSigned();
    result.last_time_step = in.GetSigned();
    result.time_interval = in.GetSigned();
    if (result.time_interval < 1) in.Fail();
    result.has_time = in.GetBool();
    if (result.box.lower.size() != result.box.upper.size()) in.Fail();
    if (result.box.lower.size() != result.step.size()) in.Fail();
    for (const int64_t step : result.step) {
      if (step < 1) in.Fail();
    }
  }
  return out;
}

}  // namespace dogged::dsl
