// TileRole: the part of one task class of a tile program in its TilePlan. Plain
// data.
#ifndef DOGGED_DSL_IR_TILE_ROLE_H_
#define DOGGED_DSL_IR_TILE_ROLE_H_

#include <cstdint>
#include <vector>

#include "dsl/ir/tile_plan.h"
#include "runtime/base/codec.h"

namespace dogged::dsl {

// Points of a field that a user wants: one value per tile and block, empty
// where the block has no time step that is wanted.
struct TileResult {
  int32_t field = 0;
  // By entry of the field's dims: the points of `box` that are `step` apart,
  // from its lower end on.
  Box box;
  IndexVector step;
  int64_t first_time_step = 0;
  int64_t last_time_step = 0;
  int64_t time_interval = 1;  // between wanted time steps, from the first on
  bool has_time = false;      // time is one of the value's dimensions

  bool IsWanted(int64_t time_step) const {
    return time_step >= first_time_step && time_step <= last_time_step &&
           (time_step - first_time_step) % time_interval == 0;
  }
  // The first time step from `first` on that is wanted, if its end lets it.
  int64_t FirstWanted(int64_t first) const;
  // Time steps of first ... last that are wanted.
  int64_t CountWanted(int64_t first, int64_t last) const;
  // The least box around the wanted points of `core`.
  Box WantedOf(const Box& core) const;
  // Wanted points of a WantedOf(), by dimension.
  IndexVector CountsOf(const Box& wanted) const;
};

// Part of one task class in its TilePlan. Its inputs, in the order of its uses:
// every static field's window or number (for a static task, fields of stages
// below its own, and numbers also of its own); then, for a step task only, each
// carried field's own core of the block before and a strip from tile - delta
// for each direction delta. Its outputs, in the order of its creates: for a
// static task the windows of its stage; for all others, if `gives_carry`, each
// carried field's core and a strip for each direction; then the results.
struct TileRole {
  enum class Kind : uint8_t { kStatic = 0, kStart = 1, kStep = 2 };
  Kind kind = Kind::kStep;
  bool gives_carry = false;
  int32_t stage = 0;  // of a static one
  std::vector<TileResult> results;

  void Encode(Encoder& out) const;
  static TileRole Decode(Decoder& in);
};

// Whether a task of that role is given a static field as a window or a number.
inline bool IsTaken(const TileField& field, const TileRole& role) {
  if (!field.is_static || field.is_gathered) return false;
  return role.kind != TileRole::Kind::kStatic || field.stage < role.stage ||
         (field.scalar_input && field.stage == role.stage);
}

// Whether a task of that role, a static one, makes a field.
inline bool IsMadeBy(const TileField& field, const TileRole& role) {
  return field.is_static && !field.scalar_input && !field.is_gathered &&
         field.stage == role.stage;
}

// Whether the results of a role, which may be anybody's, are of the plan.
bool FitsPlan(const TileRole& role, const TilePlan& plan);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_IR_TILE_ROLE_H_
