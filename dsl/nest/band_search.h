// BandSearch: hyperplanes along which no dependence goes back, by isl's
// scheduler, in bounded steps.
//
// Source: Bondhugula et al. 2008 (permutable bands); Feautrier 1992 (a single
// hyperplane); Lamport 1974 (where distances are constant).
#ifndef DOGGED_DSL_NEST_BAND_SEARCH_H_
#define DOGGED_DSL_NEST_BAND_SEARCH_H_

#include <isl/cpp.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "dsl/nest/integer_rows.h"
#include "dsl/nest/nest.h"
#include "dsl/nest/symbolic_sizes.h"

namespace dogged::dsl {

struct ScheduleAttempt;

class BandSearch {
 public:
  // Steps in vain are taken from `steps_left`. Both outlive this.
  BandSearch(uint64_t& steps_left, Nest& nest)
      : steps_left_(steps_left), nest_(nest) {}

  // Fills in hyperplanes and orders of the points of `component`, which are to
  // keep `flows`. Errors: kUnimplemented where there are none of such a form.
  absl::Status Find(const std::vector<NestFlow>& flows,
                    const SymbolicSizes& sizes, NestComponent& component);
  // Looks for more hyperplanes than Find() has found, or flatter ones.
  void Flatten(const std::vector<NestFlow>& flows, const SymbolicSizes& sizes,
               NestComponent& component);

 private:
  isl::schedule_constraints ConstraintsOf(const std::vector<NestFlow>& flows,
                                          const SymbolicSizes& sizes,
                                          const NestComponent& component);
  // The largest coefficient of its hyperplanes.
  int64_t SteepnessOf(const NestComponent& component);
  std::optional<isl::schedule> Compute(
      const isl::schedule_constraints& constraints, int constant_max);
  std::optional<isl::schedule> Compute(
      const isl::schedule_constraints& constraints, int constant_max,
      const ScheduleAttempt& attempt);
  // Indices of a statement that the others do not tell, at most.
  int FreeIndices(const NestComponent& component) const;
  // How far each read of a point goes back, if that is the same everywhere.
  struct Distances {
    int dims = 0;
    std::vector<Row> all;
    std::vector<std::vector<int32_t>> reads;  // at one point, by statement
  };
  std::optional<Distances> ConstantDistances(const std::vector<NestFlow>& flows,
                                             const NestComponent& component);
  // By UniformBand(); false if distances are not constant, or it has none.
  bool TakeUniformBand(const std::vector<NestFlow>& flows,
                       NestComponent& component);
  absl::Status TakeBand(const isl::schedule& schedule,
                        const SymbolicSizes& sizes, NestComponent& component);
  NestPoint& PointOf(int32_t p) { return nest_.points[p]; }

  uint64_t& steps_left_;
  Nest& nest_;
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_BAND_SEARCH_H_
