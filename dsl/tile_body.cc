#include "dsl/coalesce.h"

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
  const absl::Status status = in.Finish("tile kernel");
  if (!status.ok()) return status;
  return out;
}

}  // namespace dogged::dsl
