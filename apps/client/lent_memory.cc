#include "apps/client/lent_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace dogged {
namespace {

constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_WRITE;
constexpr size_t kWriteBytesMax = size_t{1} << 30;  // of one call

ClientError NoRoom(const std::string& what, size_t bytes) {
  return ErrorOf(DOGGED_NO_ROOM, "no memory for " + what + " of " +
                                     std::to_string(bytes) +
                                     " bytes: " + std::strerror(errno));
}

ClientDescriptor NewMemory(const std::string& name) {
  return ClientDescriptor(memfd_create(name.substr(0, 200).c_str(),
                                       MFD_CLOEXEC | MFD_ALLOW_SEALING));
}

}  // namespace

LentMemory::~LentMemory() { munmap(data_, bytes_); }

ClientError LentMemory::Make(size_t bytes, std::shared_ptr<LentMemory>& out) {
  ClientDescriptor memory = NewMemory("dogged input");
  // The system refuses what does not fit into off_t.
  void* const data =
      memory.number() >= 0 &&
              ftruncate(memory.number(), static_cast<off_t>(bytes)) == 0
          ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                 memory.number(), 0)
          : MAP_FAILED;
  if (data == MAP_FAILED) return NoRoom("an input", bytes);
  out = std::make_shared<LentMemory>(std::move(memory), data, bytes);
  return {};
}

ClientDescriptor LentMemory::Lend(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (is_lent_ || bytes != bytes_) return ClientDescriptor();
  // Seals want that nobody can write; the address stays.
  if (mmap(data_, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED,
           memory_.number(), 0) == MAP_FAILED) {
    return ClientDescriptor();
  }
  is_lent_ = true;
  if (fcntl(memory_.number(), F_ADD_SEALS, kSeals) != 0) {
    return ClientDescriptor();
  }
  return ClientDescriptor(fcntl(memory_.number(), F_DUPFD_CLOEXEC, 0));
}

ClientError SealedCopy(const std::string& name, const void* data, size_t bytes,
                       ClientDescriptor& out) {
  const std::string what = "input " + name;
  ClientDescriptor memory = NewMemory("dogged " + what);
  if (memory.number() < 0) return NoRoom(what, bytes);
  // By write(), for it says where a mapping would end the process.
  size_t at = 0;
  while (at < bytes) {
    const ssize_t size =
        write(memory.number(), static_cast<const char*>(data) + at,
              std::min(kWriteBytesMax, bytes - at));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EFAULT) {
      return ErrorOf(DOGGED_MISUSED, what + ": there is no memory of " +
                                         std::to_string(bytes) +
                                         " bytes at its data");
    }
    if (size <= 0) return NoRoom(what, bytes);
    at += static_cast<size_t>(size);
  }
  if (fcntl(memory.number(), F_ADD_SEALS, kSeals) != 0) {
    return NoRoom(what, bytes);
  }
  out = std::move(memory);
  return {};
}

ClientError MapResult(const ClientDescriptor& memory, size_t bytes,
                      void*& data) {
  data = nullptr;
  if (bytes == 0) return {};
  void* const mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                            memory.number(), 0);
  if (mapped == MAP_FAILED) return NoRoom("a result", bytes);
  data = mapped;
  return {};
}

void UnmapResult(void* data, size_t bytes) {
  if (data != nullptr) munmap(data, bytes);
}

}  // namespace dogged
