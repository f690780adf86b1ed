#include "dsl/nest/integer_rows.h"

#include <algorithm>
#include <numeric>

namespace dogged::dsl {

Row RowOf(const AffineExpr& form, size_t rank) {
  return {form.coefficients.begin(), form.coefficients.begin() + rank};
}

AffineExpr ExprOf(const Row& row) {
  AffineExpr out;
  std::copy(row.begin(), row.end(), out.coefficients.begin());
  return out;
}

int64_t Determinant(const std::vector<Row>& rows) {
  if (rows.empty()) return 1;
  int64_t out = 0;
  for (size_t k = 0; k < rows.size(); ++k) {
    if (rows[0][k] == 0) continue;
    std::vector<Row> minor(rows.begin() + 1, rows.end());
    for (Row& row : minor) row.erase(row.begin() + static_cast<ptrdiff_t>(k));
    out += (k % 2 == 0 ? 1 : -1) * rows[0][k] * Determinant(minor);
  }
  return out;
}

// The greatest common divisor of all minors is 1.
bool IsPrimitive(const std::vector<Row>& rows) {
  if (rows.empty()) return true;
  std::vector<bool> is_taken(rows.front().size(), false);
  std::fill(is_taken.begin(),
            is_taken.begin() + static_cast<ptrdiff_t>(rows.size()), true);
  int64_t divisor = 0;
  do {
    std::vector<Row> minor;
    for (const Row& row : rows) {
      minor.emplace_back();
      for (size_t k = 0; k < row.size(); ++k) {
        if (is_taken[k]) minor.back().push_back(row[k]);
      }
    }
    divisor = std::gcd(divisor, Determinant(minor));
  } while (divisor != 1 &&
           std::prev_permutation(is_taken.begin(), is_taken.end()));
  return divisor == 1;
}

}  // namespace dogged::dsl
