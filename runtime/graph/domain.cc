#include "runtime/graph/domain.h"

#include <algorithm>

#include "runtime/base/check.h"
#include "runtime/graph/point_count.h"

namespace dogged {
namespace {

bool Visit(const Domain& domain, IndexVector& index,
           absl::FunctionRef<bool(const IndexVector&)> visit) {
  const int d = index.size();
  if (d == domain.size()) return !domain.guard.Holds(index) || visit(index);
  const Dimension& dimension = domain.dimensions[d];
  const int64_t upper = dimension.Upper(index);
  for (int64_t i = dimension.Lower(index); i <= upper; ++i) {
    index.push_back(i);
    const bool go_on = Visit(domain, index, visit);
    index.pop_back();
    if (!go_on) return false;
  }
  return true;
}

void EncodeBounds(const std::vector<AffineBound>& bounds, Encoder& out) {
  out.PutVarint(bounds.size());
  for (const AffineBound& bound : bounds) bound.Encode(out);
}

std::vector<AffineBound> DecodeBounds(Decoder& in, int outer_count) {
  std::vector<AffineBound> out;
  const int64_t count = in.GetCount(3);
  for (int64_t i = 0; i < count && in.ok(); ++i) {
    out.push_back(AffineBound::Decode(in));
    if (out.back().expr.LastIndex() >= outer_count) in.Fail();
  }
  if (count == 0) in.Fail();  // a dimension without a bound has no end
  return out;
}

}  // namespace

bool Constraint::Holds(const IndexVector& index) const {
  const int64_t value = expr.Evaluate(index);
  switch (kind) {
    case Kind::kAtLeastZero:
      return value >= 0;
    case Kind::kZero:
      return value == 0;
    case Kind::kDivisible:
      return value % modulus == 0;
  }
  return false;
}

bool Guard::Holds(const IndexVector& index) const {
  if (any_of.empty()) return true;
  for (const auto& all_of : any_of) {
    if (std::all_of(all_of.begin(), all_of.end(),
                    [&index](const Constraint& c) { return c.Holds(index); })) {
      return true;
    }
  }
  return false;
}

void Guard::Require(const std::vector<Constraint>& constraints) {
  if (constraints.empty()) return;
  if (any_of.empty()) any_of.emplace_back();
  for (auto& all_of : any_of) {
    all_of.insert(all_of.end(), constraints.begin(), constraints.end());
  }
}

void Guard::Encode(Encoder& out) const {
  out.PutVarint(any_of.size());
  for (const auto& all_of : any_of) {
    out.PutVarint(all_of.size());
    for (const Constraint& c : all_of) {
      c.expr.Encode(out);
      out.PutU8(static_cast<uint8_t>(c.kind));
      out.PutSigned(c.modulus);
    }
  }
}

Guard Guard::Decode(Decoder& in) {
  Guard out;
  out.any_of.resize(in.GetCount());
  for (auto& all_of : out.any_of) {
    all_of.resize(in.GetCount(4));
    for (Constraint& c : all_of) {
      c.expr = AffineExpr::Decode(in);
      const uint8_t kind = in.GetU8();
      c.modulus = in.GetSigned();
      if (kind > 2 || c.modulus < 1) in.Fail();
      if (in.ok()) c.kind = static_cast<Constraint::Kind>(kind);
    }
  }
  return out;
}

int64_t Dimension::Lower(const IndexVector& index) const {
  int64_t out = lower.front().Ceil(index);
  for (size_t i = 1; i < lower.size(); ++i) {
    out = std::max(out, lower[i].Ceil(index));
  }
  return out;
}

int64_t Dimension::Upper(const IndexVector& index) const {
  int64_t out = upper.front().Floor(index);
  for (size_t i = 1; i < upper.size(); ++i) {
    out = std::min(out, upper[i].Floor(index));
  }
  return out;
}

bool Dimension::IsNumber() const {
  return lower.size() == 1 && lower == upper && lower[0].divisor == 1 &&
         lower[0].expr.IsConstant();
}

Domain Domain::Box(const std::vector<Range>& ranges) {
  Domain out;
  for (const Range& range : ranges) {
    out.dimensions.push_back(
        {.name = range.name,
         .lower = {{.expr = AffineExpr::Constant(range.lower)}},
         .upper = {{.expr = AffineExpr::Constant(range.upper)}}});
  }
  return out;
}

bool Domain::Narrow(const Constraint& c) {
  const int d = c.expr.LastIndex();
  if (d < 0) return c.Holds({});
  if (c.kind == Constraint::Kind::kDivisible) return true;
  Dimension& dimension = dimensions[d];
  const int64_t factor = c.expr.coefficients[d];
  AffineExpr rest = c.expr;
  rest.coefficients[d] = 0;
  // factor * x + rest >= 0, and for kZero also <= 0.
  const AffineBound low{.expr = factor > 0 ? rest * -1 : rest,
                        .divisor = factor > 0 ? factor : -factor};
  const bool is_zero = c.kind == Constraint::Kind::kZero;
  if (factor > 0 || is_zero) dimension.lower.push_back(low);
  if (factor < 0 || is_zero) dimension.upper.push_back(low);
  return true;
}

std::vector<Constraint> Domain::BoundConstraints(int with_numbers) const {
  std::vector<Constraint> out;
  for (int d = 0; d < size(); ++d) {
    const Dimension& dimension = dimensions[d];
    const AffineExpr own = AffineExpr::Index(d);
    for (const AffineBound& bound : dimension.lower) {
      if (bound.expr.IsConstant() && d != with_numbers) continue;
      out.push_back({.expr = own * bound.divisor - bound.expr});
    }
    for (const AffineBound& bound : dimension.upper) {
      if (bound.expr.IsConstant() && d != with_numbers) continue;
      out.push_back({.expr = bound.expr - own * bound.divisor});
    }
  }
  return out;
}

bool Domain::Contains(const IndexVector& index) const {
  if (index.size() != size()) return false;
  for (int d = 0; d < size(); ++d) {
    // Bounds mention only indices further out, so the whole index may be given.
    const Dimension& dimension = dimensions[d];
    if (index[d] < dimension.Lower(index)) return false;
    if (index[d] > dimension.Upper(index)) return false;
  }
  return guard.Holds(index);
}

int64_t Domain::Count() const { return CountPoints(*this); }

bool Domain::ForEach(absl::FunctionRef<bool(const IndexVector&)> visit) const {
  IndexVector index;
  return Visit(*this, index, visit);
}

std::optional<IndexVector> Domain::Next(
    const std::optional<IndexVector>& previous) const {
  IndexVector index;
  if (previous.has_value()) {
    index = *previous;
    if (size() == 0) return std::nullopt;
    ++index[size() - 1];
  } else if (size() == 0) {
    if (guard.Holds(index)) return index;
    return std::nullopt;
  }
  // `index` holds the prefix that is fixed; its last entry may lie beyond.
  bool descend = !previous.has_value();
  while (true) {
    if (!descend) {
      const Dimension& last = dimensions[index.size() - 1];
      IndexVector outer = index;
      outer.pop_back();
      if (index[index.size() - 1] > last.Upper(outer)) {
        index.pop_back();
        if (index.empty()) return std::nullopt;
        ++index[index.size() - 1];
        continue;
      }
    }
    if (index.size() == size()) {
      if (guard.Holds(index)) return index;
      ++index[size() - 1];
      descend = false;
      continue;
    }
    index.push_back(dimensions[index.size()].Lower(index));
    descend = false;
  }
}

DomainCursor::DomainCursor(Domain domain,
                           const std::optional<IndexVector>& last)
    : domain_(std::move(domain)), along_(domain_.size() - 1), last_(last) {
  while (along_ > 0 && domain_.dimensions[along_].IsNumber()) --along_;
  if (last_.has_value() && along_ >= 0) {
    upper_ = domain_.dimensions[along_].Upper(*last_);
  }
}

int64_t DomainCursor::NextRun(int64_t max) {
  const bool has_runs = along_ >= 0 && domain_.guard.IsAlways();
  if (has_runs && last_.has_value() && (*last_)[along_] < upper_) {
    ++(*last_)[along_];
  } else {
    last_ = domain_.Next(last_);
    if (!last_.has_value()) return 0;
    if (has_runs) {
      upper_ = domain_.dimensions[along_].Upper(*last_);
    }
  }
  first_ = *last_;
  if (!has_runs) return 1;
  const int64_t count = std::min(max, upper_ - first_[along_] + 1);
  (*last_)[along_] += count - 1;
  return count;
}

void Domain::Encode(Encoder& out) const {
  out.PutVarint(dimensions.size());
  for (const Dimension& d : dimensions) {
    out.PutString(d.name);
    EncodeBounds(d.lower, out);
    EncodeBounds(d.upper, out);
  }
  guard.Encode(out);
}

Domain Domain::Decode(Decoder& in) {
  Domain out;
  const int64_t count = in.GetCount(3);
  if (count > kMaxIndices) in.Fail();
  for (int d = 0; d < count && in.ok(); ++d) {
    Dimension dimension;
    dimension.name = std::string(in.GetString());
    dimension.lower = DecodeBounds(in, d);
    dimension.upper = DecodeBounds(in, d);
    out.dimensions.push_back(std::move(dimension));
  }
  out.guard = Guard::Decode(in);
  if (!in.ok()) return {};
  return out;
}

}  // namespace dogged
