#include "runtime/graph/gather.h"

#include <algorithm>

namespace dogged {

int64_t Gather::PlaceCount() const {
  int64_t count = 1;
  for (const int64_t extent : extents) {
    if (extent <= 0) return 0;
    if (count > kPlacesMax / extent) return kPlacesMax + 1;
    count *= extent;
  }
  return count;
}

int64_t Gather::PlaceOf(const IndexVector& task) const {
  int64_t place = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int d = static_cast<int>(i);
    const int64_t at = task[dims[i]] - lower[d];
    if (at < 0 || at >= extents[d]) return -1;
    place = place * extents[d] + at;
  }
  return place;
}

IndexVector Gather::At(int64_t place) const {
  IndexVector out = lower;
  for (int d = extents.size() - 1; d >= 0; --d) {
    out[d] += place % extents[d];
    place /= extents[d];
  }
  return out;
}

bool Gather::Has(int position) const {
  return std::any_of(
      tables.begin(), tables.end(),
      [position](const Table& table) { return table.position == position; });
}

void Gather::Encode(Encoder& out) const {
  out.PutVarint(dims.size());
  for (const int32_t d : dims) out.PutSigned(d);
  lower.Encode(out);
  extents.Encode(out);
  out.PutVarint(tables.size());
  for (const Table& table : tables) {
    out.PutSigned(table.position);
    // Neighbours mostly read neighbours: differences are short.
    int64_t before = 0;
    for (const int64_t value : table.values) {
      // 0 is none.
      const int64_t step = value - before;
      out.PutSigned(value == kNone ? 0 : step < 0 ? step : step + 1);
      if (value != kNone) before = value;
    }
  }
}

Gather Gather::Decode(Decoder& in) {
  Gather out;
  const int64_t dims = in.GetCount();
  for (int64_t i = 0; i < dims && in.ok(); ++i) {
    out.dims.push_back(static_cast<int32_t>(in.GetSigned()));
  }
  out.lower = IndexVector::Decode(in);
  out.extents = IndexVector::Decode(in);
  const auto rank = static_cast<int>(out.dims.size());
  if (out.lower.size() != rank || out.extents.size() != rank) in.Fail();
  const int64_t tables = in.GetCount();
  const int64_t places = in.ok() ? out.PlaceCount() : 0;
  if (places > kPlacesMax || places * tables > in.remaining()) in.Fail();
  for (int64_t t = 0; t < tables && in.ok(); ++t) {
    Table& table = out.tables.emplace_back();
    table.position = static_cast<int32_t>(in.GetSigned());
    table.values.reserve(places);
    int64_t before = 0;
    for (int64_t i = 0; i < places && in.ok(); ++i) {
      const int64_t step = in.GetSigned();
      if (step < -2 * kValueMax || step > 2 * kValueMax + 1) {
        in.Fail();
        break;
      }
      const int64_t value = before + (step > 0 ? step - 1 : step);
      if (step != 0 && (value < -kValueMax || value > kValueMax)) in.Fail();
      table.values.push_back(step == 0 ? kNone : value);
      if (step != 0) before = value;
    }
  }
  return out;
}

}  // namespace dogged
