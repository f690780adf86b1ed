#include "dsl/chunks/result_parts.h"

#include <utility>

namespace dogged::dsl {

int WholeAlong(const PointProgram& points, const ChunkChoice& choice,
               const PointResult& result) {
  const int32_t i = choice.array_index[result.array];
  const Box& box = points.arrays[result.array].box;
  const int e = FreeIndexAt(result.map, i, result.domain);
  const bool is_whole = e >= 0 && result.box.lower[i] == box.lower[i] &&
                        result.box.upper[i] == box.upper[i];
  return is_whole ? e : -1;
}

PointProgram WithResultParts(const PointProgram& points, ChunkChoice& choice) {
  PointProgram out = points;
  for (PointResult& result : out.results) {
    const int32_t i = choice.array_index[result.array];
    if (i < 0 || WholeAlong(points, choice, result) >= 0) continue;
    const PointArray& array = points.arrays[result.array];
    PointClass c{.name = array.name,
                 .domain = result.domain,
                 .time = result.time.time,
                 .creates = {},
                 .uses = {{.array = result.array, .map = result.map}}};
    c.code.code = CopyCode(array.element, result.domain.size());
    PointArray part{.name = array.name,
                    .rank = array.rank,
                    .element = array.element,
                    .box = result.box,
                    .place = {}};
    result.array = static_cast<int32_t>(out.arrays.size());
    c.creates = {{.array = result.array, .map = result.map}};
    const int dim = FreeIndexAt(result.map, i, result.domain);
    choice.array_index.push_back(dim < 0 ? -1 : i);
    choice.class_index.push_back(dim);
    out.arrays.push_back(std::move(part));
    out.classes.push_back(std::move(c));
  }
  return out;
}

}  // namespace dogged::dsl
