// Short forms for passing absl::Status upwards. Thread-safe: no state.
#ifndef DOGGED_RUNTIME_BASE_STATUS_H_
#define DOGGED_RUNTIME_BASE_STATUS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace dogged {

// `status` with `context` and a colon before its message; OK stays OK.
inline absl::Status Annotate(const absl::Status& status,
                             absl::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(),
                      absl::StrCat(context, ": ", status.message()));
}

}  // namespace dogged

// Returns from the enclosing function if `expr` is an error.
#define DOGGED_RETURN_IF_ERROR(expr)                 \
  do {                                               \
    ::absl::Status dogged_status_ = (expr);          \
    if (!dogged_status_.ok()) return dogged_status_; \
  } while (false)

#define DOGGED_CONCAT_INNER_(a, b) a##b
#define DOGGED_CONCAT_(a, b) DOGGED_CONCAT_INNER_(a, b)

// DOGGED_ASSIGN_OR_RETURN(auto x, F()); where F returns absl::StatusOr<T>.
#define DOGGED_ASSIGN_OR_RETURN(lhs, expr) \
  DOGGED_ASSIGN_OR_RETURN_(DOGGED_CONCAT_(dogged_or_, __LINE__), lhs, expr)
#define DOGGED_ASSIGN_OR_RETURN_(tmp, lhs, expr) \
  auto tmp = (expr);                             \
  if (!tmp.ok()) return tmp.status();            \
  lhs = std::move(tmp).value()

#endif  // DOGGED_RUNTIME_BASE_STATUS_H_
