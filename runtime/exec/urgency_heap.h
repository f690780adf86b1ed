// UrgencyHeap: items of which the most urgent comes first, the newest among
// equals. Used by one thread at a time.
#ifndef DOGGED_RUNTIME_EXEC_URGENCY_HEAP_H_
#define DOGGED_RUNTIME_EXEC_URGENCY_HEAP_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace dogged {

// `Item` has a member `priority`; a larger one is more urgent.
template <typename Item>
class UrgencyHeap {
 public:
  size_t size() const { return entries_.size(); }
  // The largest priority; there is an item.
  int64_t MostUrgent() const { return entries_.front().priority; }
  void Push(std::unique_ptr<Item> item) {
    const int64_t priority = item->priority;
    entries_.push_back({priority, pushed_++, std::move(item)});
    std::push_heap(entries_.begin(), entries_.end());
  }
  // Null if there is none.
  std::unique_ptr<Item> Pop() {
    if (entries_.empty()) return nullptr;
    std::pop_heap(entries_.begin(), entries_.end());
    std::unique_ptr<Item> out = std::move(entries_.back().item);
    entries_.pop_back();
    return out;
  }

 private:
  struct Entry {
    int64_t priority;
    uint64_t sequence;
    std::unique_ptr<Item> item;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.priority != b.priority ? a.priority < b.priority
                                      : a.sequence < b.sequence;
    }
  };

  std::vector<Entry> entries_;
  uint64_t pushed_ = 0;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_EXEC_URGENCY_HEAP_H_
