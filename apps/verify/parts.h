// Parts of a check that don't need each other.
#ifndef DOGGED_APPS_VERIFY_PARTS_H_
#define DOGGED_APPS_VERIFY_PARTS_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace dogged {

// Calls body(part) for each part in [0, count), several at once, on `threads`
// threads or as many as there are to be had. The last ones begin first: in a
// triangle they are the longest. Returns an error of `body`, after which no
// thread goes on to another part. A call that throws std::bad_alloc is
// repeated, alone; if it throws again, the caller gets that.
absl::Status ForEachPart(int64_t count, int threads,
                         absl::FunctionRef<absl::Status(int64_t part)> body);

// sum += the parts, in their order, so that it has the same bits each time.
// Each has as many elements as `sum`, or only the first of them.
void AddInOrder(const std::vector<std::vector<double>>& parts,
                std::vector<double>& sum);

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_PARTS_H_
