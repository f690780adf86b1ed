// TileProgramResults: the results of a tile program: their labels, and the
// tasks that create them. Internal to coalesce.
#ifndef DOGGED_DSL_TILING_TILE_PROGRAM_RESULTS_H_
#define DOGGED_DSL_TILING_TILE_PROGRAM_RESULTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
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

class TileProgramResults {
 public:
  TileProgramResults(const PointProgram& points, const TilePlan& plan,
                     Program& program)
      : points_(points), plan_(plan), program_(program) {}

  // Adds an array for a result of a field; its position in the program.
  using AddResultArray =
      absl::FunctionRef<int32_t(const std::string& name, const TileField&)>;
  // Adds all results to the program. Before all functions below.
  void Add(const AddResultArray& add_array);
  const std::vector<WantedResult>& wanted() const { return wanted_; }

  // Adds the results that a task class makes, of which `block` is the block and
  // `first_block` the first one; or else, static ones of the role's stage.
  void AddCreates(int64_t first_block, bool is_static,
                  std::optional<AffineExpr> block, TaskClass& task_class,
                  TileRole& role) const;
  // Adds the results of each block that the start task computes.
  void AddStartCreates(TaskClass& task_class, TileRole& role) const;

  // If some field is wanted everywhere at the end, the last task of every tile
  // is needed, and with it all before, each for the core that it gives.
  bool IsEveryTaskNeeded() const;

 private:
  int32_t dims() const { return plan_.dim_count(); }
  void AddBlocks(const PointResult& result, WantedResult& wanted,
                 ResultView& view, ResultSet& set) const;
  Repeat::ResultTime TimeOfResult(const PointResult& result,
                                  bool is_static) const;

  const PointProgram& points_;
  const TilePlan& plan_;
  Program& program_;
  std::vector<WantedResult> wanted_;
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TILING_TILE_PROGRAM_RESULTS_H_
