#include "dsl/ir/point_bodies.h"

#include <algorithm>
#include <string>
#include <vector>

#include "dsl/ir/integer_codec.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// Only stores of `element`, and no loads: a function of the index alone.
bool IsOfIndex(const CodeBlock& code, ElementType element) {
  return code.loads.empty() &&
         std::all_of(
             code.stores.begin(), code.stores.end(),
             [&](const IrStore& store) { return store.element == element; });
}

bool IsIn(int64_t value, int64_t limit) { return value >= 0 && value < limit; }

// Each of 0 to count - 1 once.
bool IsOrder(std::vector<int32_t> numbers, int count) {
  std::sort(numbers.begin(), numbers.end());
  bool is_order = static_cast<int>(numbers.size()) == count;
  for (int i = 0; is_order && i < count; ++i) {
    is_order = numbers[i] == i;
  }
  return is_order;
}

InputRead DecodeRead(Decoder& in) {
  InputRead out;
  out.position = static_cast<int32_t>(in.GetSigned());
  out.step = GetIntegers<int64_t>(in);
  if (std::ssize(out.step) > kMaxIndices ||
      std::any_of(out.step.begin(), out.step.end(),
                  [](int64_t step) { return step < 1; })) {
    in.Fail();
  }
  for (size_t d = 0; d < out.step.size() && in.ok(); ++d) {
    out.at.push_back(AffineExpr::Decode(in));
  }
  out.guard = Guard::Decode(in);
  return out;
}

}  // namespace

void ShapeCode::Encode(Encoder& out) const {
  PutIntegers(out, ranks);
  code.Encode(out);
}

ShapeCode ShapeCode::Decode(Decoder& in) {
  ShapeCode out;
  out.ranks = GetIntegers<int32_t>(in);
  out.code = CodeBlock::Decode(in);
  int64_t sum = 0;
  for (const int32_t rank : out.ranks) {
    if (!IsIn(rank, kMaxIndices + 1)) in.Fail();
    sum += rank;
  }
  if (sum != std::ssize(out.code.stores) ||
      !IsOfIndex(out.code, ElementType::kInt64)) {
    in.Fail();
  }
  return in.ok() ? out : ShapeCode();
}

std::string CodeBody::Encode() const {
  Encoder out;
  code.Encode(out);
  out.PutBool(has_elements);
  shapes.Encode(out);
  if (reads.empty()) return out.Take();
  out.PutVarint(reads.size());
  for (const InputRead& read : reads) {
    out.PutSigned(read.position);
    PutIntegers(out, read.step);
    for (const AffineExpr& expr : read.at) expr.Encode(out);
    read.guard.Encode(out);
  }
  return out.Take();
}

absl::StatusOr<CodeBody> CodeBody::Decode(absl::string_view body) {
  Decoder in(body);
  CodeBody out;
  out.code = CodeBlock::Decode(in);
  out.has_elements = in.GetBool();
  out.shapes = ShapeCode::Decode(in);
  if (out.has_elements && out.shapes.ranks.size() != out.code.stores.size()) {
    in.Fail();
  }
  if (in.ok() && in.remaining() > 0) out.reads.resize(in.GetCount());
  if (out.reads.size() > out.code.loads.size()) in.Fail();
  for (InputRead& read : out.reads) {
    if (!in.ok()) break;
    read = DecodeRead(in);
  }
  DOGGED_RETURN_IF_ERROR(in.Finish("code kernel"));
  return out;
}

IndexVector InputBody::TaskIndex(const IndexVector& place) const {
  IndexVector out = place;
  for (int d = 0; d < place.size(); ++d) {
    out[axis[d]] = place[d];
  }
  return out;
}

std::string InputBody::Encode() const {
  Encoder out;
  out.PutSigned(position);
  out.PutU8(static_cast<uint8_t>(element));
  PutIntegers(out, axis);
  box.lower.Encode(out);
  box.upper.Encode(out);
  PutIntegers(out, step);
  PutIntegers(out, block);
  shapes.Encode(out);
  return out.Take();
}

absl::StatusOr<InputBody> InputBody::Decode(absl::string_view body) {
  Decoder in(body);
  InputBody out;
  out.position = static_cast<int32_t>(in.GetSigned());
  const uint8_t element = in.GetU8();
  if (element > 2) in.Fail();
  if (in.ok()) out.element = static_cast<ElementType>(element);
  out.axis = GetIntegers<int32_t>(in);
  out.box.lower = IndexVector::Decode(in);
  out.box.upper = IndexVector::Decode(in);
  out.step = GetIntegers<int64_t>(in);
  out.block = GetIntegers<int64_t>(in);
  out.shapes = ShapeCode::Decode(in);
  if (out.box.lower.size() != out.box.upper.size() ||
      static_cast<int>(out.step.size()) != out.box.size() ||
      !IsOrder(out.axis, out.box.size()) ||
      std::any_of(out.step.begin(), out.step.end(),
                  [](int64_t step) { return step < 1; }) ||
      out.shapes.ranks.size() != 1 ||
      (!out.block.empty() &&
       out.shapes.ranks[0] != static_cast<int32_t>(out.block.size()))) {
    in.Fail();
  }
  DOGGED_RETURN_IF_ERROR(in.Finish("input kernel"));
  return out;
}

std::string NativeBody::Encode() const {
  Encoder encoder;
  encoder.PutString(kernel);
  encoder.PutString(library);
  std::vector<int32_t> elements;
  for (const ElementType element : out_elements) {
    elements.push_back(static_cast<int32_t>(element));
  }
  PutIntegers(encoder, elements);
  PutIntegers(encoder, in);
  PutIntegers(encoder, out);
  for (const std::string& name : names) encoder.PutString(name);
  scalars.Encode(encoder);
  encoder.PutBool(has_cost);
  in_shapes.Encode(encoder);
  out_shapes.Encode(encoder);
  return encoder.Take();
}

absl::StatusOr<NativeBody> NativeBody::Decode(absl::string_view body) {
  Decoder decoder(body);
  NativeBody out;
  out.kernel = std::string(decoder.GetString());
  out.library = std::string(decoder.GetString());
  for (const auto element : GetIntegers<int32_t>(decoder)) {
    if (!IsIn(element, 3)) decoder.Fail();
    out.out_elements.push_back(static_cast<ElementType>(element));
  }
  out.in = GetIntegers<int32_t>(decoder);
  out.out = GetIntegers<int32_t>(decoder);
  out.names.resize(out.in.size() + out.out.size());
  for (std::string& name : out.names) name = std::string(decoder.GetString());
  out.scalars = CodeBlock::Decode(decoder);
  out.has_cost = decoder.GetBool();
  out.in_shapes = ShapeCode::Decode(decoder);
  out.out_shapes = ShapeCode::Decode(decoder);
  if (!IsOfIndex(out.scalars, ElementType::kDouble) ||
      (out.has_cost && out.scalars.stores.empty()) ||
      out.out_elements.size() != out.out.size() ||
      out.in_shapes.ranks.size() != out.in.size() ||
      out.out_shapes.ranks.size() != out.out.size()) {
    decoder.Fail();
  }
  DOGGED_RETURN_IF_ERROR(decoder.Finish("native kernel"));
  return out;
}

}  // namespace dogged::dsl
