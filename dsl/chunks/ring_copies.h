// Rings: arrays of which labels beyond both ends are copies of those a period
// further in, as a periodic boundary makes them. Along the index of its chunks
// a reader goes round the ring by itself, and needs no copies; a copy would be
// made of its own row.
#ifndef DOGGED_DSL_CHUNKS_RING_COPIES_H_
#define DOGGED_DSL_CHUNKS_RING_COPIES_H_

#include <cstdint>
#include <vector>

#include "dsl/ir/point_program.h"

namespace dogged::dsl {

// Label x along `index` of an array is lower + (x - lower) modulo `length`.
struct Ring {
  int32_t index = -1;  // -1: it is none
  int64_t lower = 0;
  int64_t length = 0;
};

// The rings of a program, by array, each along the longest index that has one.
std::vector<Ring> FindRings(const PointProgram& points);

// The program without the copies that rings make.
PointProgram WithoutCopies(const PointProgram& points,
                           const std::vector<Ring>& rings);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_CHUNKS_RING_COPIES_H_
