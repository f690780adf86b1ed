// Components of a loop nest and their schedules, by isl's scheduler.
//
// Source: Bondhugula et al. 2008 (permutable bands); Feautrier 1992 (a single
// hyperplane, where no band is found in bounded steps); Verdoolaege's scheduler
// in isl. Differs: components are scheduled one at a time, readers behind what
// they read, so that each gets the deepest band that there is.
#ifndef DOGGED_DSL_NEST_SCHEDULE_NEST_H_
#define DOGGED_DSL_NEST_SCHEDULE_NEST_H_

#include <cstdint>

#include "absl/status/status.h"
#include "dsl/nest/nest.h"

namespace dogged::dsl {

// Whether components that go plane by plane, along one hyperplane in sequence,
// have tiles in their planes, instead of tiles of planes.
enum class Planes { kNever, kIfLarge, kAlways };

// Fills in components, hyperplanes and orders within tiles, and the parts of
// flows, which it splits where they are piecewise. Errors: kUnimplemented where
// the scheduler finds hyperplanes of another form. Cost: what attempts take in
// vain is taken from `steps_left`; a component for which it does not suffice
// gets a single hyperplane.
absl::Status ScheduleNest(Planes planes, uint64_t& steps_left, Nest& nest);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_SCHEDULE_NEST_H_
