#include "runtime/graph/affine.h"

#include "absl/strings/str_cat.h"

namespace dogged {

int AffineExpr::LastIndex() const {
  for (int d = kMaxIndices - 1; d >= 0; --d) {
    if (coefficients[d] != 0) return d;
  }
  return -1;
}

AffineExpr operator+(const AffineExpr& a, const AffineExpr& b) {
  AffineExpr out{.constant = a.constant + b.constant};
  for (size_t d = 0; d < kMaxIndices; ++d) {
    out.coefficients[d] = a.coefficients[d] + b.coefficients[d];
  }
  return out;
}

AffineExpr operator-(const AffineExpr& a, const AffineExpr& b) {
  return a + b * -1;
}

AffineExpr operator*(const AffineExpr& a, int64_t factor) {
  AffineExpr out{.constant = a.constant * factor};
  for (size_t d = 0; d < kMaxIndices; ++d) {
    out.coefficients[d] = a.coefficients[d] * factor;
  }
  return out;
}

void AffineExpr::Encode(Encoder& out) const {
  const int count = LastIndex() + 1;
  out.PutU8(static_cast<uint8_t>(count));
  for (int d = 0; d < count; ++d) {
    out.PutSigned(coefficients[d]);
  }
  out.PutSigned(constant);
}

AffineExpr AffineExpr::Decode(Decoder& in) {
  AffineExpr out;
  const int count = in.GetU8();
  if (count > kMaxIndices) {
    in.Fail();
    return out;
  }
  for (int d = 0; d < count; ++d) {
    out.coefficients[d] = in.GetSigned();
  }
  out.constant = in.GetSigned();
  return out;
}

std::string AffineExpr::ToString(absl::Span<const std::string> names) const {
  std::string out;
  for (size_t d = 0; d < kMaxIndices; ++d) {
    const int64_t c = coefficients[d];
    if (c == 0) continue;
    if (out.empty()) {
      if (c == -1) out = "-";
      if (c != 1 && c != -1) out = absl::StrCat(c, "*");
    } else {
      absl::StrAppend(&out, c < 0 ? " - " : " + ");
      if (c != 1 && c != -1) absl::StrAppend(&out, c < 0 ? -c : c, "*");
    }
    absl::StrAppend(&out, d < names.size() ? names[d] : absl::StrCat("i", d));
  }
  if (out.empty()) return absl::StrCat(constant);
  if (constant > 0) absl::StrAppend(&out, " + ", constant);
  if (constant < 0) absl::StrAppend(&out, " - ", -constant);
  return out;
}

void AffineBound::Encode(Encoder& out) const {
  expr.Encode(out);
  out.PutSigned(divisor);
}

AffineBound AffineBound::Decode(Decoder& in) {
  AffineBound out;
  out.expr = AffineExpr::Decode(in);
  out.divisor = in.GetSigned();
  if (out.divisor < 1) in.Fail();
  return out;
}

IndexVector Apply(const AffineMap& map, const IndexVector& index) {
  IndexVector out;
  for (const AffineExpr& expr : map) out.push_back(expr.Evaluate(index));
  return out;
}

}  // namespace dogged
