// TileProgramMaker: writes a tile plan down as a dependency description, arrays
// and task classes over tiles and blocks. Internal to coalesce.
#ifndef DOGGED_DSL_TILING_TILE_PROGRAM_MAKER_H_
#define DOGGED_DSL_TILING_TILE_PROGRAM_MAKER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "dsl/ir/point_program.h"
#include "dsl/ir/tile_plan.h"
#include "dsl/ir/tile_role.h"
#include "dsl/tiling/tile_program_results.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

class TileProgramMaker {
 public:
  TileProgramMaker(const PointProgram& points, const TilePlan& plan,
                   const TargetSize& target)
      : points_(points),
        plan_(plan),
        target_(target),
        results_(points, plan, program_) {}
  Program Make();

 private:
  int32_t dims() const { return plan_.dim_count(); }
  int32_t AddArray(const std::string& name, ElementType element, bool blocks,
                   bool versions, const TileField& field);
  void AddArrays();
  void FindScalarInputs();
  // The static fields that a task of that role reads.
  std::vector<Use> StaticUses(const TileRole& role) const;
  void AddStaticClass(int32_t stage);
  void AddStartClass();
  void AddStepClasses();
  void AddClass(const std::string& name, TaskClass task_class, TileRole role);
  // The tiles of every dimension; with block numbers behind if first <= last.
  Domain Tiles(int64_t first_block, int64_t last_block) const;
  std::vector<int64_t> AffinityOf(const TileField& field,
                                  bool has_blocks) const;

  const PointProgram& points_;
  const TilePlan& plan_;
  const TargetSize& target_;
  Program program_;
  std::vector<IndexVector> directions_;
  // By field: its arrays; -1 where there is none.
  std::vector<int32_t> window_arrays_;
  std::vector<int32_t> core_arrays_;
  std::vector<std::vector<int32_t>> strip_arrays_;
  std::vector<int32_t> scalar_input_arrays_;
  TileProgramResults results_;
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_TILE_PROGRAM_MAKER_H_
