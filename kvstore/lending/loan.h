// Loan: the place of a lent value, which travels instead of its bytes.
#ifndef DOGGED_KVSTORE_LENDING_LOAN_H_
#define DOGGED_KVSTORE_LENDING_LOAN_H_

#include <cstdint>
#include <optional>

#include "runtime/base/codec.h"
#include "runtime/base/hash.h"
#include "runtime/base/value.h"

namespace dogged {

struct Loan {
  uint64_t number = 0;  // from 1, for each owner and reader
  int64_t offset = 0;   // in the owner's arena
  ElementType type = ElementType::kDouble;
  Shape shape;
  Digest digest;

  // Bytes of the value; none if its shape has an extent below 1, or too many
  // bytes.
  std::optional<int64_t> Bytes() const;

  void EncodeTo(Encoder& encoder) const;
  // A malformed loan marks the decoder as failed.
  static Loan DecodeFrom(Decoder& decoder);
};

}  // namespace dogged

#endif  // DOGGED_KVSTORE_LENDING_LOAN_H_
