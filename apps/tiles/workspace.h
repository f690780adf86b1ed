// Room for numbers that a thread keeps from call to call: fresh memory would
// cost a page fault for every 512 of them.
#ifndef DOGGED_APPS_TILES_WORKSPACE_H_
#define DOGGED_APPS_TILES_WORKSPACE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace dogged {

class Workspace {
 public:
  // For `count` numbers at the beginning of a cache line, until the next call.
  double* Room(int64_t count) {
    constexpr size_t kLine = 64;
    const auto wanted = static_cast<size_t>(count) + kLine / sizeof(double);
    if (room_.size() < wanted) room_.resize(wanted);
    void* begin = room_.data();
    size_t bytes = room_.size() * sizeof(double);
    return static_cast<double*>(std::align(
        kLine, static_cast<size_t>(count) * sizeof(double), begin, bytes));
  }

 private:
  std::vector<double> room_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_WORKSPACE_H_
