// Messages between an agent and a kernel process, which runs kernels
// for it: one each way for the library, then for each call.
#ifndef DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_PROCESS_MESSAGES_H_
#define DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_PROCESS_MESSAGES_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/value.h"
#include "runtime/exec/kernels/kernel_jail.h"
#include "runtime/exec/kernels/kernel_region.h"

namespace dogged {

// The descriptors that a kernel process begins with, beside the standard three.
constexpr int kProcessSocket = 3;
constexpr int kProcessRegion = 4;
constexpr int kProcessLibrary = 5;

// No message is larger.
constexpr size_t kProcessMessageBytesMax = size_t{64} << 10;

// To a kernel process, first: how it is jailed, and the functions that calls
// mean by their positions. Without any it loads no library.
struct ProcessStart {
  KernelJail jail;
  std::vector<std::string> functions;

  std::string Encode() const;
  static absl::StatusOr<ProcessStart> Decode(absl::string_view message);
};

// To a kernel process: run this.
struct ProcessCall {
  uint64_t function = 0;  // of those it was told to find
  int64_t region_bytes = 0;
  std::vector<RegionBlock> blocks;  // first inputs, then outputs
  std::vector<ElementType> types;   // one per block
  std::vector<Shape> shapes;
  std::vector<double> numbers;

  std::string Encode() const;
  static absl::StatusOr<ProcessCall> Decode(absl::string_view message);
};

// From a kernel process: the library is there, or the call has returned.
struct ProcessReply {
  enum class Kind : uint8_t {
    kDone,      // all is well
    kWrong,     // `words` name the defect of the library or the call
    kNoMemory,  // the region can't be mapped
    kFault,     // it is about to end by a signal that a bad address has raised,
                // or a system call that the jail refuses
  };
  // Where the address of a kFault lies, if it is not a system call.
  enum class Place : uint8_t { kElsewhere, kRegion, kStack, kSystemCall };
  Kind kind = Kind::kDone;
  Place place = Place::kElsewhere;
  uint64_t offset = 0;  // in the region; or the number of the system call
  std::string words;    // kDone: of the jail, for the agent's log

  // Kind, place and offset; words follow.
  using Head = std::array<char, 10>;
  // Fit for signal handlers.
  Head EncodeHead() const;
  std::string Encode() const;
  static absl::StatusOr<ProcessReply> Decode(absl::string_view message);
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_KERNELS_KERNEL_PROCESS_MESSAGES_H_
