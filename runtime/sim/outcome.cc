#include "runtime/sim/outcome.h"

#include "runtime/base/codec.h"

namespace dogged {

Digest DigestOfDigests(const std::map<Label, Digest>& digests) {
  Encoder out;
  for (const auto& [label, digest] : digests) {
    label.Encode(out);
    out.PutU64(digest.low);
    out.PutU64(digest.high);
  }
  return Hash128(out.Take());
}

}  // namespace dogged
