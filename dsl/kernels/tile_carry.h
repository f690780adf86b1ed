// TileCarry: copies the last time steps of a tile, and of strips beside others,
// from the task of the block before, and to that of the next. It copies plane
// by plane along the first dimension of space, as the sweep comes by, so that
// they are in the cache.
#ifndef DOGGED_DSL_KERNELS_TILE_CARRY_H_
#define DOGGED_DSL_KERNELS_TILE_CARRY_H_

#include <cstdint>
#include <vector>

#include "dsl/kernels/tile_program.h"
#include "runtime/graph/kernel.h"

namespace dogged::dsl {

class TileCarry {
 public:
  // All of these outlive it; `fields` has a ring per field by the time that
  // anything is copied.
  TileCarry(const TileProgram& program, const IndexVector& tile,
            std::vector<FieldTimeSteps>& fields, KernelCall& call)
      : program_(program),
        plan_(program.plan),
        tile_(tile),
        fields_(fields),
        call_(call) {}

  // The call's inputs are time steps up to `time_step`, which is to be read.
  void ListReads(int64_t time_step);
  // Reads all of coefficients, which are computed before there are planes.
  void ReadCoefficients();
  // Reads planes up to `last` at least, of all other fields.
  void Read(int64_t last);

  // The call's outputs, which are allocated, are to be time steps up to
  // `time_step`. Fields that are given `as_computed`, of one time step, get a
  // window in the value that the next task takes, which spares a copy of the
  // tile.
  void ListGiven(int64_t time_step, const std::vector<bool>& as_computed);
  // Planes up to `last` of fields that are given as computed are there.
  void Give(int64_t last);
  // All planes of all fields are there.
  void GiveAll();

 private:
  // `carried` time steps of a box of a field.
  struct Part {
    size_t field = 0;
    Box box;
    Value* value = nullptr;
  };
  // The part's planes after plane `from` and up to plane `to`.
  static Box Planes(const Part& part, int64_t from, int64_t to);
  // The points of `box`, at the time steps that are carried.
  void Copy(const Part& part, int64_t last_time_step, bool to_value,
            const Box& box) const;

  const TileProgram& program_;
  const TilePlan& plan_;
  const IndexVector& tile_;
  std::vector<FieldTimeSteps>& fields_;
  KernelCall& call_;
  std::vector<Part> coefficients_;
  std::vector<Part> reads_;  // of the other fields
  int64_t read_time_step_ = 0;
  int64_t read_to_ = INT64_MIN;  // plane
  // Parts given as computed: cores go to this tile's next task, strips are
  // copied for the tiles beside it.
  std::vector<Part> cores_;
  std::vector<Part> strips_;
  std::vector<Part> copies_;  // of the other fields
  int64_t given_time_step_ = 0;
  int64_t given_to_ = INT64_MIN;
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_TILE_CARRY_H_
