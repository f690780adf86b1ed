// Bytes: an immutable shared buffer with cheap slices. Thread-safe as a
// shared_ptr is: distinct objects may be used from distinct threads.
#ifndef DOGGED_RUNTIME_BASE_BYTES_H_
#define DOGGED_RUNTIME_BASE_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"

namespace dogged {

class Bytes {
 public:
  Bytes() = default;
  // Takes over `content`.
  explicit Bytes(std::string content);
  // A copy of `content`.
  static Bytes CopyOf(absl::string_view content) {
    return Bytes(std::string(content.data(), content.size()));
  }
  // `view` is alive as long as `owner` is.
  Bytes(std::shared_ptr<const void> owner, absl::string_view view)
      : owner_(std::move(owner)), view_(view) {}
  // The same where `owner` holds little else.
  static Bytes AllOf(std::shared_ptr<const void> owner,
                     absl::string_view view) {
    Bytes out(std::move(owner), view);
    out.is_all_ = true;
    return out;
  }

  const char* data() const { return view_.data(); }
  int64_t size() const { return std::ssize(view_); }
  bool empty() const { return view_.empty(); }
  absl::string_view view() const { return view_; }
  // Keeping it keeps little else in memory. False: not known.
  bool IsAll() const { return is_all_; }

  // `size` bytes from `offset`, sharing the buffer. Both lie within.
  Bytes Slice(int64_t offset, int64_t size) const;

  friend bool operator==(const Bytes& a, const Bytes& b) {
    return a.view_ == b.view_;
  }

 private:
  std::shared_ptr<const void> owner_;
  absl::string_view view_;
  bool is_all_ = false;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_BASE_BYTES_H_
