#include "dsl/ir/tile_bodies.h"

#include "dsl/ir/tile_plan_codec.h"
#include "runtime/base/status.h"

namespace dogged::dsl {

std::string TileBody::Encode() const {
  Encoder out;
  out.PutSigned(plan);
  role.Encode(out);
  return out.Take();
}

absl::StatusOr<TileBody> TileBody::Decode(absl::string_view body) {
  Decoder in(body);
  TileBody out;
  out.plan = static_cast<int32_t>(in.GetSigned());
  out.role = TileRole::Decode(in);
  DOGGED_RETURN_IF_ERROR(in.Finish("tile kernel"));
  return out;
}

absl::StatusOr<TilePlan> DecodeTilePlan(const KernelSpec& spec) {
  Decoder in(spec.body);
  TilePlan plan = DecodeTilePlan(in);
  DOGGED_RETURN_IF_ERROR(in.Finish("tile plan"));
  return plan;
}

}  // namespace dogged::dsl
