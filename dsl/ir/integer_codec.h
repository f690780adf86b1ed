// Lists of integers in a job's bytes.
#ifndef DOGGED_DSL_IR_INTEGER_CODEC_H_
#define DOGGED_DSL_IR_INTEGER_CODEC_H_

#include <vector>

#include "runtime/base/codec.h"

namespace dogged::dsl {

template <typename T>
void PutIntegers(Encoder& out, const std::vector<T>& values) {
  out.PutVarint(values.size());
  for (const T value : values) out.PutSigned(value);
}

template <typename T>
std::vector<T> GetIntegers(Decoder& in) {
  std::vector<T> out(in.GetCount());
  for (T& value : out) value = static_cast<T>(in.GetSigned());
  return out;
}

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_IR_INTEGER_CODEC_H_
