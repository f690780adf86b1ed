// CCO and SPCCO, the baselines of [AG]: destinations in partial order chains,
// the chains one after another, and a binomial multicast over all of it.
//
// A partial order chain is a way down the breadth-first tree: between two of
// its switches messages go down only, and messages within disjoint pieces of
// it share no link. Where [AG] only cites: chains are taken greedily, each
// going on to the child with the most destinations below it, and follow one
// another in the order of a walk over the tree.
#ifndef DOGGED_ROUTING_MODEL_CHAIN_ORDER_H_
#define DOGGED_ROUTING_MODEL_CHAIN_ORDER_H_

#include <vector>

#include "routing/model/switch_network.h"
#include "routing/model/wormhole.h"

namespace dogged {

// `processors` in the order of concatenated chains.
std::vector<int> ChainConcatenatedOrder(const SwitchNetwork& network,
                                        std::vector<int> processors);

// The source, and then the destinations in the same order for all sources.
MulticastSchedule CcoMulticast(const SwitchNetwork& network, int source,
                               const std::vector<int>& destinations);
// "each resulting sequence is shifted until the source appears at the
// beginning".
MulticastSchedule SpccoMulticast(const SwitchNetwork& network, int source,
                                 const std::vector<int>& destinations);

// A binomial multicast from the first of `sequence`: the far half first.
void BinomialSends(const std::vector<int>& sequence,
                   std::vector<std::vector<int>>& sends);

}  // namespace dogged

#endif  // DOGGED_ROUTING_MODEL_CHAIN_ORDER_H_
