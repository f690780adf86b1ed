// Strongly connected components of a graph.
#ifndef DOGGED_DSL_NEST_STRONG_COMPONENTS_H_
#define DOGGED_DSL_NEST_STRONG_COMPONENTS_H_

#include <cstdint>
#include <vector>

namespace dogged::dsl {

// The components of a graph whose node n has edges to `edges[n]`. Each stands
// behind those that it reaches; nodes of a component ascend.
//
// Source: Tarjan 1972.
std::vector<std::vector<int32_t>> StrongComponents(
    const std::vector<std::vector<int32_t>>& edges);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_STRONG_COMPONENTS_H_
