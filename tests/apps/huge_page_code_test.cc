// Aim: code that was moved stands on a huge page and runs as before, also where
// exceptions pass through it. Method: this program moves its own code.
#include "apps/dogged/process/huge_page_code.h"

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>

#include "gmock/gmock.h"

namespace dogged {
namespace {

[[gnu::noinline]] int ThrowOver(int i) {
  if (i > 41) throw std::runtime_error("over 41");
  return i + 1;
}

struct Mapping {
  std::string access;  // as "r-xp"
  bool is_file = false;
  int64_t huge_kb = 0;
};

// The mapping of this process's memory at `address`.
Mapping MappingOf(const void* address) {
  std::ifstream lines("/proc/self/smaps");
  Mapping out;
  bool is_inside = false;
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  for (std::string line; std::getline(lines, line);) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    char access[5] = "";
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end,
                    access) == 3) {
      is_inside = begin <= wanted && wanted < end;
      if (is_inside) {
        out = {.access = access,
               .is_file = line.find('/') != std::string::npos};
      }
    } else if (is_inside) {
      (void)std::sscanf(line.c_str(), "AnonHugePages: %" SCNd64, &out.huge_kb);
    }
  }
  return out;
}

TEST(HugePageCode, RunsAsBefore) {
  const auto* code = reinterpret_cast<const void*>(&ThrowOver);
  EXPECT_TRUE(MappingOf(code).is_file);
  const absl::Status moved = MoveCodeToHugePages();
  if (absl::IsUnavailable(moved)) GTEST_SKIP() << moved;
  ASSERT_TRUE(moved.ok()) << moved;
  const Mapping mapping = MappingOf(code);
  EXPECT_FALSE(mapping.is_file);
  EXPECT_EQ(mapping.access, "r-xp");
  // None may be free.
  if (mapping.huge_kb == 0) std::puts("on small pages: no huge one was free");
  EXPECT_EQ(ThrowOver(41), 42);
  EXPECT_THROW(ThrowOver(42), std::runtime_error);
}

}  // namespace
}  // namespace dogged
