// KeyFile: the ring of keys in a file, which is for its owner's eyes alone, and
// is read again when it changes. Not thread-safe.
#ifndef DOGGED_ROUTING_TRUST_KEY_FILE_H_
#define DOGGED_ROUTING_TRUST_KEY_FILE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "routing/trust/key_ring.h"
#include "routing/trust/own_file.h"

namespace dogged {

class KeyFile {
 public:
  // All errors of this class name the file and say what to do: kInvalidArgument
  // if it is missing, a folder, unreadable, malformed, or if somebody else
  // could read or change it.
  static absl::StatusOr<std::unique_ptr<KeyFile>> Open(const std::string& path);
  // A new file with one new key, mode 0600; a folder that is not there is made,
  // mode 0700. Errors: also if there is such a file, and kResourceExhausted.
  static absl::StatusOr<std::unique_ptr<KeyFile>> Create(
      const std::string& path);
  KeyFile(const KeyFile&) = delete;
  KeyFile& operator=(const KeyFile&) = delete;

  const std::string& path() const { return path_; }
  // As last read. Rings never change: another one takes the place.
  const std::shared_ptr<const KeyRing>& ring() const { return ring_; }

  // Looks, once a second, whether the file has changed, and reads it. True if
  // ring() is another one now. A file that can't be read any more changes
  // nothing, and is logged once.
  bool Refresh(absl::Time now);
  // Puts `ring` into the file, whole or not at all; nobody else does so
  // meanwhile. Errors: also kResourceExhausted.
  absl::Status Replace(const KeyRing& ring);

 private:
  explicit KeyFile(const std::string& path) : path_(path) {}
  absl::Status Read();

  const std::string path_;
  std::shared_ptr<const KeyRing> ring_;
  FileVersion version_{};
  absl::Time next_look_ = absl::InfinitePast();
};

}  // namespace dogged

#endif  // DOGGED_ROUTING_TRUST_KEY_FILE_H_
