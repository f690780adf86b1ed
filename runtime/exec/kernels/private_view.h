// PrivateView: a process that sees the folders of libraries alone, and no
// network, by namespaces and by Landlock, each of which a host may refuse.
#ifndef DOGGED_RUNTIME_EXEC_KERNELS_PRIVATE_VIEW_H_
#define DOGGED_RUNTIME_EXEC_KERNELS_PRIVATE_VIEW_H_

#include <string>
#include <vector>

#include "absl/types/span.h"

namespace dogged {

struct PrivateView {
  // Empty if so, else why not.
  std::string no_namespaces;
  std::string no_landlock;

  // Either of them hides the user's files.
  bool HidesFiles() const {
    return no_namespaces.empty() || no_landlock.empty();
  }
};

// This process, which has a single thread, can read what is below `folders`,
// all of them absolute, and its own descriptors. Rights that it had go, those
// of root among them.
PrivateView EnterPrivateView(absl::Span<const std::string> folders);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_KERNELS_PRIVATE_VIEW_H_
