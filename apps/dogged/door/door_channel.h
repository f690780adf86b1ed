// DoorChannel: lines of text between this process and the one that started it,
// over a Unix socket, where descriptors may travel with a line, or over a pair
// of pipes, where none do. All that comes is bounded, whoever sends it.
//
// Used by one thread.
#ifndef DOGGED_APPS_DOGGED_DOOR_DOOR_CHANNEL_H_
#define DOGGED_APPS_DOGGED_DOOR_DOOR_CHANNEL_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace dogged {

// OwnedDescriptor: closes it.
class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int number = -1) : number_(number) {}
  OwnedDescriptor(OwnedDescriptor&& other) noexcept
      : number_(std::exchange(other.number_, -1)) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~OwnedDescriptor();

  int number() const { return number_; }

 private:
  int number_;
};

class DoorChannel {
 public:
  // A text of the language, escaped, fits.
  static constexpr size_t kLineBytesMax = size_t{64} << 20;
  // Descriptors that came and that no line has taken.
  static constexpr size_t kDescriptorsMax = 256;

  // Reads from `in` and writes to `out`, which may be the same.
  DoorChannel(int in, int out);
  DoorChannel(const DoorChannel&) = delete;
  DoorChannel& operator=(const DoorChannel&) = delete;

  // The next line, without its end; none if there is none within `patience`.
  // Errors: kUnavailable when the other side has gone; kNotFound for a line
  // that is too long, of which nothing is kept, and for too many descriptors:
  // then the next call goes on behind it.
  absl::StatusOr<std::optional<std::string>> Read(absl::Duration patience);
  // The next `count` descriptors that came, in their order.
  // Errors: kNotFound if fewer have come.
  absl::StatusOr<std::vector<OwnedDescriptor>> Take(size_t count);
  // Writes a line, with descriptors; waits until it is written.
  // Errors: kUnavailable when the other side has gone; kFailedPrecondition for
  // descriptors where there is no socket.
  absl::Status Write(absl::string_view line,
                     absl::Span<const int> descriptors = {});
  bool CarriesDescriptors() const { return is_socket_; }
  // The other side has gone, whatever it has said before.
  bool HasGone() const;

 private:
  // Waits for bytes, and takes them in. False if none came.
  absl::StatusOr<bool> Receive(absl::Duration patience);
  // The line at the start of the buffer, if it is whole.
  std::optional<std::string> NextLine();

  const int in_;
  const int out_;
  const bool is_socket_;
  std::string buffer_;
  size_t looked_ = 0;         // bytes of the buffer without an end of line
  bool is_skipping_ = false;  // the rest of a line that was too long
  std::deque<OwnedDescriptor> descriptors_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_DOOR_DOOR_CHANNEL_H_
