// Bodies of publications, in one stretch.
#ifndef DOGGED_TESTS_KVSTORE_PUBLISHED_H_
#define DOGGED_TESTS_KVSTORE_PUBLISHED_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kvstore/messages/label_messages.h"
#include "runtime/base/bytes.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

inline Bytes Published(const Label& label, const Value& value) {
  return EncodePublish(label, value).Join();
}

inline absl::StatusOr<std::vector<PublishBody>> DecodePublished(
    absl::string_view body) {
  return DecodePublish(Bytes::CopyOf(body));
}

}  // namespace dogged

#endif  // DOGGED_TESTS_KVSTORE_PUBLISHED_H_
