#include "dsl/kernels/nest_kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "dsl/kernels/nest_walk.h"
#include "dsl/kernels/reduce_kernel.h"
#include "dsl/kernels/tile_program.h"
#include "runtime/base/status.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {
namespace {

int64_t BlockBytes(const NestBlock& block) {
  return (block.Count() * ElementBytes(block.element) + 63) / 64 * 64;
}

// The extents of what `tile` has of a clipped block.
Shape ClippedShape(const NestBlock& block, const IndexVector& tile) {
  Shape out;
  for (size_t d = 0; d < block.extents.size(); ++d) {
    const int64_t left = block.limits[d] - block.first[d].Evaluate(tile);
    out.push_back(std::clamp<int64_t>(left, 0, block.extents[d]));
  }
  return out;
}

Shape FullShape(const NestBlock& block) {
  return IndexVector(absl::Span<const int64_t>(block.extents));
}

// The part of a dense block that a tile stores: a box.
struct StoredBox {
  Shape extents;  // of the block
  IndexVector lower;
  IndexVector end;
  int64_t element_bytes = 0;
  int last = -1;  // the last dimension of which not all is stored
};

// Clears what lies outside of it, from dimension `d` on, which is not behind
// its last.
void ClearAround(const StoredBox& box, int d, char* data) {
  int64_t bytes = box.element_bytes;
  for (int e = d + 1; e < box.extents.size(); ++e) bytes *= box.extents[e];
  std::memset(data, 0, static_cast<size_t>(box.lower[d] * bytes));
  for (int64_t i = box.lower[d]; d < box.last && i < box.end[d]; ++i) {
    ClearAround(box, d + 1, data + i * bytes);
  }
  std::memset(data + box.end[d] * bytes, 0,
              static_cast<size_t>((box.extents[d] - box.end[d]) * bytes));
}

// Elements that no point stores still have one value.
void ClearNotStored(const NestBlock& block, const IndexVector& tile,
                    char* data) {
  StoredBox box{.extents = FullShape(block),
                .element_bytes = ElementBytes(block.element)};
  const int rank = box.extents.size();
  if (rank == 0) {
    std::memset(data, 0, static_cast<size_t>(box.element_bytes));
    return;
  }
  for (size_t d = 0; d < block.extents.size(); ++d) {
    // Without bounds nothing is known to be stored.
    int64_t from = 0;
    int64_t to = 0;
    if (!block.stored_lower.empty()) {
      const int64_t first = block.first[d].Evaluate(tile);
      from = block.stored_lower[d] - first;
      to = block.stored_upper[d] + 1 - first;
    }
    from = std::clamp<int64_t>(from, 0, block.extents[d]);
    to = std::clamp(to, from, block.extents[d]);
    box.lower.push_back(from);
    box.end.push_back(to);
    if (to - from < block.extents[d]) box.last = static_cast<int>(d);
  }
  if (box.last >= 0) ClearAround(box, 0, data);
}

// Copies the leading part of shape `part` of a dense block.
void CopyPart(const char* from, const Shape& whole, const Shape& part,
              int64_t element_bytes, char* to) {
  CopyBlock(
      {.data = from,
       .box = {.first = IndexVector(std::vector<int64_t>(whole.size(), 0)),
               .extents = whole}},
      {.first = IndexVector(std::vector<int64_t>(part.size(), 0)),
       .extents = part},
      element_bytes, to);
}

class NestKernel : public Kernel {
 public:
  NestKernel(NestBody body, NestFunction function,
             std::vector<InputArray> inputs)
      : body_(std::move(body)),
        function_(std::move(function)),
        inputs_(std::move(inputs)),
        walker_(body_) {
    for (const NestBlock& block : body_.blocks) {
      if (block.kind == NestBlock::Kind::kBuffer ||
          block.kind == NestBlock::Kind::kInput) {
        buffer_bytes_ += BlockBytes(block);
      }
    }
  }
  absl::Status Run(KernelCall& call) const override;
  bool Fits(const TaskClass& c) const override;
  ByteCounts OutputBytes(const Task& task) const override;
  int64_t ScratchBytes(const Task& task) const override {
    (void)task;
    return buffer_bytes_;
  }
  bool ReadsInputs() const override { return !inputs_.empty(); }
  void ForEachInputRead(
      const Task& task,
      absl::FunctionRef<void(int32_t, const DenseBox&)> f) const override;

 private:
  // The part of the array of an input block that is there.
  DenseBox BoxOf(const NestBlock& block, const InputArray& array,
                 const IndexVector& tile) const;
  absl::Status ReadInput(const NestBlock& block, const InputArray& array,
                         const IndexVector& tile, char* to) const;
  absl::Status RunTile(const IndexVector& tile,
                       absl::Span<void* const> blocks) const {
    if (function_ == nullptr) return walker_.Run(tile, blocks);
    std::vector<void*> all(blocks.begin(), blocks.end());
    all.push_back(reinterpret_cast<void*>(&RunReduceStep));
    function_(tile.begin(), all.data());
    return absl::OkStatus();
  }

  const NestBody body_;
  NestFunction function_;
  std::vector<InputArray> inputs_;
  NestWalker walker_;
  int64_t buffer_bytes_ = 0;
  mutable ScratchPool scratch_;
};

bool NestKernel::Fits(const TaskClass& c) const {
  std::vector<bool> made(c.creates.size(), false);
  for (const NestBlock& block : body_.blocks) {
    const auto position = static_cast<size_t>(block.position);
    if (block.kind == NestBlock::Kind::kUse && position >= c.uses.size()) {
      return false;
    }
    if (block.kind != NestBlock::Kind::kCreate) continue;
    if (position >= made.size() || made[position]) return false;
    made[position] = true;
  }
  return c.domain.size() == body_.tile_rank &&
         std::find(made.begin(), made.end(), false) == made.end();
}

ByteCounts NestKernel::OutputBytes(const Task& task) const {
  ByteCounts out;
  for (const NestBlock& block : body_.blocks) {
    if (block.kind != NestBlock::Kind::kCreate) continue;
    const auto position = static_cast<size_t>(block.position);
    if (out.size() <= position) out.resize(position + 1, 0);
    const Shape shape =
        block.IsClipped() ? ClippedShape(block, task.index) : FullShape(block);
    out[position] = ElementCount(shape) * ElementBytes(block.element);
  }
  return out;
}

DenseBox NestKernel::BoxOf(const NestBlock& block, const InputArray& array,
                           const IndexVector& tile) const {
  DenseBox out;
  for (size_t d = 0; d < block.extents.size(); ++d) {
    const int64_t begin = block.first[d].Evaluate(tile);
    const int64_t first = std::max<int64_t>(begin, 0);
    const int64_t end =
        std::min(begin + block.extents[d], array.shape()[static_cast<int>(d)]);
    out.first.push_back(first);
    out.extents.push_back(std::max<int64_t>(0, end - first));
  }
  return out;
}

void NestKernel::ForEachInputRead(
    const Task& task,
    absl::FunctionRef<void(int32_t, const DenseBox&)> f) const {
  size_t input = 0;
  for (const NestBlock& block : body_.blocks) {
    if (block.kind != NestBlock::Kind::kInput) continue;
    const DenseBox box = BoxOf(block, inputs_[input++], task.index);
    if (ElementCount(box.extents) > 0) f(block.position, box);
  }
}

absl::Status NestKernel::ReadInput(const NestBlock& block,
                                   const InputArray& array,
                                   const IndexVector& tile, char* to) const {
  const DenseBox box = BoxOf(block, array, tile);
  if (ElementCount(box.extents) == 0) return absl::OkStatus();
  const auto rank = static_cast<int>(block.extents.size());
  const int64_t bytes = ElementBytes(block.element);
  if (box.extents == FullShape(block)) return array.Read(box, to);
  // At an edge of the array: row by row.
  DenseBox row = box;
  for (int d = 0; d + 1 < rank; ++d) row.extents[d] = 1;
  while (true) {
    int64_t at = 0;
    for (int d = 0; d < rank; ++d) {
      at = at * block.extents[d] + row.first[d] - block.first[d].Evaluate(tile);
    }
    DOGGED_RETURN_IF_ERROR(array.Read(row, to + at * bytes));
    int d = rank - 2;
    while (d >= 0 && row.first[d] + 1 == box.first[d] + box.extents[d]) {
      row.first[d] = box.first[d];
      --d;
    }
    if (d < 0) return absl::OkStatus();
    ++row.first[d];
  }
}

absl::Status NestKernel::Run(KernelCall& call) const {
  const IndexVector& tile = call.task.index;
  int64_t bytes = buffer_bytes_;
  for (const NestBlock& block : body_.blocks) {
    if (block.IsClipped()) bytes += BlockBytes(block);
  }
  Value scratch = scratch_.Take(bytes);
  auto* memory = static_cast<char*>(scratch.mutable_data());
  const auto take = [&memory](const NestBlock& block) {
    return std::exchange(memory, memory + BlockBytes(block));
  };
  std::vector<void*> places;
  size_t input = 0;
  for (const NestBlock& block : body_.blocks) {
    const auto position = static_cast<size_t>(block.position);
    switch (block.kind) {
      case NestBlock::Kind::kBuffer:
        places.push_back(take(block));
        break;
      case NestBlock::Kind::kInput: {
        char* const to = take(block);
        places.push_back(to);
        DOGGED_RETURN_IF_ERROR(ReadInput(block, inputs_[input++], tile, to));
        break;
      }
      case NestBlock::Kind::kUse: {
        const Value& value = call.inputs[position];
        places.push_back(
            const_cast<void*>(value.IsNone() ? nullptr : value.data()));
        if (!value.IsNone() && (value.type() != block.element ||
                                value.element_count() != block.Count())) {
          return absl::InvalidArgumentError(absl::StrCat(
              "a block of ", value.element_count(), " elements where one of ",
              block.Count(), " is read"));
        }
        break;
      }
      case NestBlock::Kind::kCreate: {
        const Shape full = FullShape(block);
        Shape shape = block.IsClipped() ? ClippedShape(block, tile) : full;
        Value& value = call.outputs[position];
        value = Value::Allocate(block.element, shape);
        if (block.IsClipped() && shape != full) {
          char* const to = take(block);
          ClearNotStored(block, tile, to);
          places.push_back(to);
        } else {
          ClearNotStored(block, tile, static_cast<char*>(value.mutable_data()));
          places.push_back(value.mutable_data());
        }
        break;
      }
    }
  }
  DOGGED_RETURN_IF_ERROR(RunTile(tile, places));
  for (size_t b = 0; b < body_.blocks.size(); ++b) {
    const NestBlock& block = body_.blocks[b];
    if (block.kind != NestBlock::Kind::kCreate) continue;
    Value& value = call.outputs[block.position];
    if (places[b] != value.mutable_data() && value.bytes() > 0) {
      CopyPart(static_cast<const char*>(places[b]), FullShape(block),
               value.shape(), ElementBytes(block.element),
               static_cast<char*>(value.mutable_data()));
    }
    value.UnifyNans();
  }
  scratch_.Give(std::move(scratch));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeNestKernel(
    NestBody body, NestFunction function, std::vector<InputArray> inputs) {
  size_t input = 0;
  for (const NestBlock& block : body.blocks) {
    if (block.kind != NestBlock::Kind::kInput) continue;
    const bool fits = input < inputs.size() &&
                      inputs[input].type() == block.element &&
                      inputs[input].shape().size() == std::ssize(block.extents);
    ++input;
    if (!fits) {
      return absl::InvalidArgumentError(
          "an input of another type or rank than its tiles read");
    }
  }
  return std::make_unique<NestKernel>(std::move(body), std::move(function),
                                      std::move(inputs));
}

}  // namespace dogged::dsl
