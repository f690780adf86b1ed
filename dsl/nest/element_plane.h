// Planes in which elements of an array lie: those of a pivot row, A(i)(j)(i),
// are one for each i and j, however many versions of A there are.
// Part of an isl adapter.
#ifndef DOGGED_DSL_NEST_ELEMENT_PLANE_H_
#define DOGGED_DSL_NEST_ELEMENT_PLANE_H_

#include <isl/cpp.h>

#include <optional>
#include <vector>

#include "absl/types/span.h"
#include "dsl/nest/nest.h"

namespace dogged::dsl {

// The equations that all of `elements` satisfy, less those of remainders, as a
// set; none if there are none.
std::optional<isl::set> PlaneOf(const isl::set& elements);
// That of the elements of both.
std::optional<isl::set> PlaneAround(const std::optional<isl::set>& a,
                                    const std::optional<isl::set>& b);
// Indices that the others tell in that plane, one for each of its equations: no
// two elements of it differ in these alone. Of several choices that of the
// longest of `spans`, which are by index, and of equal ones the last.
std::vector<bool> FlatDimensions(const std::optional<isl::set>& plane,
                                 absl::Span<const Span> spans);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_ELEMENT_PLANE_H_
