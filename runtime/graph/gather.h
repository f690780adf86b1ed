// Gather: indices of a label that no affine form gives, but that are known
// before the run: u(rx(r))(t), x(col(i)(k))(t-1). A table holds them by the
// indices of the task that they depend on. Plain data, in memory of as many
// numbers as there are places; thread-safe.
//
// Source: [REM] "Dependency Description", requires as any map that can be
// evaluated; the inspector of inspector-executor compilers (Mirchandaney,
// Saltz et al. 1988), whose work is done once, at submission.
#ifndef DOGGED_RUNTIME_GRAPH_GATHER_H_
#define DOGGED_RUNTIME_GRAPH_GATHER_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/base/codec.h"
#include "runtime/base/label.h"

namespace dogged {

// Gather: the tables of one use. `dims` are the indices of the task that they
// depend on, in order, and `lower` and `extents` the box of these; a place is a
// point of the box, numbered in row-major order. The index of the label at
// `position` of a table is its affine form plus the table's value.
struct Gather {
  // At a place that no task with this use has.
  static constexpr int64_t kNone = std::numeric_limits<int64_t>::min();
  // Largest value, and largest number of places of a program.
  static constexpr int64_t kValueMax = int64_t{1} << 40;
  static constexpr int64_t kPlacesMax = int64_t{1} << 23;

  struct Table {
    int32_t position = 0;  // of the index, in the label
    std::vector<int64_t> values;
    friend bool operator==(const Table&, const Table&) = default;
  };
  std::vector<int32_t> dims;
  IndexVector lower;
  IndexVector extents;
  std::vector<Table> tables;  // by ascending position

  int64_t PlaceCount() const;
  // The place of a task; -1 if it is beyond the box.
  int64_t PlaceOf(const IndexVector& task) const;
  // The values of `dims` at a place.
  IndexVector At(int64_t place) const;
  bool Has(int position) const;

  friend bool operator==(const Gather&, const Gather&) = default;
  void Encode(Encoder& out) const;
  // Fails `in` where the numbers make no table; that they fit a program is
  // Program::Validate()'s to see.
  static Gather Decode(Decoder& in);
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_GATHER_H_
