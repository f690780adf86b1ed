#include "runtime/job/inputs/chunk_layout.h"

#include <cstring>
#include <iterator>

namespace dogged {

ChunkLayout::ChunkLayout(const Job& job) {
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    const JobInput& input = job.inputs[i];
    names_.push_back(input.array);
    grids_.push_back(input.grid);
    first_.push_back(size());
    for (size_t c = 0; c < input.chunks.size(); ++c) {
      chunks_.push_back({input.chunks[c],
                         {static_cast<int32_t>(i), static_cast<int64_t>(c)}});
    }
  }
  first_.push_back(size());
}

int64_t ChunkLayout::PositionOf(const ChunkId& id) const {
  if (id.input < 0 || id.input >= std::ssize(grids_)) {
    return -1;
  }
  const auto i = static_cast<size_t>(id.input);
  const bool is_one = id.index >= 0 && id.index < first_[i + 1] - first_[i];
  return is_one ? first_[i] + id.index : -1;
}

int64_t ChunkLayout::BytesOf(int64_t at) const {
  const ChunkId& id = IdOf(at);
  return GridOf(id.input).BytesOf(id.index);
}

Label ChunkLayout::LabelOf(int64_t at) const {
  const ChunkId& id = IdOf(at);
  return {kArrayOnDisk, {id.input, id.index}};
}

int64_t ChunkLayout::PositionOf(const Label& label) const {
  if (label.index.size() != 2) return -1;
  const int64_t input = label.index[0];
  if (input < 0 || input >= std::ssize(grids_)) return -1;
  return PositionOf(ChunkId{static_cast<int32_t>(input), label.index[1]});
}

bool ChunkLayout::IsOfForm(int64_t at, const Value& value) const {
  const ChunkId& id = IdOf(at);
  const ChunkGrid& grid = GridOf(id.input);
  return value.type() == grid.element &&
         value.shape() == grid.BoxOf(id.index).extents;
}

Value ChunkLayout::ValueOf(int64_t at, absl::string_view bytes) const {
  if (std::ssize(bytes) != BytesOf(at)) return Value();
  const ChunkId& id = IdOf(at);
  const ChunkGrid& grid = GridOf(id.input);
  Value out = Value::Allocate(grid.element, grid.BoxOf(id.index).extents);
  std::memcpy(out.mutable_data(), bytes.data(), bytes.size());
  out.Seal();
  return out;
}

}  // namespace dogged
