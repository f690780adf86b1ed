#include "runtime/exec/kernels/kernel_process_messages.h"

#include "runtime/base/codec.h"

namespace dogged {

std::string ProcessCall::Encode() const {
  Encoder out;
  out.PutVarint(function);
  out.PutSigned(region_bytes);
  out.PutVarint(blocks.size());
  for (size_t b = 0; b < blocks.size(); ++b) {
    out.PutSigned(blocks[b].bytes);
    out.PutBool(blocks[b].is_out);
    out.PutSigned(blocks[b].first);
    out.PutSigned(blocks[b].end);
    out.PutSigned(blocks[b].data);
    out.PutU8(static_cast<uint8_t>(types[b]));
    out.PutVarint(static_cast<uint64_t>(shapes[b].size()));
    for (const int64_t extent : shapes[b]) out.PutSigned(extent);
  }
  out.PutVarint(numbers.size());
  for (const double number : numbers) out.PutDouble(number);
  return out.Take();
}

absl::StatusOr<ProcessCall> ProcessCall::Decode(absl::string_view message) {
  Decoder in(message);
  ProcessCall out;
  out.function = in.GetVarint();
  out.region_bytes = in.GetSigned();
  for (int64_t left = in.GetCount(); left > 0 && in.ok(); --left) {
    RegionBlock block;
    block.bytes = in.GetSigned();
    block.is_out = in.GetBool();
    block.first = in.GetSigned();
    block.end = in.GetSigned();
    block.data = in.GetSigned();
    out.blocks.push_back(block);
    out.types.push_back(static_cast<ElementType>(in.GetU8()));
    Shape shape;
    for (int64_t rank = in.GetCount(); rank > 0 && in.ok(); --rank) {
      shape.push_back(in.GetSigned());
    }
    out.shapes.push_back(shape);
  }
  for (int64_t left = in.GetCount(); left > 0 && in.ok(); --left) {
    out.numbers.push_back(in.GetDouble());
  }
  const absl::Status status = in.Finish("call of a kernel");
  if (!status.ok()) return status;
  return out;
}

ProcessReply::Head ProcessReply::EncodeHead() const {
  Head out = {static_cast<char>(kind), static_cast<char>(place)};
  for (unsigned i = 0; i < 8; ++i) {
    out[2 + i] = static_cast<char>(offset >> (8 * i));
  }
  return out;
}

std::string ProcessReply::Encode() const {
  const Head head = EncodeHead();
  return std::string(head.data(), head.size()) + words;
}

absl::StatusOr<ProcessReply> ProcessReply::Decode(absl::string_view message) {
  Decoder in(message);
  ProcessReply out;
  out.kind = static_cast<Kind>(in.GetU8());
  out.place = static_cast<Place>(in.GetU8());
  out.offset = in.GetU64();
  out.words = std::string(in.GetRaw(in.remaining()));
  const absl::Status status = in.Finish("reply of a kernel process");
  if (!status.ok()) return status;
  return out;
}

std::string ProcessStart::Encode() const {
  Encoder out;
  out.PutBool(jail.is_on);
  out.PutSigned(jail.memory_bytes_max);
  out.PutVarint(functions.size());
  for (const std::string& name : functions) out.PutString(name);
  return out.Take();
}

absl::StatusOr<ProcessStart> ProcessStart::Decode(absl::string_view message) {
  Decoder in(message);
  ProcessStart out;
  out.jail.is_on = in.GetBool();
  out.jail.memory_bytes_max = in.GetSigned();
  for (int64_t left = in.GetCount(); left > 0 && in.ok(); --left) {
    out.functions.emplace_back(in.GetString());
  }
  const absl::Status status = in.Finish("start of a kernel process");
  if (!status.ok()) return status;
  return out;
}

}  // namespace dogged
