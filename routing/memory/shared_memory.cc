#include "routing/memory/shared_memory.h"

namespace dogged {

void SharedMemory::Forget(absl::string_view address) {
  std::erase_if(kept_,
                [&](const Kept& kept) { return kept.address == address; });
}

void SharedMemory::Sweep() {
  std::erase_if(kept_,
                [](const Kept& kept) { return kept.reader->HasEnded(); });
}

}  // namespace dogged
