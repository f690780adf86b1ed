// Publications in bytes that nobody else has.
#ifndef DOGGED_TESTS_KVSTORE_PUBLISHED_H_
#define DOGGED_TESTS_KVSTORE_PUBLISHED_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kvstore/messages/label_messages.h"
#include "runtime/base/bytes.h"

namespace dogged {

inline absl::StatusOr<std::vector<PublishBody>> DecodePublished(
    absl::string_view body) {
  return DecodePublish(Bytes::CopyOf(body));
}

}  // namespace dogged

#endif  // DOGGED_TESTS_KVSTORE_PUBLISHED_H_
