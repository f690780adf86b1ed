#include "apps/tiles/strip_rows.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace dogged {

StripRows LoadStrip(int64_t m, int64_t n, blas::ConstMatrix a) {
  // Kept: see triangle.cc.
  thread_local std::vector<StripRow> room;
  const auto count = static_cast<size_t>(m);
  if (room.size() < count) room.resize(count);
  const StripRows rows = absl::MakeSpan(room).first(count);
  for (size_t i = 0; i < count; ++i) {
    const auto end =
        std::copy_n(a.row(static_cast<int64_t>(i)), n, rows[i].begin());
    std::fill(end, rows[i].end(), 0.0);
  }
  return rows;
}

void StoreStrip(absl::Span<const StripRow> rows, int64_t n, blas::Matrix a) {
  for (size_t i = 0; i < rows.size(); ++i) {
    std::copy_n(rows[i].begin(), n, a.row(static_cast<int64_t>(i)));
  }
}

}  // namespace dogged
