#include "apps/output/mapped_value.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <utility>

namespace dogged {
namespace {

constexpr int64_t kDataAlignment = 64;

void EndOfFile(int) {
  constexpr char kWords[] =
      "error: a file of inputs or results got shorter while it was read, or "
      "its "
      "disk fails; run again once it is written\n";
  const ssize_t ignored = write(STDERR_FILENO, kWords, sizeof(kWords) - 1);
  (void)ignored;
  _exit(2);  // as of a file that can't serve
}

class FileMemory : public ValueMemory {
 public:
  FileMemory(void* start, size_t bytes) : start_(start), bytes_(bytes) {}
  ~FileMemory() override { munmap(start_, bytes_); }
  void* Take(int64_t) override { return nullptr; }
  void Give(void*, int64_t) override {}

 private:
  void* const start_;
  const size_t bytes_;
};

}  // namespace

Value MapValue(int descriptor, int64_t offset, ElementType type,
               const Shape& shape, const Digest* digest) {
  const int64_t bytes = ElementCount(shape) * ElementBytes(type);
  if (bytes == 0 || offset % kDataAlignment != 0) return Value();
  const int64_t before = offset % sysconf(_SC_PAGESIZE);
  const auto length = static_cast<size_t>(before + bytes);
  void* const start = mmap(nullptr, length, PROT_READ, MAP_PRIVATE, descriptor,
                           offset - before);
  if (start == MAP_FAILED) return Value();
  auto memory = std::make_unique<FileMemory>(start, length);
  struct sigaction action = {};
  action.sa_handler = EndOfFile;
  sigaction(SIGBUS, &action, nullptr);
  const char* const data = static_cast<const char*>(start) + before;
  return Value::View(
      type, shape,
      digest != nullptr ? *digest : Hash128({data, static_cast<size_t>(bytes)}),
      data, std::move(memory));
}

}  // namespace dogged
