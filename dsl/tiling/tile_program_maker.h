// TileProgramMaker: writes a tile plan down as a dependency description, arrays
// and task classes over tiles and blocks. Internal to coalesce.
#ifndef DOGGED_DSL_TILING_TILE_PROGRAM_MAKER_H_
#define DOGGED_DSL_TILING_TILE_PROGRAM_MAKER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dsl/ir/point_program.h"
#include "dsl/ir/tile_plan.h"
#include "dsl/ir/tile_role.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {

// A result, and the blocks whose tasks create labels of it.
struct WantedResult {
  TileResult result;
  int32_t array = 0;
  int64_t first_block = 0;
  int64_t last_block = 0;
};

class TileProgramMaker {
 public:
  TileProgramMaker(const PointProgram& points, const TilePlan& plan,
                   const TargetSize& target)
      : points_(points), plan_(plan), target_(target) {}
  Program Make();

 private:
  int32_t dims() const { return plan_.dim_count(); }
  int32_t AddArray(const std::string& name, ElementType element, bool blocks,
                   bool versions, const TileField& field);
  void AddArrays();
  void AddResults();
  void AddBlocks(const PointResult& result, WantedResult& wanted,
                 ResultView& view, ResultSet& set) const;
  Repeat::ResultTime TimeOfResult(const PointResult& result,
                                  bool is_static) const;
  // The last time step of a block, given by index dims().
  AffineExpr BlockEnd() const {
    return AffineExpr::Index(dims()) * plan_.depth +
           AffineExpr::Constant(plan_.base_level);
  }
  void FindScalarInputs();
  // The static fields that a task of that role reads.
  std::vector<Use> StaticUses(const TileRole& role) const;
  void AddStaticClass(int32_t stage);
  void AddStartClass();
  void AddStepClasses();
  void AddClass(const std::string& name, TaskClass task_class, TileRole role);
  // The tiles of every dimension; with block numbers behind if first <= last.
  Domain Tiles(int64_t first_block, int64_t last_block) const;
  AffineMap TileMap(std::optional<AffineExpr> block,
                    const IndexVector* minus = nullptr) const;
  void AddResultCreates(int64_t first_block, bool is_static,
                        std::optional<AffineExpr> block, TaskClass& task_class,
                        TileRole& role) const;
  void AddStartResults(TaskClass& task_class, TileRole& role) const;
  bool IsEveryTaskNeeded() const;
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
  std::vector<WantedResult> wanted_;
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_TILE_PROGRAM_MAKER_H_
