// Kernels of benchmarks: a library that jobs carry to the agents. `fill` fills
// its output. The kernels of the hop benchmark also write down when they ran,
// in memory of the benchmark: further values would be more for the agents to
// carry while it measures them.
//
// Their numbers: nanoseconds to spin; process and descriptor of the memory;
// position of the record in it.
#include "apps/dogged_bench/stamps.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>

namespace {

struct Block {
  void* data;
  int64_t rank;
  const int64_t* extents;
  int64_t type;
};

int64_t Nanos() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * int64_t{1000000000} + now.tv_nsec;
}

// Mapped once: a process serves one benchmark.
dogged::Stamps* Memory(const double* numbers) {
  static void* const memory = [numbers]() -> void* {
    char path[64];
    std::snprintf(path, sizeof(path), "/proc/%ld/fd/%ld",
                  static_cast<long>(numbers[1]), static_cast<long>(numbers[2]));
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0) return MAP_FAILED;
    void* const out = mmap(nullptr, dogged::kStampsMax * sizeof(dogged::Stamps),
                           PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    return out;
  }();
  return memory == MAP_FAILED ? nullptr : static_cast<dogged::Stamps*>(memory);
}

void FillOne(Block& out) {
  std::memset(out.data, 0, static_cast<size_t>(8 * out.extents[0]));
}

int Stamp(Block* out, const double* numbers) {
  const int64_t start = Nanos();
  dogged::Stamps* const memory = Memory(numbers);
  if (memory == nullptr) return 1;
  dogged::Stamps& stamps = memory[static_cast<int64_t>(numbers[3])];
  while (Nanos() - start < static_cast<int64_t>(numbers[0])) {
  }
  FillOne(out[0]);
  stamps = {.pid = getpid(), .start = start, .end = Nanos()};
  return 0;
}

}  // namespace

extern "C" int fill(const Block*, Block* out, const double*) {
  FillOne(out[0]);
  return 0;
}
extern "C" int fill_after(const Block*, Block* out, const double*) {
  FillOne(out[0]);
  return 0;
}
extern "C" int stamp(const Block*, Block* out, const double* numbers) {
  return Stamp(out, numbers);
}
extern "C" int stamp_after(const Block*, Block* out, const double* numbers) {
  return Stamp(out, numbers);
}
