// Kernels of the hop benchmark: a library that jobs carry to the agents. They
// read the clock, so their values differ in each run: for tasks that run once.
//
// Numbers: the process whose stamps are odd, nanoseconds to spin. A stamp is a
// monotonic time in nanoseconds, doubled, plus that bit. A value begins with
// the stamp of its task's start; if it is longer, the one of its end follows.
#include <unistd.h>

#include <cstdint>
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

int64_t Stamp(int64_t nanos, const double* numbers) {
  return 2 * nanos + (getpid() == static_cast<pid_t>(numbers[0]) ? 1 : 0);
}

int Fill(Block* out, const double* numbers) {
  const int64_t start = Nanos();
  while (Nanos() - start < static_cast<int64_t>(numbers[1])) {
  }
  const int64_t count = out[0].extents[0];
  auto* words = static_cast<int64_t*>(out[0].data);
  std::memset(words, 0, static_cast<size_t>(8 * count));
  words[0] = Stamp(count > 1 ? start : Nanos(), numbers);
  if (count > 1) words[1] = Stamp(Nanos(), numbers);
  return 0;
}

}  // namespace

extern "C" int stamp(const Block*, Block* out, const double* numbers) {
  return Fill(out, numbers);
}
extern "C" int stamp_after(const Block*, Block* out, const double* numbers) {
  return Fill(out, numbers);
}
