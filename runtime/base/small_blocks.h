// SmallBlocks: memory for many small objects that outlive a job. They lie
// together in chunks of some KB: among what comes and goes with a job, each of
// them would keep a page of the heap from being returned. A block takes its
// size, in steps of 16 to 64 bytes, and no header.
//
// For containers of std::pmr and their like. Used by one thread.
#ifndef DOGGED_RUNTIME_BASE_SMALL_BLOCKS_H_
#define DOGGED_RUNTIME_BASE_SMALL_BLOCKS_H_

#include <cstddef>
#include <memory_resource>
#include <string>

#include "absl/base/config.h"
#include "absl/strings/string_view.h"
#ifdef ABSL_HAVE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace dogged {

class SmallBlocks : public std::pmr::unsynchronized_pool_resource {
 public:
  SmallBlocks()
      : unsynchronized_pool_resource({.max_blocks_per_chunk = 64,
                                      .largest_required_pool_block = 1024}) {}

  // No longer than `text`, which assign() and encoders make strings.
  std::pmr::string CopyOf(absl::string_view text) {
    return std::pmr::string(text.data(), text.size(), this);
  }

#ifdef ABSL_HAVE_ADDRESS_SANITIZER
 private:
  // Abseil's containers poison what they give back, which here is the next
  // one's.
  void* do_allocate(size_t bytes, size_t alignment) override {
    void* const block =
        unsynchronized_pool_resource::do_allocate(bytes, alignment);
    ASAN_UNPOISON_MEMORY_REGION(block, bytes);
    return block;
  }
#endif
};

// The order of texts, for containers that are also searched by views of them.
struct TextLess {
  using is_transparent = void;
  bool operator()(absl::string_view a, absl::string_view b) const {
    return a < b;
  }
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_SMALL_BLOCKS_H_
