#include "dsl/kernels/chunk_kernel.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "dsl/kernels/chunk_reads.h"
#include "dsl/kernels/reduce_kernel.h"
#include "runtime/base/status.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {
namespace {

// A piece of a task, with what it takes to run it.
class Piece {
 public:
  Piece(ChunkBody body, std::unique_ptr<BoxFunction> function)
      : body_(std::move(body)), reads_(body_), function_(std::move(function)) {}
  const ChunkBody& body() const { return body_; }
  bool Fits(const TaskClass& c) const {
    return reads_.Fits(c) &&
           std::all_of(
               body_.outputs.begin(), body_.outputs.end(),
               [&c](int32_t output) { return output < std::ssize(c.creates); });
  }
  // Makes its elements of the outputs, which are there.
  absl::Status Run(KernelCall& call) const;

 private:
  const ChunkBody body_;
  const ChunkReads reads_;
  const std::unique_ptr<BoxFunction> function_;
};

absl::Status Piece::Run(KernelCall& call) const {
  const int64_t count = body_.PointCount(call.task.index);
  const int64_t element = body_.FirstElement(call.task.index);
  const CodeBlock& code = body_.code;
  const auto rank = static_cast<size_t>(code.index_count);
  std::vector<void*> stores;
  for (size_t c = 0; c < code.stores.size(); ++c) {
    Value& output = call.outputs[body_.outputs[c]];
    if (output.type() != code.stores[c].element ||
        element + count > output.element_count()) {
      return absl::InvalidArgumentError("a piece beyond its block");
    }
    stores.push_back(static_cast<char*>(output.mutable_data()) +
                     element * ElementBytes(output.type()));
  }
  DOGGED_ASSIGN_OR_RETURN(ChunkReads::Operands operands, reads_.Gather(call));
  // The code takes something where there is nothing to read.
  for (size_t l = 0; l < code.loads.size(); ++l) {
    if (operands.loads[l] != nullptr) continue;
    operands.copies[l] = std::make_unique<char[]>(
        static_cast<size_t>(count * ElementBytes(code.loads[l].element)));
    operands.loads[l] = operands.copies[l].get();
  }
  std::vector<int64_t> strides((stores.size() + operands.loads.size()) * rank,
                               0);
  for (size_t operand = 1; operand * rank <= strides.size(); ++operand) {
    strides[operand * rank - 1] = 1;
  }
  const IndexVector point = body_.PointOf(call.task.index);
  IndexVector lower;
  IndexVector extents;
  for (int d = 0; d < point.size(); ++d) {
    if (d != body_.dim) lower.push_back(point[d]);
  }
  if (body_.dim >= 0) lower.push_back(point[body_.dim]);
  while (lower.size() < code.index_count) lower.push_back(0);
  for (int d = 0; d < code.index_count; ++d) extents.push_back(1);
  extents[code.index_count - 1] = count;
  function_->Run({.lower = lower.begin(),
                  .count = extents.begin(),
                  .stores = stores.data(),
                  .loads = operands.loads.data(),
                  .strides = strides.data()});
  return absl::OkStatus();
}

class ChunkKernel : public Kernel {
 public:
  ChunkKernel(ChunkPieces body,
              std::vector<std::unique_ptr<BoxFunction>> functions) {
    for (size_t p = 0; p < functions.size(); ++p) {
      pieces_.push_back(std::make_unique<Piece>(std::move(body.pieces[p]),
                                                std::move(functions[p])));
      const ChunkBody& piece = pieces_.back()->body();
      for (size_t c = 0; c < piece.outputs.size(); ++c) {
        const auto output = static_cast<size_t>(piece.outputs[c]);
        if (types_.size() <= output) types_.resize(output + 1);
        types_[output] = piece.code.stores[c].element;
      }
    }
  }
  absl::Status Run(KernelCall& call) const override;
  bool Fits(const TaskClass& c) const override {
    return types_.size() == c.creates.size() &&
           std::all_of(pieces_.begin(), pieces_.end(),
                       [&c](const auto& piece) { return piece->Fits(c); });
  }
  ByteCounts OutputBytes(const Task& task) const override {
    ByteCounts out;
    for (const ElementType type : types_) {
      out.push_back(ElementCount(task.index) * ElementBytes(type));
    }
    return out;
  }

 private:
  // Elements of each output of a task.
  int64_t ElementCount(const IndexVector& task) const {
    return pieces_.front()->body().ElementCount(task);
  }

  std::vector<std::unique_ptr<Piece>> pieces_;
  std::vector<ElementType> types_;  // by output
};

absl::Status ChunkKernel::Run(KernelCall& call) const {
  const int64_t elements = ElementCount(call.task.index);
  for (size_t o = 0; o < types_.size(); ++o) {
    Shape shape;
    if (pieces_.front()->body().dim >= 0) shape.push_back(elements);
    call.outputs[o] = Value::Allocate(types_[o], shape);
    int64_t made = 0;
    for (const auto& piece : pieces_) {
      const auto& outputs = piece->body().outputs;
      made += std::count(outputs.begin(), outputs.end(), o) *
              piece->body().PointCount(call.task.index);
    }
    if (made == elements) continue;
    std::memset(call.outputs[o].mutable_data(), 0,
                static_cast<size_t>(elements * ElementBytes(types_[o])));
  }
  for (const auto& piece : pieces_) {
    if (piece->body().PointCount(call.task.index) == 0) continue;
    DOGGED_RETURN_IF_ERROR(piece->Run(call));
  }
  for (Value& value : call.outputs) value.UnifyNans();
  return absl::OkStatus();
}

class ChunkReduceKernel : public Kernel {
 public:
  explicit ChunkReduceKernel(ChunkReduction body)
      : body_(std::move(body)), reads_(body_.chunk) {}
  bool Fits(const TaskClass& c) const override {
    return reads_.Fits(c) && c.creates.size() == 1;
  }
  ByteCounts OutputBytes(const Task& task) const override {
    if (body_.is_along) return {PartialBytes(body_.kind, body_.element)};
    return {body_.chunk.PointCount(task.index) * ElementBytes(body_.element)};
  }
  absl::Status Run(KernelCall& call) const override {
    DOGGED_ASSIGN_OR_RETURN(ChunkReads::Operands operands, reads_.Gather(call));
    std::erase(operands.loads, nullptr);
    const int64_t count = body_.chunk.PointCount(call.task.index);
    if (body_.is_along) {
      call.outputs[0] =
          ReduceAlong(body_.kind, body_.element, operands.loads, count);
    } else {
      Shape shape;
      if (body_.chunk.dim >= 0) shape.push_back(count);
      call.outputs[0] = Value::Allocate(body_.element, shape);
      ReduceEach(body_.kind, body_.element, operands.loads, count,
                 call.outputs[0].mutable_data());
    }
    call.outputs[0].UnifyNans();
    return absl::OkStatus();
  }

 private:
  const ChunkReduction body_;
  const ChunkReads reads_;
};

}  // namespace

std::unique_ptr<Kernel> MakeChunkReduceKernel(ChunkReduction body) {
  return std::make_unique<ChunkReduceKernel>(std::move(body));
}

std::unique_ptr<Kernel> MakeChunkKernel(
    ChunkPieces body, std::vector<std::unique_ptr<BoxFunction>> functions) {
  return std::make_unique<ChunkKernel>(std::move(body), std::move(functions));
}

}  // namespace dogged::dsl
