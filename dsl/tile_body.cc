#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/coalesce.h"
#include "dsl/tile_plan.h"

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

std::string ShapeText(const TilePlan& plan) {
  const bool is_one = std::all_of(plan.counts.begin(), plan.counts.end(),
                                  [](int64_t count) { return count == 1; });
  return absl::StrCat(is_one ? "one tile" : absl::StrJoin(plan.counts, " x "),
                      is_one ? " of " : " tiles of ",
                      absl::StrJoin(plan.widths, " x "), " points, ",
                      plan.depth, " steps deep");
}

}  // namespace dogged::dsl
