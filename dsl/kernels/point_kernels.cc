#include "dsl/kernels/point_kernels.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/kernels/interpreter.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {
namespace {

template <typename T>
using FewStores = absl::InlinedVector<T, 8>;

// A task's index as a box of one point, with `element_count` points in one
// more dimension if that is not zero.
struct PointBox {
  IndexVector lower;
  IndexVector count;

  PointBox(const IndexVector& index, int32_t index_count,
           int64_t element_count) {
    lower = index;
    while (lower.size() < index_count) lower.push_back(0);
    for (int d = 0; d < index_count; ++d) count.push_back(1);
    if (element_count > 0) count[index_count - 1] = element_count;
  }
};

// The numbers that the stores of `block`, all of type T, give at a point.
template <typename T>
FewStores<T> EvaluateAt(const BoxFunction& function, size_t store_count,
                        int32_t index_count, const IndexVector& index) {
  FewStores<T> out(store_count);
  if (store_count == 0) return out;
  FewStores<void*> stores;
  for (T& value : out) stores.push_back(&value);
  const FewStores<int64_t> strides(
      store_count * static_cast<size_t>(index_count), 0);
  const PointBox box(index, index_count, 0);
  function.Run({.lower = box.lower.begin(),
                .count = box.count.begin(),
                .stores = stores.data(),
                .loads = nullptr,
                .strides = strides.data()});
  return out;
}

class Shapes {
 public:
  explicit Shapes(const ShapeCode& code)
      : ranks_(code.ranks),
        extent_count_(code.code.stores.size()),
        index_count_(code.code.index_count),
        function_(Interpret(code.code)) {}

  FewStores<Shape> At(const IndexVector& index) const {
    FewStores<Shape> out(ranks_.size());
    if (extent_count_ == 0) return out;
    const FewStores<int64_t> extents =
        EvaluateAt<int64_t>(*function_, extent_count_, index_count_, index);
    size_t next = 0;
    for (size_t v = 0; v < ranks_.size(); ++v) {
      for (int32_t d = 0; d < ranks_[v]; ++d) {
        out[v].push_back(std::max<int64_t>(0, extents[next++]));
      }
    }
    return out;
  }

 private:
  std::vector<int32_t> ranks_;
  size_t extent_count_;
  int32_t index_count_;
  std::unique_ptr<BoxFunction> function_;
};

int64_t ShapeBytes(ElementType element, const Shape& shape) {
  return ElementCount(shape) * ElementBytes(element);
}

bool IsPosition(int32_t position, size_t count) {
  return position >= 0 && position < static_cast<int64_t>(count);
}

class CodeKernel : public Kernel {
 public:
  CodeKernel(CodeBody body, std::unique_ptr<BoxFunction> function,
             std::vector<InputArray> inputs)
      : body_(std::move(body)),
        function_(std::move(function)),
        inputs_(std::move(inputs)),
        shapes_(body_.shapes),
        is_always_read_(body_.code.loads.size(), false) {
    for (const IrNode& node : body_.code.nodes) {
      if (node.op != IrOp::kLoad || node.a >= 0) continue;
      is_always_read_[node.integer] = true;
    }
  }
  absl::Status Run(KernelCall& call) const override;
  bool Fits(const TaskClass& c) const override {
    return c.uses.size() + body_.reads.size() == body_.code.loads.size() &&
           c.creates.size() == body_.code.stores.size();
  }
  ByteCounts OutputBytes(const Task& task) const override {
    FewStores<Shape> shapes(body_.code.stores.size());
    if (body_.has_elements) shapes = shapes_.At(task.index);
    ByteCounts out;
    for (size_t c = 0; c < shapes.size(); ++c) {
      out.push_back(ShapeBytes(body_.code.stores[c].element, shapes[c]));
    }
    return out;
  }
  bool ReadsInputs() const override { return !inputs_.empty(); }
  void ForEachInputRead(
      const Task& task,
      absl::FunctionRef<void(int32_t, const DenseBox&)> f) const override {
    for (size_t r = 0; r < inputs_.size(); ++r) {
      if (!body_.reads[r].guard.Holds(task.index)) continue;
      const absl::StatusOr<DenseBox> element = ElementOf(r, task.index);
      if (element.ok()) f(body_.reads[r].position, *element);
    }
  }

 private:
  // The element of its input that read `r` is at a task.
  absl::StatusOr<DenseBox> ElementOf(size_t r, const IndexVector& index) const;
  // Adds where the elements of reads stand to `loads`; those of inputs that
  // are not whole in memory stand in `copies`.
  absl::Status PlaceReads(const IndexVector& index, FewStores<int64_t>& copies,
                          FewStores<const void*>& loads) const;

  CodeBody body_;
  std::unique_ptr<BoxFunction> function_;
  std::vector<InputArray> inputs_;  // by read
  Shapes shapes_;
  std::vector<bool> is_always_read_;  // by load: no guard stands before it
};

// Stands for a label or an element that is not there.
constexpr int64_t kZero = 0;

absl::StatusOr<DenseBox> CodeKernel::ElementOf(size_t r,
                                               const IndexVector& index) const {
  const InputRead& read = body_.reads[r];
  DenseBox out;
  for (size_t d = 0; d < read.at.size(); ++d) {
    const int64_t at = read.at[d].Evaluate(index) / read.step[d];
    const int64_t extent = inputs_[r].shape()[static_cast<int>(d)];
    if (at < 0 || at >= extent) {
      return absl::OutOfRangeError(
          absl::StrCat("reads element ", at, " of an input with ", extent));
    }
    out.first.push_back(at);
    out.extents.push_back(1);
  }
  return out;
}

absl::Status CodeKernel::PlaceReads(const IndexVector& index,
                                    FewStores<int64_t>& copies,
                                    FewStores<const void*>& loads) const {
  for (size_t r = 0; r < inputs_.size(); ++r) {
    if (!body_.reads[r].guard.Holds(index)) {
      loads.push_back(&kZero);
      continue;
    }
    DOGGED_ASSIGN_OR_RETURN(const DenseBox element, ElementOf(r, index));
    const Value& whole = inputs_[r].whole();
    if (whole.IsNone()) {
      DOGGED_RETURN_IF_ERROR(inputs_[r].Read(element, &copies[r]));
      loads.push_back(&copies[r]);
      continue;
    }
    int64_t at = 0;
    for (int d = 0; d < element.first.size(); ++d) {
      at = at * whole.shape()[d] + element.first[d];
    }
    loads.push_back(static_cast<const char*>(whole.data()) +
                    at * ElementBytes(whole.type()));
  }
  return absl::OkStatus();
}

absl::Status CodeKernel::Run(KernelCall& call) const {
  const CodeBlock& code = body_.code;
  int64_t element_count = 0;
  if (body_.has_elements) {
    const FewStores<Shape> shapes = shapes_.At(call.task.index);
    for (size_t c = 0; c < call.outputs.size(); ++c) {
      call.outputs[c] = Value::Allocate(code.stores[c].element, shapes[c]);
      element_count = call.outputs[c].element_count();
    }
    if (element_count == 0) return absl::OkStatus();
  } else {
    for (size_t c = 0; c < call.outputs.size(); ++c) {
      call.outputs[c] = Value::Allocate(code.stores[c].element, {});
    }
  }
  FewStores<void*> stores;
  FewStores<const void*> loads;
  absl::InlinedVector<int64_t, 32> strides(
      (code.stores.size() + code.loads.size()) *
          static_cast<size_t>(code.index_count),
      0);
  const auto set_stride = [&](size_t operand, const Value& value) {
    if (!body_.has_elements || value.shape().empty()) return absl::OkStatus();
    if (value.element_count() != element_count) {
      return absl::InvalidArgumentError(
          absl::StrCat("blocks of ", value.element_count(), " and ",
                       element_count, " elements in one task"));
    }
    strides[(operand + 1) * static_cast<size_t>(code.index_count) - 1] = 1;
    return absl::OkStatus();
  };
  for (Value& value : call.outputs) {
    if (absl::Status s = set_stride(stores.size(), value); !s.ok()) return s;
    stores.push_back(value.mutable_data());
  }
  // A job from anybody may read a use that is not there.
  for (const Value& value : call.inputs) {
    const size_t load = loads.size();
    loads.push_back(value.IsNone() ? &kZero : value.data());
    if (value.IsNone() && is_always_read_[load]) {
      return absl::InvalidArgumentError("an input that is read is not there");
    }
    if (value.IsNone()) continue;
    const ElementType element = code.loads[load].element;
    if (value.type() != element || value.bytes() == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("an input of ", value.bytes(), " bytes of type ",
                       ElementName(value.type()), " where one of ",
                       ElementName(element), " is read"));
    }
    const absl::Status s = set_stride(stores.size() + loads.size() - 1, value);
    if (!s.ok()) return s;
  }
  FewStores<int64_t> copies(inputs_.size());
  DOGGED_RETURN_IF_ERROR(PlaceReads(call.task.index, copies, loads));
  const PointBox box(call.task.index, code.index_count, element_count);
  function_->Run({.lower = box.lower.begin(),
                  .count = box.count.begin(),
                  .stores = stores.data(),
                  .loads = loads.data(),
                  .strides = strides.data()});
  for (Value& value : call.outputs) value.UnifyNans();
  return absl::OkStatus();
}

// The dense array behind an input, in the coordinates of its elements.
struct DenseLayout {
  IndexVector extents;
  bool is_product = true;  // block extents multiply those of the indices
};

DenseLayout LayoutOf(const InputBody& body, const InputArray& content) {
  DenseLayout out{.extents = content.shape()};
  out.is_product =
      body.block.empty() || content.shape().size() == body.box.size();
  return out;
}

class InputKernel : public Kernel {
 public:
  InputKernel(InputBody body, InputArray content)
      : body_(std::move(body)),
        content_(std::move(content)),
        layout_(LayoutOf(body_, content_)),
        shapes_(body_.shapes) {}
  absl::Status Run(KernelCall& call) const override;
  bool Fits(const TaskClass& c) const override {
    return c.creates.size() == 1 && c.domain.size() == body_.box.size();
  }
  ByteCounts OutputBytes(const Task& task) const override {
    return {ShapeBytes(body_.element, shapes_.At(task.index)[0])};
  }

  bool ReadsInputs() const override { return true; }
  void ForEachInputRead(
      const Task& task,
      absl::FunctionRef<void(int32_t, const DenseBox&)> f) const override {
    const absl::StatusOr<DenseBox> slice = SliceOf(task);
    if (slice.ok()) f(body_.position, *slice);
  }

 private:
  // The elements of the dense array that the task cuts out.
  absl::StatusOr<DenseBox> SliceOf(const Task& task) const;

  InputBody body_;
  InputArray content_;
  DenseLayout layout_;
  Shapes shapes_;
};

absl::StatusOr<DenseBox> InputKernel::SliceOf(const Task& task) const {
  const IndexVector& index = task.index;
  const Shape shape = shapes_.At(index)[0];
  const int rank = layout_.extents.size();
  DenseBox out;
  for (int d = 0; d < rank; ++d) {
    const bool is_index = d < index.size();
    const int64_t position =
        is_index ? (index[body_.axis[d]] - body_.box.lower[d]) / body_.step[d]
                 : 0;
    if (layout_.is_product && !body_.block.empty()) {
      out.first.push_back(position * body_.block[d]);
      out.extents.push_back(shape[d]);
    } else {
      out.first.push_back(position);
      out.extents.push_back(is_index ? 1 : shape[d - index.size()]);
    }
    if (out.first[d] < 0 ||
        out.first[d] + out.extents[d] > layout_.extents[d]) {
      return absl::OutOfRangeError(
          absl::StrCat("reaches element ", out.first[d] + out.extents[d] - 1,
                       " of an input with ", layout_.extents[d]));
    }
  }
  return out;
}

absl::Status InputKernel::Run(KernelCall& call) const {
  DOGGED_ASSIGN_OR_RETURN(const DenseBox slice, SliceOf(call.task));
  Value& out = call.outputs[0];
  out = Value::Allocate(body_.element, shapes_.At(call.task.index)[0]);
  if (out.bytes() == 0) return absl::OkStatus();
  return content_.Read(slice, out.mutable_data());
}

class NativeTask : public Kernel {
 public:
  NativeTask(NativeBody body, NativeKernel native)
      : body_(std::move(body)),
        native_(std::move(native)),
        scalars_(Interpret(body_.scalars)),
        in_shapes_(body_.in_shapes),
        out_shapes_(body_.out_shapes) {}
  absl::Status Run(KernelCall& call) const override;
  bool Fits(const TaskClass& c) const override;
  ByteCounts OutputBytes(const Task& task) const override {
    const FewStores<Shape> shapes = out_shapes_.At(task.index);
    ByteCounts out(shapes.size(), 0);
    for (size_t o = 0; o < shapes.size(); ++o) {
      out[body_.out[o]] = ShapeBytes(body_.out_elements[o], shapes[o]);
    }
    return out;
  }
  bool Updates(int use) const override {
    return native_.updates >= 0 && body_.in[native_.updates] == use &&
           std::count(body_.in.begin(), body_.in.end(), use) == 1;
  }
  double Flops(const Task& task) const override {
    if (!body_.has_cost && !native_.flops) return 0;
    const FewStores<double> scalars = ScalarsAt(task.index);
    if (body_.has_cost) return scalars.back();
    return native_.flops(in_shapes_.At(task.index), out_shapes_.At(task.index),
                         scalars);
  }
  KernelLibrary* library() const override { return native_.library.get(); }

 private:
  FewStores<double> ScalarsAt(const IndexVector& index) const {
    if (body_.scalars.stores.empty()) return {};
    return EvaluateAt<double>(*scalars_, body_.scalars.stores.size(),
                              body_.scalars.index_count, index);
  }

  NativeBody body_;
  NativeKernel native_;
  std::unique_ptr<BoxFunction> scalars_;
  Shapes in_shapes_;
  Shapes out_shapes_;
};

bool NativeTask::Fits(const TaskClass& c) const {
  FewStores<bool> made(c.creates.size(), false);
  for (const int32_t out : body_.out) {
    if (!IsPosition(out, made.size())) return false;
    made[out] = true;
  }
  return std::all_of(
             body_.in.begin(), body_.in.end(),
             [&c](int32_t in) { return IsPosition(in, c.uses.size()); }) &&
         std::find(made.begin(), made.end(), false) == made.end();
}

absl::Status NativeTask::Run(KernelCall& call) const {
  // A value that two formals share must be copied by a kernel that updates it.
  FewStores<Value> in;
  for (size_t i = 0; i < body_.in.size(); ++i) {
    Value& input = call.inputs[body_.in[i]];
    const bool is_last =
        std::find(body_.in.begin() + static_cast<ptrdiff_t>(i) + 1,
                  body_.in.end(), body_.in[i]) == body_.in.end();
    in.push_back(is_last ? std::move(input) : input);
    if (in.back().IsNone()) {
      return absl::FailedPreconditionError(absl::StrCat(
          "argument ", i, " of kernel ", body_.kernel, " is not there"));
    }
  }
  const FewStores<Shape> shapes = out_shapes_.At(call.task.index);
  FewStores<Value> out(body_.out.size());
  const FewStores<double> scalars = ScalarsAt(call.task.index);
  NativeCall native{
      .in = absl::MakeSpan(in),
      .out = absl::MakeSpan(out),
      .scalars = absl::MakeConstSpan(scalars).first(body_.scalar_count()),
      .out_shapes = shapes,
      .names = body_.names};
  const absl::Status status = native_.run(native);
  if (!status.ok()) return status;
  for (size_t o = 0; o < out.size(); ++o) {
    if (out[o].IsNone() || out[o].shape() != shapes[o]) {
      return absl::InternalError(absl::StrCat(
          "kernel ", body_.kernel, " left output ", o, " of shape ",
          out[o].IsNone() ? "none" : out[o].shape().ToString(), ", declared ",
          shapes[o].ToString()));
    }
    if (out[o].type() != body_.out_elements[o]) {
      return absl::InternalError(
          absl::StrCat("kernel ", body_.kernel, " left output ", o, " of type ",
                       ElementName(out[o].type()), ", declared ",
                       ElementName(body_.out_elements[o])));
    }
    call.outputs[body_.out[o]] = std::move(out[o]);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Kernel>> MakeCodeKernel(
    CodeBody body, std::unique_ptr<BoxFunction> function,
    std::vector<InputArray> inputs) {
  for (size_t r = 0; r < body.reads.size(); ++r) {
    const size_t load = body.code.loads.size() - body.reads.size() + r;
    const ElementType element = body.code.loads[load].element;
    if (std::ssize(body.reads[r].at) == inputs[r].shape().size() &&
        element == inputs[r].type()) {
      continue;
    }
    return absl::InvalidArgumentError(
        absl::StrCat("an input of shape ", ShapeText(inputs[r].shape()),
                     " and type ", ElementName(inputs[r].type()),
                     " where one of ", body.reads[r].at.size(),
                     " indices and type ", ElementName(element), " is read"));
  }
  return std::make_unique<CodeKernel>(std::move(body), std::move(function),
                                      std::move(inputs));
}

static Shape WantedShape(const InputBody& body, int rank, bool is_product) {
  IndexVector count = body.box.Extents();
  for (int d = 0; d < count.size(); ++d) {
    count[d] = CeilDiv(count[d], body.step[d]);
  }
  const Shape last = Shapes(body.shapes).At(body.TaskIndex(body.box.upper))[0];
  Shape expected;
  for (int d = 0; d < rank; ++d) {
    if (d >= count.size()) {
      expected.push_back(last[d - count.size()]);
    } else if (is_product && !body.block.empty()) {
      expected.push_back((count[d] - 1) * body.block[d] + last[d]);
    } else {
      expected.push_back(count[d]);
    }
  }
  return expected;
}

Shape WantedShape(const InputBody& body) {
  const int rank = body.box.size();
  const auto block_rank = static_cast<int>(body.block.size());
  if (body.box.IsEmpty()) return {};
  const bool is_product = block_rank == 0 || block_rank == rank;
  return WantedShape(body, is_product ? rank : rank + block_rank, is_product);
}

std::string ShapeText(const Shape& shape) {
  return shape.empty() ? "() (a single number)" : shape.ToString();
}

static Shape WithoutOnes(const Shape& shape) {
  Shape out;
  for (const int64_t extent : shape) {
    if (extent != 1) out.push_back(extent);
  }
  return out;
}

static absl::Status WrongShape(const InputArray& content,
                               const Shape& expected) {
  // A vector where a matrix of one column is wanted, say.
  const bool differs_by_ones =
      WithoutOnes(content.shape()) == WithoutOnes(expected);
  return absl::InvalidArgumentError(absl::StrCat(
      "has shape ", ShapeText(content.shape()), ", the program wants ",
      ShapeText(expected),
      differs_by_ones
          ? absl::StrCat("; NumPy's reshape((", absl::StrJoin(expected, ", "),
                         expected.size() == 1 ? "," : "", ")) makes it so")
          : ""));
}

// A larger array than the program takes is refused as well: silently using a
// corner of it would compute something else than was meant.
static absl::Status CheckExtents(const InputBody& body,
                                 const InputArray& content) {
  if (body.box.IsEmpty()) return absl::OkStatus();
  const DenseLayout layout = LayoutOf(body, content);
  const Shape expected =
      WantedShape(body, layout.extents.size(), layout.is_product);
  if (layout.extents == expected) return absl::OkStatus();
  return WrongShape(content, expected);
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeInputKernel(InputBody body,
                                                        InputArray content) {
  const int rank = body.box.size();
  const auto block_rank = static_cast<int>(body.block.size());
  if (content.type() != body.element) {
    return absl::InvalidArgumentError(
        absl::StrCat("holds elements of type ", ElementName(content.type()),
                     ", the program wants ", ElementName(body.element)));
  }
  const bool fits = content.shape().size() == rank + block_rank ||
                    (block_rank == rank && content.shape().size() == rank);
  if (!fits) {
    return WrongShape(content, WantedShape(body));
  }
  DOGGED_RETURN_IF_ERROR(CheckExtents(body, content));
  return std::make_unique<InputKernel>(std::move(body), std::move(content));
}

absl::StatusOr<std::unique_ptr<Kernel>> MakeNativeKernel(
    NativeBody body, const KernelRegistry& registry) {
  const NativeKernel* native = registry.Find(body.kernel);
  if (native == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("no kernel ", body.kernel, " here"));
  }
  if (native->in_count != static_cast<int>(body.in.size()) ||
      native->out_count != static_cast<int>(body.out.size()) ||
      !native->TakesScalars(static_cast<int>(body.scalar_count()))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "kernel ", body.kernel, " takes ", native->in_count, " in, ",
        native->out_count, " out, ", native->scalar_count, " scalars"));
  }
  return MakeNativeKernel(std::move(body), *native);
}

std::vector<Shape> ShapesAt(const ShapeCode& code, const IndexVector& index) {
  const FewStores<Shape> shapes = Shapes(code).At(index);
  return {shapes.begin(), shapes.end()};
}

std::vector<double> ScalarsOf(const NativeBody& body,
                              const IndexVector& index) {
  const FewStores<double> out =
      EvaluateAt<double>(*Interpret(body.scalars), body.scalars.stores.size(),
                         body.scalars.index_count, index);
  return {out.begin(), out.end()};
}

std::unique_ptr<Kernel> MakeNativeKernel(NativeBody body, NativeKernel native) {
  return std::make_unique<NativeTask>(std::move(body), std::move(native));
}

}  // namespace dogged::dsl
