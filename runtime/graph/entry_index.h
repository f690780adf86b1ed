// EntryIndex: which of many maps can have a given label as image, told by an
// entry that is a number in most of them. Immutable, thread-safe.
#ifndef DOGGED_RUNTIME_GRAPH_ENTRY_INDEX_H_
#define DOGGED_RUNTIME_GRAPH_ENTRY_INDEX_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "runtime/base/label.h"

namespace dogged {

class EntryIndex {
 public:
  // Map k as its entries: the number that it is, none for one that varies.
  using Entries = std::vector<std::optional<int64_t>>;

  // Of no map.
  EntryIndex() = default;
  explicit EntryIndex(const std::vector<Entries>& maps);

  // The first map from `at` on that can have this image; the number of maps if
  // there is none.
  int64_t Next(const IndexVector& image, int64_t at) const;

 private:
  int64_t count_ = 0;
  int entry_ = -1;  // -1: any map can
  absl::flat_hash_map<int64_t, std::vector<int64_t>> with_number_;
  std::vector<int64_t> varying_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_ENTRY_INDEX_H_
