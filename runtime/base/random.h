// Randomness from one master seed. Each use draws from a named stream, so that
// adding a draw in one place changes nothing in another. Not thread-safe.
#ifndef DOGGED_RUNTIME_BASE_RANDOM_H_
#define DOGGED_RUNTIME_BASE_RANDOM_H_

#include <cstdint>
#include <vector>

#include "absl/strings/string_view.h"
#include "runtime/base/hash.h"

namespace dogged {

// SplitMix64: small state, good enough for choices that no adversary sees.
class Rng {
 public:
  explicit Rng(uint64_t seed) : seed_(seed), state_(seed) {}
  // An independent generator for `purpose`, a function of the seed alone.
  Rng Stream(absl::string_view purpose) const {
    return Rng(Mix64(seed_, Hash64(purpose)));
  }
  uint64_t Next() {
    state_ += 0x9e3779b97f4a7c15ULL;
    return Mix64(state_, 0);
  }
  // Uniform in [0, limit); limit > 0.
  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(
        (Word128{Next()} * static_cast<Word128>(limit)) >> 64);
  }
  // An element of a vector that is not empty.
  template <typename T>
  const T& Pick(const std::vector<T>& items) {
    return items[Below(std::ssize(items))];
  }
  // Uniform in [0, 1).
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
  bool Chance(double probability) { return Unit() < probability; }

 private:
  __extension__ using Word128 = unsigned __int128;
  uint64_t seed_;
  uint64_t state_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_RANDOM_H_
