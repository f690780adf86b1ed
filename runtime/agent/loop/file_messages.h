// Messages by which a client has agents write results into a file that all of
// them share, each its part; bodies of control frames.
#ifndef DOGGED_RUNTIME_AGENT_LOOP_FILE_MESSAGES_H_
#define DOGGED_RUNTIME_AGENT_LOOP_FILE_MESSAGES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/bytes.h"
#include "runtime/base/codec.h"
#include "runtime/base/hash.h"
#include "runtime/base/ids.h"
#include "runtime/base/label.h"

namespace dogged {

// FilePart: a box of a label's value, and its place in the file.
struct FilePart {
  Label label;
  // By dimension: of the value as a box of elements in C order, of the part in
  // it, and bytes in the file from one element to the next.
  IndexVector extents;
  IndexVector first;
  IndexVector count;
  IndexVector stride;
  int64_t offset = 0;  // bytes, of the part's first element in the file
  int64_t element_bytes = 8;

  // Size of the part.
  int64_t bytes() const;
  void EncodeTo(Encoder& out) const;
  // Any numbers: the file that it goes to checks them.
  static FilePart DecodeFrom(Decoder& in);
};

// Parts to be written; or to be read again and held against `digests`, of the
// elements of each part in C order. Without parts: a sign is to be left there.
struct WriteRequest {
  // A part takes many times the bytes that it has on the wire.
  static constexpr int64_t kPartsMax = 1 << 14;

  JobId job;
  uint64_t number = 0;  // repeated by the answer
  std::string path;     // absolute
  Digest mark;          // that the file begins with, see PartedFile
  std::vector<FilePart> parts;
  std::vector<Digest> digests;  // empty: the parts are to be written

  Bytes Encode() const;
  static absl::StatusOr<WriteRequest> Decode(absl::string_view body);
};

struct WrittenReply {
  uint64_t number = 0;
  // kDataLoss: parts read again are not what was written.
  absl::Status status;
  std::vector<Digest> digests;  // of parts that were written
  int64_t not_finite = 0;       // numbers in them, of doubles and floats

  Bytes Encode() const;
  static absl::StatusOr<WrittenReply> Decode(absl::string_view body);
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_AGENT_LOOP_FILE_MESSAGES_H_
