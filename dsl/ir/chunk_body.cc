#include "dsl/ir/chunk_body.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "runtime/base/codec.h"
#include "runtime/base/division.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

constexpr int32_t kShiftMax = 24;
// Outputs of a task, beside those that a piece of it makes, at most.
constexpr int64_t kOutputsMore = 64;

bool AreDims(const std::vector<int32_t>& dims, int32_t rank) {
  return std::all_of(dims.begin(), dims.end(),
                     [rank](int32_t d) { return d >= 0 && d < rank; });
}

bool Has(const std::vector<int32_t>& dims, int32_t d) {
  return std::find(dims.begin(), dims.end(), d) != dims.end();
}

// A load's elements follow from indices of its group.
bool IsOfGroup(const ChunkLoad& load, const ChunkGroup& group) {
  for (int32_t d = 0; d < kMaxIndices; ++d) {
    if (load.at.coefficients[d] != 0 && !Has(group.places.dims, d))
      return false;
  }
  return load.table == nullptr ||
         std::all_of(load.table->dims.begin(), load.table->dims.end(),
                     [&](int32_t d) { return Has(group.places.dims, d); });
}

}  // namespace

int64_t ChunkBody::PlaceCount() const {
  int64_t count = 0;
  for (const ChunkGroup& group : groups) {
    count = std::min(count + group.places.PlaceCount(), Gather::kPlacesMax + 1);
  }
  return count;
}

int64_t ChunkBody::PointCount(const IndexVector& task) const {
  if (dim < 0) return 1;
  const int64_t begin = origin + task[dim] * Size();
  const int64_t beyond = std::min(last + 1, begin + Size());
  return std::max<int64_t>(0, beyond - std::max(first, begin));
}

IndexVector ChunkBody::PointOf(const IndexVector& task) const {
  IndexVector out = task;
  if (dim >= 0) out[dim] = std::max(first, origin + task[dim] * Size());
  return out;
}

int64_t ChunkBody::ElementCount(const IndexVector& task) const {
  if (dim < 0) return 1;
  return std::clamp<int64_t>(end - (origin + task[dim] * Size()) + 1, 0,
                             Size());
}

int64_t ChunkBody::FirstElement(const IndexVector& task) const {
  return dim < 0 ? 0 : PointOf(task)[dim] - (origin + task[dim] * Size());
}

int64_t ChunkBody::ReadCount(int32_t group, const IndexVector& task) const {
  return Has(groups[group].places.dims, dim) ? PointCount(task) : 1;
}

bool ChunkBody::FindBlocks(int32_t group, const IndexVector& task,
                           std::vector<int64_t>& blocks,
                           std::vector<int64_t>* elements) const {
  blocks.clear();
  if (elements != nullptr) elements->clear();
  absl::flat_hash_map<int64_t, int64_t> position;
  const int64_t count = ReadCount(group, task);
  for (const ChunkLoad& load : loads) {
    if (load.group != group) continue;
    IndexVector point = PointOf(task);
    int64_t last_block = kNone;
    int64_t last_position = 0;
    for (int64_t j = 0; j < count; ++j) {
      int64_t at = load.at.Evaluate(point);
      if (load.table != nullptr) {
        const int64_t place = load.table->PlaceOf(point);
        if (place < 0) return false;
        const int64_t value = load.table->tables[0].values[place];
        if (value == Gather::kNone) return false;
        at += value;
      }
      if (load.ring_length > 0) {
        at = load.ring_first + FloorMod(at - load.ring_first, load.ring_length);
      }
      if (at < 0) return false;
      const int64_t block = at >> shift;
      if (block != last_block) {
        const auto [it, is_new] = position.emplace(block, std::ssize(blocks));
        if (is_new) blocks.push_back(block);
        last_block = block;
        last_position = it->second;
      }
      if (elements != nullptr) {
        elements->push_back((last_position << shift) | (at & (Size() - 1)));
      }
      if (dim >= 0) ++point[dim];
    }
  }
  return true;
}

void ChunkBody::Encode(Encoder& out) const {
  code.Encode(out);
  out.PutSigned(rank);
  out.PutSigned(dim);
  out.PutSigned(origin);
  out.PutSigned(end);
  out.PutSigned(first);
  out.PutSigned(last);
  out.PutSigned(shift);
  for (const int32_t output : outputs) out.PutSigned(output);
  out.PutVarint(groups.size());
  for (const ChunkGroup& group : groups) {
    out.PutSigned(group.first_use);
    out.PutSigned(group.use_count);
    group.places.Encode(out);
  }
  for (const ChunkLoad& load : loads) {
    out.PutSigned(load.group);
    load.at.Encode(out);
    out.PutSigned(load.ring_length);
    out.PutSigned(load.ring_first);
    out.PutBool(load.table != nullptr);
    if (load.table != nullptr) load.table->Encode(out);
  }
}

ChunkBody ChunkBody::Decode(Decoder& in) {
  ChunkBody out;
  out.code = CodeBlock::Decode(in);
  out.rank = static_cast<int32_t>(in.GetSigned());
  out.dim = static_cast<int32_t>(in.GetSigned());
  out.origin = in.GetSigned();
  out.end = in.GetSigned();
  out.first = in.GetSigned();
  out.last = in.GetSigned();
  out.shift = static_cast<int32_t>(in.GetSigned());
  if (out.rank < 0 || out.rank > kMaxIndices || out.dim < -1 ||
      out.dim >= out.rank || out.shift < 0 || out.shift > kShiftMax ||
      out.origin < -Gather::kValueMax || out.first < out.origin ||
      out.last > out.end || out.end > Gather::kValueMax ||
      out.code.index_count != std::max(1, out.rank)) {
    in.Fail();
  }
  for (size_t c = 0; c < out.code.stores.size() && in.ok(); ++c) {
    out.outputs.push_back(static_cast<int32_t>(in.GetSigned()));
    if (out.outputs.back() < 0 ||
        out.outputs.back() >= std::ssize(out.code.stores) + kOutputsMore) {
      in.Fail();
    }
  }
  const int64_t groups = in.GetCount();
  for (int64_t g = 0; g < groups && in.ok(); ++g) {
    ChunkGroup& group = out.groups.emplace_back();
    group.first_use = static_cast<int32_t>(in.GetSigned());
    group.use_count = static_cast<int32_t>(in.GetSigned());
    group.places = Gather::Decode(in);
    if (!AreDims(group.places.dims, out.rank) || group.first_use < 0 ||
        group.use_count < 1) {
      in.Fail();
    }
  }
  if (out.PlaceCount() > Gather::kPlacesMax) in.Fail();
  for (size_t l = 0; l < out.code.loads.size() && in.ok(); ++l) {
    ChunkLoad& load = out.loads.emplace_back();
    load.group = static_cast<int32_t>(in.GetSigned());
    load.at = AffineExpr::Decode(in);
    load.ring_length = in.GetSigned();
    load.ring_first = in.GetSigned();
    if (load.ring_length < 0 || load.ring_first < 0 ||
        load.ring_length > Gather::kValueMax ||
        load.ring_first > Gather::kValueMax) {
      in.Fail();
    }
    if (in.GetBool()) {
      Gather table = Gather::Decode(in);
      if (table.tables.size() != 1) in.Fail();
      load.table = std::make_shared<const Gather>(std::move(table));
    }
    if (load.group < 0 || load.group >= std::ssize(out.groups) ||
        !IsOfGroup(load, out.groups[load.group])) {
      in.Fail();
    }
  }
  return out;
}

std::string ChunkPieces::Encode() const {
  Encoder out;
  out.PutVarint(pieces.size());
  for (const ChunkBody& piece : pieces) piece.Encode(out);
  return out.Take();
}

absl::StatusOr<ChunkPieces> ChunkPieces::Decode(absl::string_view body) {
  Decoder in(body);
  ChunkPieces out;
  const int64_t count = in.GetCount();
  if (count == 0) in.Fail();
  for (int64_t p = 0; p < count && in.ok(); ++p) {
    out.pieces.push_back(ChunkBody::Decode(in));
  }
  DOGGED_RETURN_IF_ERROR(in.Finish("chunk kernel"));
  return out;
}

std::string ChunkReduction::Encode() const {
  Encoder out;
  out.PutU8(static_cast<uint8_t>(kind));
  out.PutBool(is_along);
  out.PutU8(static_cast<uint8_t>(element));
  chunk.Encode(out);
  return out.Take();
}

absl::StatusOr<ChunkReduction> ChunkReduction::Decode(absl::string_view body) {
  Decoder in(body);
  ChunkReduction out;
  const uint8_t kind = in.GetU8();
  out.is_along = in.GetBool();
  const uint8_t element = in.GetU8();
  if (kind >= ReduceNames().size() || element > 2) in.Fail();
  out.kind = static_cast<ReduceKind>(kind);
  out.element = static_cast<ElementType>(element);
  out.chunk = ChunkBody::Decode(in);
  const CodeBlock& code = out.chunk.code;
  const auto is_read = [&](const IrLoad& load) {
    return load.element == out.element;
  };
  if (code.stores.size() != 1 ||
      !std::all_of(code.loads.begin(), code.loads.end(), is_read)) {
    in.Fail();
  }
  DOGGED_RETURN_IF_ERROR(in.Finish("chunk reduction"));
  return out;
}

}  // namespace dogged::dsl
