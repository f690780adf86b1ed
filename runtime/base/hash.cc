#include "runtime/base/hash.h"

// The state on the stack.
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>
#if defined(__x86_64__)
// The same functions with the widest vectors that the processor has.
#include <xxh_x86dispatch.h>
#endif

#include "absl/strings/str_format.h"

namespace dogged {

std::string Digest::ToString() const {
  return absl::StrFormat("%016x%016x", high, low);
}

uint64_t Hash64(absl::string_view bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

uint64_t Hash64(absl::string_view first, absl::string_view rest,
                uint64_t seed) {
  if (rest.empty()) return Hash64(first, seed);
  if (first.empty()) return Hash64(rest, seed);
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_64bits_reset_withSeed(&state, seed);
  XXH3_64bits_update(&state, first.data(), first.size());
  XXH3_64bits_update(&state, rest.data(), rest.size());
  return XXH3_64bits_digest(&state);
}

Digest Hash128(absl::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.low = hash.low64, .high = hash.high64};
}

struct DigestStream::State {
  XXH3_state_t* xxh = XXH3_createState();
  ~State() { XXH3_freeState(xxh); }
};

DigestStream::DigestStream() : state_(std::make_unique<State>()) {
  XXH3_128bits_reset(state_->xxh);
}

DigestStream::~DigestStream() = default;

void DigestStream::Add(absl::string_view bytes) {
  XXH3_128bits_update(state_->xxh, bytes.data(), bytes.size());
}

Digest DigestStream::Finish() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->xxh);
  return {.low = hash.low64, .high = hash.high64};
}

}  // namespace dogged
