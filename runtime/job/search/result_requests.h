// ResultRequests: results that clients want. Plain data.
#ifndef DOGGED_RUNTIME_JOB_SEARCH_RESULT_REQUESTS_H_
#define DOGGED_RUNTIME_JOB_SEARCH_RESULT_REQUESTS_H_

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"

namespace dogged {

enum class RequestKind {
  kMake,   // made if need be
  kWatch,  // if it is bound or will be: no work is done for it
};

struct ResultRequests {
  struct Request {
    absl::Duration interval;  // until it is asked for again
    RequestKind kind;
    absl::Time next_ask = absl::InfinitePast();
  };
  std::map<Label, Request> wanted;
  // When which of them is asked for again.
  std::set<std::pair<absl::Time, Label>> asks;
  std::vector<std::pair<Label, Value>> found;  // to be taken
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_JOB_SEARCH_RESULT_REQUESTS_H_
