// Values that travel between this process and its client as memory
// descriptors: inputs that the client made, and results that this process made,
// which it hands over without a copy. The adapter to memfd.
#ifndef DOGGED_APPS_DOGGED_DOOR_SHARED_VALUES_H_
#define DOGGED_APPS_DOGGED_DOOR_SHARED_VALUES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

#include "absl/status/statusor.h"
#include "apps/dogged/door/door_channel.h"
#include "apps/dogged/door/door_request.h"
#include "runtime/base/value.h"
#include "runtime/base/value_memory.h"

namespace dogged {

// The value of an input, in C order, whose bytes are those of `descriptor`.
//
// Errors: kNotFound for a descriptor that is no memory, has another length, or
//         is not sealed against writing and shrinking: it could change while
//         agents read it, or end this process.
absl::StatusOr<Value> InputOf(const DoorInput& input,
                              const OwnedDescriptor& descriptor);

// The bytes of a shared library that came as a descriptor. Errors: kNotFound.
absl::StatusOr<std::string> LibraryOf(const std::string& name,
                                      const OwnedDescriptor& descriptor);

// ResultMemory: values are made in memory descriptors while one is installed.
// Thread-safe.
class ResultMemory : public ValueMemory {
 public:
  ResultMemory() = default;
  ~ResultMemory() override;
  ResultMemory(const ResultMemory&) = delete;
  ResultMemory& operator=(const ResultMemory&) = delete;

  // A descriptor with the bytes of `value`: its own memory, if it was made
  // here, else a copy. Sealed against another length.
  // Errors: kResourceExhausted.
  absl::StatusOr<OwnedDescriptor> DescriptorOf(const Value& value);

  // --- ValueMemory
  void* Take(int64_t bytes) override;
  void Give(void* data, int64_t bytes) override;

 private:
  std::mutex mutex_;
  std::map<const void*, int> descriptors_;  // by where they are mapped
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_DOOR_SHARED_VALUES_H_
