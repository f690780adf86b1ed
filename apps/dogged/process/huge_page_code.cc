#include "apps/dogged/process/huge_page_code.h"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "absl/cleanup/cleanup.h"

namespace dogged {
namespace {

// Size of a huge page on x86-64, and on ARM with pages of 4 KB. The linker
// aligns the code to it (apps/dogged/CMakeLists.txt).
constexpr uintptr_t kHugePage = uintptr_t{2} << 20;

struct Text {
  uintptr_t begin = 0;
  uintptr_t end = 0;
};

uintptr_t NextHugePage(uintptr_t address) {
  return (address + kHugePage - 1) / kHugePage * kHugePage;
}

// The executable segment of the program, which the loader names first.
Text FindText() {
  Text out;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* to) {
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) {
            continue;
          }
          const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
          *static_cast<Text*>(to) = {begin, begin + segment.p_memsz};
        }
        return 1;
      },
      &out);
  return out;
}

void* Reserve(void* at, size_t bytes, int flags) {
  return mmap(at, bytes, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

}  // namespace

absl::Status MoveCodeToHugePages() {
  const Text text = FindText();
  const uintptr_t begin = NextHugePage(text.begin);
  uintptr_t end = NextHugePage(text.end);
  // Behind the code nothing stands until the next multiple, as a rule.
  const uintptr_t after = (text.end + 4095) / 4096 * 4096;
  void* const gap = reinterpret_cast<void*>(after);
  if (end > after) {
    void* const got = Reserve(gap, end - after, MAP_FIXED_NOREPLACE);
    if (got != gap) {
      if (got != MAP_FAILED) munmap(got, end - after);
      end -= kHugePage;
    }
  }
  if (begin >= end) return absl::UnavailableError("the code is too short");
  absl::Cleanup open_gap = [&] {
    if (end > after) munmap(gap, end - after);
  };

  const size_t bytes = end - begin;
  void* const memory = Reserve(nullptr, bytes + kHugePage, 0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError("no memory for huge pages");
  }
  absl::Cleanup give_back = [&] { munmap(memory, bytes + kHugePage); };
  const uintptr_t first = NextHugePage(reinterpret_cast<uintptr_t>(memory));
  void* const copy = reinterpret_cast<void*>(first);
  if (madvise(copy, bytes, MADV_HUGEPAGE) != 0) {
    return absl::UnavailableError("Linux has no huge pages here");
  }
  std::memcpy(copy, reinterpret_cast<const void*>(begin),
              std::min(end, text.end) - begin);
  __builtin___clear_cache(static_cast<char*>(copy),
                          static_cast<char*>(copy) + bytes);
  if (mprotect(copy, bytes, PROT_READ | PROT_EXEC) != 0) {
    return absl::PermissionDeniedError("memory may not be executed here");
  }
  // Takes the place of the code that is being executed, in one step.
  if (mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
             reinterpret_cast<void*>(begin)) == MAP_FAILED) {
    return absl::ResourceExhaustedError("no memory for huge pages");
  }
  std::move(open_gap).Cancel();
  return absl::OkStatus();
}

}  // namespace dogged
