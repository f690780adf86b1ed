// Aim: processes read each other's arenas, and nothing that only looks like
// one; a mapping outlives its owner. Method: real arenas, of this process and
// of children that are killed.
#include "routing/memory/arena.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "runtime/base/random.h"
#include "runtime/base/value.h"

namespace dogged {
namespace {

constexpr ArenaOptions kOptions{
    .bytes = 8 << 20, .value_bytes_min = 1024, .token = 7};

// A child with an arena of its own; one value of it is filled with sevens.
class Child {
 public:
  Child() {
    int fds[2];
    EXPECT_EQ(pipe(fds), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const std::unique_ptr<Arena> arena = Arena::Create(kOptions);
      void* data = arena->values().Take(4096);
      std::memset(data, 7, 4096);
      const std::string line =
          absl::StrCat(arena->address(), " ", *arena->OffsetOf(data), "\n");
      (void)!write(fds[1], line.data(), line.size());
      while (true) pause();
    }
    close(fds[1]);
    std::string text;
    char letter = 0;
    while (read(fds[0], &letter, 1) == 1 && letter != '\n') text += letter;
    close(fds[0]);
    const std::vector<std::string> words = absl::StrSplit(text, ' ');
    address_ = words[0];
    offset_ = std::stoll(words[1]);
  }
  ~Child() { Kill(); }
  void Kill() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  const std::string& address() const { return address_; }
  int64_t offset() const { return offset_; }

 private:
  pid_t pid_ = 0;
  std::string address_;
  int64_t offset_ = 0;
};

TEST(Arena, APeerReadsWhatLiesThere) {
  const Child child;
  const std::unique_ptr<Arena> arena = Arena::Create(kOptions);
  const auto mapped = arena->Map(child.address());
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  const void* data = (*mapped)->At(child.offset(), 4096);
  EXPECT_EQ(std::string(static_cast<const char*>(data), 4096),
            std::string(4096, 7));
  EXPECT_FALSE((*mapped)->HasEnded());
  EXPECT_EQ((*mapped)->At(0, 64), nullptr) << "the header is no value";
  EXPECT_EQ((*mapped)->At(kOptions.bytes - 64, 128), nullptr);
  EXPECT_EQ((*mapped)->At(INT64_MAX - 63, 128), nullptr);
  EXPECT_EQ((*mapped)->At(child.offset() + 1, 8), nullptr);
}

TEST(Arena, AMappingOutlivesItsOwner) {
  Child child;
  const std::unique_ptr<Arena> arena = Arena::Create(kOptions);
  const auto mapped = arena->Map(child.address());
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  child.Kill();
  EXPECT_TRUE((*mapped)->HasEnded());
  const void* data = (*mapped)->At(child.offset(), 4096);
  EXPECT_EQ(std::string(static_cast<const char*>(data), 4096),
            std::string(4096, 7));
  // A process that comes later finds nothing.
  const std::unique_ptr<Arena> late = Arena::Create(kOptions);
  EXPECT_EQ(late->Map(child.address()).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// More than an arena keeps of free pages would go back with the last value.
TEST(Arena, WhatIsLentStaysWhenItsOwnerEnds) {
  constexpr int64_t kBytes = 96 << 20;
  std::unique_ptr<Arena> arena = Arena::Create({.bytes = 256 << 20});
  void* const data = arena->values().Take(kBytes);
  std::memset(data, 7, kBytes);
  const int64_t offset = *arena->OffsetOf(data);
  const auto mapped = MapArena(arena->address());
  ASSERT_TRUE(mapped.ok()) << mapped.status();
  ArenaMemory& values = arena->values();
  arena->Keep("", *mapped, {std::shared_ptr<const void>(data, [&](void* kept) {
                values.Give(kept, kBytes);
              })});
  arena.reset();
  const auto* read = static_cast<const char*>((*mapped)->At(offset, kBytes));
  EXPECT_EQ(read[0], 7);
  EXPECT_EQ(read[kBytes - 1], 7);
}

TEST(Arena, OneMappingAtATime) {
  const Child child;
  const std::unique_ptr<Arena> arena = Arena::Create(kOptions);
  auto mapped = arena->Map(child.address());
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ(arena->Map(child.address()).status().code(),
            absl::StatusCode::kUnavailable);
  mapped->reset();
  EXPECT_TRUE(arena->Map(child.address()).ok());
}

TEST(Arena, WhatOnlyLooksLikeOneIsNotMapped) {
  const Child child;
  const std::unique_ptr<Arena> arena = Arena::Create(kOptions);
  const std::vector<std::string> words = absl::StrSplit(child.address(), ',');
  ASSERT_EQ(words.size(), 6u);
  // Another host, process, descriptor, file, size, token.
  const char* others[] = {"x", "1", "0", "1", "4096000", "8"};
  for (size_t i = 0; i < words.size(); ++i) {
    std::vector<std::string> changed = words;
    changed[i] = others[i];
    EXPECT_FALSE(arena->Map(absl::StrJoin(changed, ",")).ok()) << i;
  }
  for (const char* text : {"", ",,,,,", "a,b,c,d,e,f", "x,-1,0,0,0,0"}) {
    EXPECT_FALSE(arena->Map(text).ok()) << text;
  }
}

TEST(Arena, ValuesLieInItAndComeBack) {
  const std::unique_ptr<Arena> arena = Arena::Create(kOptions);
  SetValueMemory(&arena->values());
  const int64_t before = Value::LiveBytes();
  {
    const Value small = Value::Scalar(1);
    EXPECT_FALSE(arena->OffsetOf(small.data()).has_value());
    const Value value = Value::Allocate(ElementType::kDouble, {1000});
    EXPECT_TRUE(arena->OffsetOf(value.data()).has_value());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(value.data()) % 64, 0u);
    EXPECT_GE(arena->values().used_bytes(), 8000);
    EXPECT_GE(Value::LiveBytes() - before, 8000);
    // A value that does not fit goes to the heap.
    const Value large = Value::Allocate(ElementType::kDouble, {2 << 20});
    EXPECT_FALSE(arena->OffsetOf(large.data()).has_value());
  }
  SetValueMemory(nullptr);
  EXPECT_EQ(arena->values().used_bytes(), 0);
  EXPECT_EQ(Value::LiveBytes(), before);
}

// Bytes of the computer's memory that a memfd takes.
int64_t PagesBytes(const Arena& arena) {
  const std::vector<std::string> words = absl::StrSplit(arena.address(), ',');
  struct stat status = {};
  EXPECT_EQ(stat(absl::StrCat("/proc/self/fd/", words[2]).c_str(), &status), 0);
  return status.st_blocks * 512;
}

// As after a job that held much: the pages kept may not depend on the bytes in
// use when a value came back.
TEST(Arena, PagesOfFreeBlocksAreGivenBack) {
  constexpr int64_t kValueBytes = 1 << 20;
  const std::unique_ptr<Arena> arena =
      Arena::Create({.bytes = 1 << 30, .value_bytes_min = 1024, .token = 7});
  std::vector<void*> values;
  for (int i = 0; i < 300; ++i) {
    values.push_back(arena->values().Take(kValueBytes));
    ASSERT_NE(values.back(), nullptr);
    std::memset(values.back(), 7, kValueBytes);
  }
  EXPECT_GE(PagesBytes(*arena), 300 * kValueBytes);
  for (void* value : values) arena->values().Give(value, kValueBytes);
  EXPECT_LE(PagesBytes(*arena), 66 << 20);
  arena->values().ReturnPages();
  EXPECT_LE(PagesBytes(*arena), 1 << 20);
  void* again = arena->values().Take(kValueBytes);
  EXPECT_EQ(std::string(static_cast<char*>(again), kValueBytes),
            std::string(kValueBytes, 0));
}

// The first values find their pages, and beyond those nothing changes.
TEST(Arena, IsWarmFromTheStart) {
  constexpr int64_t kWarm = 8 << 20;
  constexpr int64_t kValueBytes = 1 << 20;
  const std::unique_ptr<Arena> arena =
      Arena::Create({.bytes = 1 << 30, .warm_bytes = kWarm, .token = 7});
  const int64_t before = PagesBytes(*arena);
  EXPECT_GE(before, kWarm);
  EXPECT_LE(before, kWarm + (64 << 10));
  for (int64_t i = 1; i <= 16; ++i) {
    ASSERT_NE(arena->values().Take(kValueBytes), nullptr);
    const int64_t more = std::max<int64_t>(0, i * kValueBytes - kWarm);
    EXPECT_GE(PagesBytes(*arena), before + more);
    EXPECT_LE(PagesBytes(*arena), before + more + (64 << 10));
  }
}

// Shared memory of this process that is mapped by huge pages.
int64_t HugeBytes() {
  std::ifstream in("/proc/self/smaps_rollup");
  std::string word;
  int64_t kilobytes = 0;
  while (in >> word && word != "ShmemPmdMapped:") continue;
  in >> kilobytes;
  return kilobytes << 10;
}

// Whether this system has huge pages for shared memory at all.
bool HasHugePages() {
  constexpr size_t kHuge = 2 << 20;
  constexpr int kCollapse = 25;  // MADV_COLLAPSE
  const int fd = memfd_create("huge", MFD_CLOEXEC);
  EXPECT_EQ(ftruncate(fd, kHuge), 0);
  void* const reserved =
      mmap(nullptr, 2 * kHuge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  void* const place = reinterpret_cast<void*>(
      (reinterpret_cast<uintptr_t>(reserved) + kHuge - 1) / kHuge * kHuge);
  EXPECT_EQ(
      mmap(place, kHuge, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0),
      place);
  std::memset(place, 1, kHuge);
  const bool has = madvise(place, kHuge, kCollapse) == 0;
  munmap(reserved, 2 * kHuge);
  close(fd);
  return has;
}

TEST(Arena, HugePagesComeAndGo) {
  constexpr int64_t kValueBytes = 300 << 10;
  const std::unique_ptr<Arena> arena = Arena::Create(
      {.bytes = 1 << 30, .warm_bytes = 4 << 20, .huge_pages = true});
  for (int round = 0; round < 2; ++round) {
    std::vector<void*> values;
    for (int i = 0; i < 100; ++i) {
      values.push_back(arena->values().Take(kValueBytes));
      ASSERT_NE(values.back(), nullptr);
      std::memset(values.back(), i, kValueBytes);
    }
    // All but the first and the last one, of which a part stays when the rest
    // is given back.
    if (HasHugePages()) {
      EXPECT_GE(HugeBytes(), 100 * kValueBytes - (4 << 20)) << round;
    }
    for (void* value : values) arena->values().Give(value, kValueBytes);
    arena->values().ReturnPages();
    EXPECT_LE(PagesBytes(*arena), 4 << 20);
  }
}

// Workers take their first values in the same huge pages, others give theirs
// back beside them, and a peer reads on.
TEST(Arena, ValuesStayWhatTheyAreWhilePagesChange) {
  constexpr int kThreads = 4;
  constexpr int kSteps = 400;
  const std::unique_ptr<Arena> arena =
      Arena::Create({.bytes = 1 << 30, .huge_pages = true, .token = 7});
  const auto peer = arena->Map(arena->address());
  ASSERT_TRUE(peer.ok()) << peer.status();
  const auto work = [&](int thread) {
    struct Taken {
      char* data;
      int64_t bytes;
      char letter;
    };
    Rng rng(static_cast<uint64_t>(thread));
    std::vector<Taken> taken;
    const auto give = [&](size_t at) {
      const auto [data, bytes, letter] = taken[at];
      const std::string wanted(static_cast<size_t>(bytes), letter);
      EXPECT_EQ(std::memcmp(data, wanted.data(), wanted.size()), 0);
      const void* there = (*peer)->At(*arena->OffsetOf(data), bytes);
      EXPECT_EQ(std::memcmp(there, wanted.data(), wanted.size()), 0);
      arena->values().Give(data, bytes);
      taken[at] = taken.back();
      taken.pop_back();
    };
    for (int step = 0; step < kSteps; ++step) {
      if (taken.size() < 20 && rng.Chance(0.6)) {
        const int64_t bytes = (8 << 10) + rng.Below(700 << 10);
        const char letter = static_cast<char>(rng.Below(128));
        char* const data = static_cast<char*>(arena->values().Take(bytes));
        std::memset(data, letter, static_cast<size_t>(bytes));
        taken.push_back({data, bytes, letter});
      } else if (!taken.empty()) {
        give(static_cast<size_t>(rng.Below(std::ssize(taken))));
      }
      if (rng.Chance(0.1)) arena->values().ReturnPages(rng.Below(8 << 20));
    }
    while (!taken.empty()) give(0);
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(arena->values().used_bytes(), 0);
  arena->values().ReturnPages();
  EXPECT_LE(PagesBytes(*arena), 4 << 20);
}

TEST(ArenaBlocks, BlocksAreApartAndUsedAgain) {
  constexpr int64_t kBytes = 16 << 20;
  Rng rng(1);
  ArenaBlocks blocks(4096, kBytes);
  std::vector<std::pair<int64_t, int64_t>> taken;  // offset, bytes
  std::set<int64_t> backed;
  for (int step = 0; step < 20000; ++step) {
    if (rng.Chance(0.5)) {
      const int64_t bytes = 1 + (rng.Below(1 << 18) >> rng.Below(16));
      EXPECT_GE(ArenaBlocks::SizeOf(bytes), bytes);
      EXPECT_LE(ArenaBlocks::SizeOf(bytes), bytes + bytes / 4 + 4096);
      const std::optional<ArenaBlocks::Taken> block = blocks.Take(bytes);
      if (!block.has_value()) continue;
      const int64_t offset = block->offset;
      EXPECT_EQ(block->is_backed, backed.erase(offset) > 0);
      EXPECT_EQ(offset % 64, 0);
      EXPECT_GE(offset, 4096);
      EXPECT_LE(offset + bytes, 4096 + kBytes);
      for (const auto& [other, size] : taken) {
        ASSERT_TRUE(offset + bytes <= other || other + size <= offset);
      }
      taken.emplace_back(offset, bytes);
    } else if (!taken.empty()) {
      const auto at = static_cast<size_t>(rng.Below(std::ssize(taken)));
      blocks.Give(taken[at].first, taken[at].second);
      backed.insert(taken[at].first);
      taken[at] = taken.back();
      taken.pop_back();
    }
    if (rng.Chance(0.01)) {
      const int64_t kept = rng.Below(1 << 20);
      const std::vector<ArenaBlocks::Block> unbacked =
          blocks.TakeBacked(kept, 0);
      EXPECT_LE(blocks.backed_bytes(), kept);
      for (const ArenaBlocks::Block& block : unbacked) {
        backed.erase(block.offset);
        blocks.GiveUnbacked(block);
      }
    }
  }
  for (const auto& [offset, bytes] : taken) blocks.Give(offset, bytes);
  EXPECT_EQ(blocks.used_bytes(), 0);
}

// The columns of a factorisation, one less at each step.
TEST(ArenaBlocks, ValuesThatGetShorterTakeFewFreshPages) {
  constexpr int64_t kLongest = 10 << 20;
  ArenaBlocks blocks(0, 64 * kLongest);
  int64_t fresh_bytes = 0;
  for (int64_t bytes = kLongest; bytes > 1 << 20; bytes -= kLongest / 20) {
    const std::optional<ArenaBlocks::Taken> block = blocks.Take(bytes);
    ASSERT_TRUE(block.has_value());
    if (!block->is_backed) fresh_bytes += bytes;
    blocks.Give(block->offset, bytes);
  }
  EXPECT_LE(fresh_bytes, 3 * kLongest);
  // Blocks came back as what they are.
  ASSERT_TRUE(blocks.Take(kLongest)->is_backed);
}

}  // namespace
}  // namespace dogged
