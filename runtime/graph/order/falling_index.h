// Order of what reads one another: a proof that no chain of reads comes back to
// a point where it was. Plain functions; thread-safe.
#ifndef DOGGED_RUNTIME_GRAPH_ORDER_FALLING_INDEX_H_
#define DOGGED_RUNTIME_GRAPH_ORDER_FALLING_INDEX_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"

namespace dogged {

// A read between nodes of a graph, whose points make labels and read them.
struct NodeRead {
  size_t reader = 0;
  size_t maker = 0;
  size_t number = 0;  // by which the caller knows it
};

// How much larger index `i` is in what the reader makes than in what it reads,
// if that is a number; from -1 on `i` counts from the last one.
using ReadStep =
    absl::FunctionRef<std::optional<int64_t>(const NodeRead& read, int i)>;

// The reads of a ring of nodes of which it is not proved that no chain of them
// comes back; empty if there is none. Where reads lead in a ring, some index
// falls along a part of them and rises along none, or the other way round, and
// the rest, by itself, makes no such chain either.
//
// Source: Karp, Miller and Winograd 1967, of systems of recurrences; here one
// index at a time.
std::vector<NodeRead> RingWithoutOrder(std::vector<NodeRead> reads,
                                       ReadStep step);

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_ORDER_FALLING_INDEX_H_
