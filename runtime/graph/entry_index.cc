#include "runtime/graph/entry_index.h"

#include <algorithm>
#include <set>

namespace dogged {
namespace {

// Fewer maps are looked at one by one as fast.
constexpr int64_t kMapsMin = 16;

int64_t NextIn(const std::vector<int64_t>& sorted, int64_t at, int64_t none) {
  const auto it = std::lower_bound(sorted.begin(), sorted.end(), at);
  return it == sorted.end() ? none : *it;
}

}  // namespace

EntryIndex::EntryIndex(const std::vector<Entries>& maps)
    : count_(std::ssize(maps)) {
  if (count_ < kMapsMin) return;
  // The entry that leaves the fewest maps to look at.
  const size_t rank = maps.front().size();
  int64_t least = count_;
  for (size_t e = 0; e < rank; ++e) {
    std::set<int64_t> numbers;
    int64_t varying = 0;
    for (const Entries& map : maps) {
      if (map[e].has_value()) {
        numbers.insert(*map[e]);
      } else {
        ++varying;
      }
    }
    if (numbers.empty()) continue;
    const int64_t left = varying + (count_ - varying) / std::ssize(numbers) + 1;
    if (left >= least) continue;
    least = left;
    entry_ = static_cast<int>(e);
  }
  if (entry_ < 0) return;
  for (int64_t k = 0; k < count_; ++k) {
    const auto& number = maps[k][entry_];
    (number.has_value() ? with_number_[*number] : varying_).push_back(k);
  }
}

int64_t EntryIndex::Next(const IndexVector& image, int64_t at) const {
  if (entry_ < 0 || entry_ >= image.size()) return std::min(at, count_);
  const int64_t varying = NextIn(varying_, at, count_);
  const auto found = with_number_.find(image[entry_]);
  if (found == with_number_.end()) return varying;
  return std::min(varying, NextIn(found->second, at, count_));
}

}  // namespace dogged
