#include "runtime/graph/order/falling_index.h"

#include <set>
#include <utility>

#include "runtime/base/label.h"

namespace dogged {
namespace {

// The nodes that `from` leads to, itself among them.
std::set<size_t> Reached(const std::vector<NodeRead>& reads, size_t from,
                         bool is_backward) {
  std::set<size_t> out = {from};
  for (bool has_grown = true; has_grown;) {
    has_grown = false;
    for (const NodeRead& read : reads) {
      const size_t begin = is_backward ? read.maker : read.reader;
      const size_t end = is_backward ? read.reader : read.maker;
      if (out.contains(begin)) has_grown |= out.insert(end).second;
    }
  }
  return out;
}

// True if an index proves it of a ring.
bool Falls(const std::vector<NodeRead>& ring, ReadStep step) {
  for (int i = -kMaxIndices; i < kMaxIndices; ++i) {
    std::vector<NodeRead> level;
    bool falls = false;
    bool rises = false;
    for (const NodeRead& read : ring) {
      const std::optional<int64_t> by = step(read, i);
      falls = falls || !by || *by > 0;
      rises = rises || !by || *by < 0;
      if (by == 0) level.push_back(read);
    }
    // Other indices that prove it of all prove it of fewer: no way back.
    if (falls != rises) return RingWithoutOrder(std::move(level), step).empty();
  }
  return false;
}

}  // namespace

std::vector<NodeRead> RingWithoutOrder(std::vector<NodeRead> reads,
                                       ReadStep step) {
  while (!reads.empty()) {
    const size_t first = reads.front().reader;
    std::set<size_t> ring = Reached(reads, first, false);
    const std::set<size_t> before = Reached(reads, first, true);
    std::erase_if(ring, [&](size_t k) { return !before.contains(k); });
    std::vector<NodeRead> inner;
    std::vector<NodeRead> rest;
    for (const NodeRead& read : reads) {
      const bool leaves = ring.contains(read.reader);
      const bool enters = ring.contains(read.maker);
      if (leaves && enters) inner.push_back(read);
      if (!leaves && !enters) rest.push_back(read);
    }
    if (!inner.empty() && !Falls(inner, step)) return inner;
    reads = std::move(rest);
  }
  return {};
}

}  // namespace dogged
