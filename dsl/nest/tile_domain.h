// Sets of tiles as domains and guards of a dependency description.
#ifndef DOGGED_DSL_NEST_TILE_DOMAIN_H_
#define DOGGED_DSL_NEST_TILE_DOMAIN_H_

#include <isl/cpp.h>

#include <optional>

#include "runtime/graph/domain.h"

namespace dogged::dsl {

// The points of `tiles`, a convex set without divisions, as nested bounds. None
// if an index has no bound, or a number is too large.
std::optional<Domain> DomainOfTiles(const isl::set& tiles);

// The condition that a tile of `all` is one of `tiles`; at times more unless
// `is_exact`, never less, but always in `all`. None if a number is too large,
// or an exact condition too long.
std::optional<Guard> GuardOfTiles(const isl::set& tiles, const isl::set& all,
                                  bool is_exact);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_TILE_DOMAIN_H_
