#include "routing/model/chain_order.h"

#include <algorithm>
#include <functional>

#include "absl/types/span.h"

namespace dogged {
namespace {

MulticastSchedule Make(const SwitchNetwork& network, int source,
                       const std::vector<int>& destinations,
                       const std::vector<int>& sequence) {
  MulticastSchedule schedule{source, destinations, {}};
  schedule.sends.resize(network.processor_count());
  BinomialSends(sequence, schedule.sends);
  return schedule;
}

}  // namespace

std::vector<int> ChainConcatenatedOrder(const SwitchNetwork& network,
                                        std::vector<int> processors) {
  std::sort(processors.begin(), processors.end());
  std::vector<std::vector<int>> attached(network.switch_count());
  for (int processor : processors) {
    attached[network.switch_of(processor)].push_back(processor);
  }
  std::vector<int> below(network.switch_count(), 0);
  const std::function<int(int)> count = [&](int at) {
    int sum = static_cast<int>(attached[at].size());
    for (int child : network.children(at)) sum += count(child);
    return below[at] = sum;
  };
  count(0);
  std::vector<int> order;
  const std::function<void(int)> walk = [&](int at) {
    order.insert(order.end(), attached[at].begin(), attached[at].end());
    std::vector<int> children = network.children(at);
    std::stable_sort(children.begin(), children.end(),
                     [&](int a, int b) { return below[a] > below[b]; });
    for (int child : children) walk(child);
  };
  walk(0);
  return order;
}

void BinomialSends(const std::vector<int>& sequence,
                   std::vector<std::vector<int>>& sends) {
  const std::function<void(absl::Span<const int>)> split =
      [&](absl::Span<const int> part) {
        while (part.size() > 1) {
          const size_t near = (part.size() + 1) / 2;
          sends[part[0]].push_back(part[near]);
          split(part.subspan(near));
          part = part.first(near);
        }
      };
  split(sequence);
}

MulticastSchedule CcoMulticast(const SwitchNetwork& network, int source,
                               const std::vector<int>& destinations) {
  std::vector<int> sequence = {source};
  for (int next : ChainConcatenatedOrder(network, destinations)) {
    sequence.push_back(next);
  }
  return Make(network, source, destinations, sequence);
}

MulticastSchedule SpccoMulticast(const SwitchNetwork& network, int source,
                                 const std::vector<int>& destinations) {
  std::vector<int> all = destinations;
  all.push_back(source);
  std::vector<int> sequence = ChainConcatenatedOrder(network, all);
  std::rotate(sequence.begin(),
              std::find(sequence.begin(), sequence.end(), source),
              sequence.end());
  return Make(network, source, destinations, sequence);
}

}  // namespace dogged
