// Affine expressions over the indices of a task, and maps made of them. Plain
// values; thread-safe.
#ifndef DOGGED_RUNTIME_GRAPH_AFFINE_H_
#define DOGGED_RUNTIME_GRAPH_AFFINE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "runtime/base/codec.h"
#include "runtime/base/division.h"
#include "runtime/base/label.h"

namespace dogged {

// coefficients . index + constant.
struct AffineExpr {
  std::array<int64_t, kMaxIndices> coefficients{};
  int64_t constant = 0;

  static AffineExpr Constant(int64_t value) { return {.constant = value}; }
  // index[dimension] + offset.
  static AffineExpr Index(int dimension, int64_t offset = 0) {
    AffineExpr out{.constant = offset};
    out.coefficients[dimension] = 1;
    return out;
  }

  int64_t Evaluate(const IndexVector& index) const {
    int64_t sum = constant;
    for (int d = 0; d < index.size(); ++d) {
      sum += coefficients[d] * index[d];
    }
    return sum;
  }
  bool IsConstant() const { return LastIndex() < 0; }
  // The highest dimension with a coefficient other than zero; -1 if none.
  int LastIndex() const;

  friend AffineExpr operator+(const AffineExpr& a, const AffineExpr& b);
  friend AffineExpr operator-(const AffineExpr& a, const AffineExpr& b);
  friend AffineExpr operator*(const AffineExpr& a, int64_t factor);
  friend bool operator==(const AffineExpr&, const AffineExpr&) = default;

  void Encode(Encoder& out) const;
  static AffineExpr Decode(Decoder& in);
  // "2*x - t + 1", with the names of the dimensions.
  std::string ToString(absl::Span<const std::string> names) const;
};

// An affine expression divided by a positive integer; the user of a bound
// rounds: up for a lower bound, down for an upper one.
struct AffineBound {
  AffineExpr expr;
  int64_t divisor = 1;

  int64_t Floor(const IndexVector& index) const {
    const int64_t value = expr.Evaluate(index);
    return divisor == 1 ? value : FloorDiv(value, divisor);
  }
  int64_t Ceil(const IndexVector& index) const {
    const int64_t value = expr.Evaluate(index);
    return divisor == 1 ? value : CeilDiv(value, divisor);
  }
  friend bool operator==(const AffineBound&, const AffineBound&) = default;
  void Encode(Encoder& out) const;
  static AffineBound Decode(Decoder& in);
};

// AffineMap: from a task's index to a label's, an expression for each index of
// the image.
using AffineMap = std::vector<AffineExpr>;

IndexVector Apply(const AffineMap& map, const IndexVector& index);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_AFFINE_H_
