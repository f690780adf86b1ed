#include "runtime/graph/input_array.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

// An array or chunk of more bytes is nobody's.
constexpr int64_t kBytesMax = int64_t{1} << 46;
// Chunks of an array, at most: their digests travel with the job.
constexpr int64_t kChunksMax = int64_t{1} << 22;

int64_t ChunksAlong(const ChunkGrid& grid, int d) {
  return (grid.shape[d] + grid.chunk[d] - 1) / grid.chunk[d];
}

// Calls `f(offset in from, offset in to, elements)` for each row that both
// have, offsets in elements; `to` is a dense block of `box`.
template <typename F>
void ForEachRow(const DenseBox& from, const DenseBox& box, F f) {
  const int rank = box.first.size();
  IndexVector low;
  IndexVector high;  // one beyond
  for (int d = 0; d < rank; ++d) {
    low.push_back(std::max(from.first[d], box.first[d]));
    high.push_back(std::min(from.first[d] + from.extents[d],
                            box.first[d] + box.extents[d]));
    if (low[d] >= high[d]) return;
  }
  const int last = rank - 1;
  IndexVector at = low;
  while (true) {
    int64_t source = 0;
    int64_t target = 0;
    for (int d = 0; d < rank; ++d) {
      source = source * from.extents[d] + at[d] - from.first[d];
      target = target * box.extents[d] + at[d] - box.first[d];
    }
    f(source, target, last < 0 ? 1 : high[last] - low[last]);
    int d = last - 1;
    while (d >= 0 && at[d] + 1 == high[d]) {
      at[d] = low[d];
      --d;
    }
    if (d < 0) return;
    ++at[d];
  }
}

}  // namespace

int64_t ChunkGrid::count() const {
  int64_t out = 1;
  for (int d = 0; d < shape.size(); ++d) out *= ChunksAlong(*this, d);
  return out;
}

DenseBox ChunkGrid::BoxOf(int64_t index) const {
  DenseBox out;
  IndexVector at = shape;
  for (int d = shape.size() - 1; d >= 0; --d) {
    at[d] = index % ChunksAlong(*this, d);
    index /= ChunksAlong(*this, d);
  }
  for (int d = 0; d < shape.size(); ++d) {
    out.first.push_back(at[d] * chunk[d]);
    out.extents.push_back(std::min(chunk[d], shape[d] - out.first[d]));
  }
  return out;
}

int64_t ChunkGrid::BytesOf(int64_t index) const {
  return ElementCount(BoxOf(index).extents) * ElementBytes(element);
}

void ChunkGrid::ForEachIn(const DenseBox& box,
                          absl::FunctionRef<void(int64_t)> f) const {
  const int rank = shape.size();
  IndexVector low;
  IndexVector high;
  for (int d = 0; d < rank; ++d) {
    const int64_t end =
        std::min(box.first[d] + box.extents[d], shape[d]);  // one beyond
    low.push_back(std::max<int64_t>(0, box.first[d]) / chunk[d]);
    high.push_back((end - 1) / chunk[d]);
    if (end <= std::max<int64_t>(0, box.first[d])) return;
  }
  IndexVector at = low;
  while (true) {
    int64_t index = 0;
    for (int d = 0; d < rank; ++d) {
      index = index * ChunksAlong(*this, d) + at[d];
    }
    f(index);
    int d = rank - 1;
    while (d >= 0 && at[d] == high[d]) {
      at[d] = low[d];
      --d;
    }
    if (d < 0) return;
    ++at[d];
  }
}

void ChunkGrid::Encode(Encoder& out) const {
  out.PutU8(static_cast<uint8_t>(element));
  shape.Encode(out);
  chunk.Encode(out);
}

ChunkGrid ChunkGrid::Decode(Decoder& in) {
  ChunkGrid out;
  const uint8_t element = in.GetU8();
  out.shape = Shape::Decode(in);
  out.chunk = Shape::Decode(in);
  bool fits = in.ok() && element <= 2 && out.shape.size() == out.chunk.size();
  int64_t elements = 1;
  int64_t chunks = 1;
  for (int d = 0; fits && d < out.shape.size(); ++d) {
    fits = out.shape[d] >= 1 && out.chunk[d] >= 1 &&
           out.shape[d] <= kBytesMax / elements && out.chunk[d] <= out.shape[d];
    if (!fits) break;
    elements *= out.shape[d];
    // As there are no more chunks than elements nothing overflows.
    chunks *= ChunksAlong(out, d);
  }
  if (!fits || elements > kBytesMax / 8 || chunks > kChunksMax) {
    in.Fail();
    return ChunkGrid();
  }
  out.element = static_cast<ElementType>(element);
  return out;
}

void CopyBlock(const DenseBlock& from, const DenseBox& box,
               int64_t element_bytes, char* to) {
  ForEachRow(from.box, box, [&](int64_t source, int64_t target, int64_t count) {
    std::memcpy(to + target * element_bytes, from.data + source * element_bytes,
                count * element_bytes);
  });
}

Digest DigestOf(const DenseBlock& whole, const DenseBox& box,
                int64_t element_bytes) {
  DigestStream stream;
  ForEachRow(whole.box, box, [&](int64_t source, int64_t, int64_t count) {
    stream.Add({whole.data + source * element_bytes,
                static_cast<size_t>(count * element_bytes)});
  });
  return stream.Finish();
}

InputArray::InputArray(Value whole) : whole_(std::move(whole)) {
  if (whole_.IsNone()) return;
  grid_ = {.element = whole_.type(),
           .shape = whole_.shape(),
           .chunk = whole_.shape()};
}

absl::Status InputArray::Read(const DenseBox& box, void* out) const {
  const int64_t bytes = ElementBytes(grid_.element);
  auto* const to = static_cast<char*>(out);
  DenseBox all;
  for (int d = 0; d < grid_.shape.size(); ++d) all.first.push_back(0);
  all.extents = grid_.shape;
  if (!whole_.IsNone()) {
    CopyBlock({static_cast<const char*>(whole_.data()), all}, box, bytes, to);
    return absl::OkStatus();
  }
  absl::Status status;
  grid_.ForEachIn(box, [&](int64_t index) {
    if (!status.ok()) return;
    const Value chunk =
        source_ == nullptr ? Value() : source_->Find({position_, index});
    if (chunk.IsNone() || chunk.IsSpilled() ||
        chunk.bytes() != grid_.BytesOf(index)) {
      status = absl::UnavailableError(
          absl::StrCat("chunk ", index, " of an input is not at hand"));
      return;
    }
    CopyBlock({static_cast<const char*>(chunk.data()), grid_.BoxOf(index)}, box,
              bytes, to);
  });
  return status;
}

}  // namespace dogged
