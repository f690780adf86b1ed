#include "apps/dogged/door/shared_values.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "apps/output/mapped_value.h"

namespace dogged {
namespace {

// Shorter values come from the heap, and are copied in the end.
constexpr int64_t kBytesMin = int64_t{64} << 10;
constexpr int64_t kLibraryBytesMax = int64_t{256} << 20;

int MakeMemory(int64_t bytes) {
  const int made =
      memfd_create("dogged result", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0) return -1;
  if (ftruncate(made, bytes) == 0 &&
      fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0) {
    return made;
  }
  close(made);
  return -1;
}

void* MapShared(int descriptor, int64_t bytes) {
  void* const data = mmap(nullptr, static_cast<size_t>(bytes),
                          PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return data == MAP_FAILED ? nullptr : data;
}

absl::Status NoMemory(int64_t bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("no memory descriptor for a result of ", bytes,
                   " bytes: ", std::strerror(errno)));
}

}  // namespace

absl::StatusOr<Value> InputOf(const DoorInput& input,
                              const OwnedDescriptor& descriptor) {
  const auto wrong = [&input](absl::string_view what) {
    return absl::NotFoundError(absl::StrCat("input ", input.array, ": ", what));
  };
  const int64_t bytes = ElementCount(input.shape) * ElementBytes(input.type);
  const int seals = fcntl(descriptor.number(), F_GET_SEALS);
  if (seals < 0) return wrong("its descriptor is no memory (memfd_create)");
  constexpr int kWanted = F_SEAL_SHRINK | F_SEAL_WRITE;
  if ((seals & kWanted) != kWanted) {
    return wrong(
        "its memory is to be sealed, F_SEAL_SHRINK and F_SEAL_WRITE, before it "
        "is sent");
  }
  struct stat facts = {};
  if (fstat(descriptor.number(), &facts) != 0 || facts.st_size != bytes) {
    return wrong(absl::StrCat("its memory has ", int64_t{facts.st_size},
                              " bytes, its shape and type want ", bytes));
  }
  if (bytes == 0) {
    Value empty = Value::Allocate(input.type, input.shape);
    empty.Seal();
    return empty;
  }
  Value out = MapValue(descriptor.number(), 0, input.type, input.shape);
  if (out.IsNone()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "input ", input.array, ": no addresses for its ", bytes, " bytes"));
  }
  return out;
}

absl::StatusOr<std::string> LibraryOf(const std::string& name,
                                      const OwnedDescriptor& descriptor) {
  struct stat facts = {};
  const bool is_file =
      fstat(descriptor.number(), &facts) == 0 && S_ISREG(facts.st_mode);
  if (!is_file || facts.st_size > kLibraryBytesMax) {
    return absl::NotFoundError(absl::StrCat(
        "library ", name, ": its descriptor is no file of at most ",
        kLibraryBytesMax >> 20, " MB"));
  }
  std::string out(static_cast<size_t>(facts.st_size), '\0');
  size_t at = 0;
  while (at < out.size()) {
    const ssize_t count = pread(descriptor.number(), out.data() + at,
                                out.size() - at, static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      return absl::NotFoundError(
          absl::StrCat("library ", name, " can't be read"));
    }
    at += static_cast<size_t>(count);
  }
  return out;
}

ResultMemory::~ResultMemory() {
  for (const auto& [data, descriptor] : descriptors_) close(descriptor);
}

void* ResultMemory::Take(int64_t bytes) {
  if (bytes < kBytesMin) return nullptr;
  const int descriptor = MakeMemory(bytes);
  if (descriptor < 0) return nullptr;
  void* const data = MapShared(descriptor, bytes);
  if (data == nullptr) {
    close(descriptor);
    return nullptr;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  descriptors_[data] = descriptor;
  return data;
}

void ResultMemory::Give(void* data, int64_t bytes) {
  munmap(data, static_cast<size_t>(bytes));
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto it = descriptors_.find(data);
  if (it == descriptors_.end()) return;
  close(it->second);
  descriptors_.erase(it);
}

absl::StatusOr<OwnedDescriptor> ResultMemory::DescriptorOf(const Value& value) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto it = descriptors_.find(value.data());
    if (it != descriptors_.end()) {
      const int copy = fcntl(it->second, F_DUPFD_CLOEXEC, 0);
      if (copy < 0) return NoMemory(value.bytes());
      return OwnedDescriptor(copy);
    }
  }
  OwnedDescriptor made(MakeMemory(value.bytes()));
  if (made.number() < 0) return NoMemory(value.bytes());
  if (value.bytes() == 0) return made;
  void* const data = MapShared(made.number(), value.bytes());
  if (data == nullptr) return NoMemory(value.bytes());
  std::memcpy(data, value.data(), static_cast<size_t>(value.bytes()));
  munmap(data, static_cast<size_t>(value.bytes()));
  return made;
}

}  // namespace dogged
