// ResultCount: how many results are bound, and of how many. In a loop the
// second is known late, perhaps after the last of them is bound. Thread-safe.
#ifndef DOGGED_RUNTIME_EXEC_RESULT_COUNT_H_
#define DOGGED_RUNTIME_EXEC_RESULT_COUNT_H_

#include <atomic>
#include <cstdint>
#include <limits>
#include <optional>

namespace dogged {

class ResultCount {
 public:
  explicit ResultCount(std::optional<int64_t> total)
      : total_(total.value_or(kUnknown)) {}

  // Add() and SetTotal() return true if all results are bound. At least one of
  // several concurrent calls does: each writes before it looks.
  bool Add(int64_t count) {
    return bound_.fetch_add(count) + count == total_.load();
  }
  bool SetTotal(int64_t total) {
    total_.store(total);
    return bound_.load() == total;
  }
  int64_t bound() const { return bound_.load(); }
  int64_t total() const { return total_.load(); }

 private:
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> total_;
  std::atomic<int64_t> bound_{0};
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_RESULT_COUNT_H_
