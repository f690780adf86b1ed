#include "dsl/kernels/chunk_kernel.h"

#include <utility>
#include <vector>

#include "dsl/kernels/chunk_reads.h"
#include "dsl/kernels/reduce_kernel.h"
#include "runtime/base/status.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {
namespace {

class ChunkKernel : public Kernel {
 public:
  ChunkKernel(ChunkBody body, std::unique_ptr<BoxFunction> function)
      : body_(std::move(body)), reads_(body_), function_(std::move(function)) {}
  absl::Status Run(KernelCall& call) const override;
  bool Fits(const TaskClass& c) const override {
    return reads_.Fits(c) && c.creates.size() == body_.code.stores.size();
  }
  ByteCounts OutputBytes(const Task& task) const override {
    ByteCounts out;
    for (const IrStore& store : body_.code.stores) {
      out.push_back(body_.PointCount(task.index) * ElementBytes(store.element));
    }
    return out;
  }

 private:
  const ChunkBody body_;
  const ChunkReads reads_;
  const std::unique_ptr<BoxFunction> function_;
};

// The value of one output of a chunk.
Value BlockOf(const ChunkBody& body, const Task& task, ElementType element) {
  Shape shape;
  if (body.dim >= 0) shape.push_back(body.PointCount(task.index));
  return Value::Allocate(element, shape);
}

absl::Status ChunkKernel::Run(KernelCall& call) const {
  DOGGED_ASSIGN_OR_RETURN(ChunkReads::Operands operands, reads_.Gather(call));
  const int64_t count = body_.PointCount(call.task.index);
  const CodeBlock& code = body_.code;
  const auto rank = static_cast<size_t>(code.index_count);
  std::vector<void*> stores;
  for (size_t c = 0; c < call.outputs.size(); ++c) {
    call.outputs[c] = BlockOf(body_, call.task, code.stores[c].element);
    stores.push_back(call.outputs[c].mutable_data());
  }
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
      call.outputs[0] = BlockOf(body_.chunk, call.task, body_.element);
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

std::unique_ptr<Kernel> MakeChunkKernel(ChunkBody body,
                                        std::unique_ptr<BoxFunction> function) {
  return std::make_unique<ChunkKernel>(std::move(body), std::move(function));
}

}  // namespace dogged::dsl
