// Layouts: which host is to be home to which keys of a job, so that few labels
// go between hosts and each host has its share of the work all along.
//
// The hosts' shares are laid over the blocks of the job's arrays in the ways
// that are known to need little: slabs along an index, a grid of blocks, and
// both block-cyclic, in rows of a grid that need not be of equal width, so that
// there is one for every number of hosts. The layout that hashing gives takes
// part as well. The cost of each is counted over the traffic of the
// job, and the cheapest one is taken.
//
// Source: ScaLAPACK's 2-D block-cyclic distribution (Dongarra, van de Geijn and
// Walker 1994). Rows of unequal width differ from the patterns of Beaumont,
// Collin, Eyraud-Dubois and Verite 2023 for any number of nodes: a few labels
// more, but one rule.
#ifndef DOGGED_KVSTORE_PLACEMENT_LAYOUTS_H_
#define DOGGED_KVSTORE_PLACEMENT_LAYOUTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/base/key_traffic.h"

namespace dogged {

// Layout: a host for each key, by position in KeyTraffic::keys.
struct Layout {
  std::string name;  // "grid 4 x 4, cyclic, of indices 0 and 1"
  std::vector<int32_t> hosts;
};

struct LayoutCost {
  // The time of the work if each stage waits for the host that has most to do
  // in it; 1: as long as with equal shares.
  double work = 1;
  // Labels that go from one host to another, once for each that needs them.
  int64_t labels = 0;
  // Both, in tasks of the mean host. A label counts as four tasks; labels are
  // those that the mean host receives, and the busiest one, by halves: its link
  // may hold all others up, but each label takes time of two processors.
  double total = 0;
};

// `weights`: workers by host.
LayoutCost CostOf(const KeyTraffic& traffic,
                  const std::vector<int64_t>& weights,
                  const std::vector<int32_t>& hosts);

// Hosts by block of the arrays' indices `row` and `column`, of a grid with
// `rows` rows: the shares of `weights` one after another, each row with as many
// of them as the next, or one more or less. Row i of the blocks belongs to row
// i of the grid, cyclic, rows of the grid in proportion to their widths.
std::vector<int32_t> CyclicGrid(const KeyTraffic& traffic,
                                const std::vector<int64_t>& weights, size_t row,
                                size_t column, int rows);

// The cheapest layout for hosts of these weights, at least two, of those with
// which the work takes at most half as long again as with the most even one;
// `hashed` is the one to do without.
//
// Cost: O(flows of the traffic x hosts), some tens of milliseconds for 64 hosts
// and 2080 keys.
Layout BestLayout(const KeyTraffic& traffic,
                  const std::vector<int64_t>& weights,
                  std::vector<int32_t> hashed);

}  // namespace dogged

#endif  // DOGGED_KVSTORE_PLACEMENT_LAYOUTS_H_
