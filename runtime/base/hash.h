// The only hashes that may leave a process or decide an order: XXH3 with fixed
// seeds, the same in every process and on every host.
#ifndef DOGGED_RUNTIME_BASE_HASH_H_
#define DOGGED_RUNTIME_BASE_HASH_H_

#include <compare>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace dogged {

// 128 bits that name a content.
struct Digest {
  uint64_t low = 0;
  uint64_t high = 0;
  friend auto operator<=>(const Digest&, const Digest&) = default;
  bool IsZero() const { return low == 0 && high == 0; }
  // 32 hex digits, high half first, as xxhsum prints it.
  std::string ToString() const;
  template <typename H>
  friend H AbslHashValue(H h, const Digest& d) {
    return H::combine(std::move(h), d.low, d.high);
  }
};

uint64_t Hash64(absl::string_view bytes, uint64_t seed = 0);
// Of `first` and `rest` as if they were one.
uint64_t Hash64(absl::string_view first, absl::string_view rest, uint64_t seed);
Digest Hash128(absl::string_view bytes);

// Mixes two 64-bit words; for tables and weights where bytes are not at hand.
inline uint64_t Mix64(uint64_t a, uint64_t b) {
  uint64_t x = a ^ (b + 0x9e3779b97f4a7c15ULL + (a << 6) + (a >> 2));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// The digest of a sequence of byte strings, as if they were one.
class DigestStream {
 public:
  DigestStream();
  ~DigestStream();
  DigestStream(const DigestStream&) = delete;
  DigestStream& operator=(const DigestStream&) = delete;
  void Add(absl::string_view bytes);
  Digest Finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_HASH_H_
