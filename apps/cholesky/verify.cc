#include "apps/cholesky/verify.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "apps/tiles/blas_kernels.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"
#include "runtime/graph/relations.h"

namespace dogged {
namespace {

// The two arrays of a Cholesky program by position, and its rows of tiles.
struct Form {
  int32_t a = 0;
  int32_t l = 0;
  int64_t tile_rows = 0;

  Label TileOfA(int64_t i, int64_t j) const { return {a, {i, j, 0}}; }
  Label TileOfL(int64_t i, int64_t j) const { return {l, {i, j}}; }
};

std::optional<int32_t> FindMatrix(const Program& program,
                                  absl::string_view name, int32_t rank) {
  const std::optional<int32_t> array = program.FindArray(name);
  if (!array.has_value()) return std::nullopt;
  const Array& found = program.arrays[static_cast<size_t>(*array)];
  if (found.rank != rank || found.element != ElementType::kDouble) {
    return std::nullopt;
  }
  return array;
}

// The task that makes a tile of A out of nothing; none if there is none.
std::optional<Task> InputTask(const Relations& relations, const Label& tile) {
  std::optional<Task> task = relations.ProducerOf(tile);
  if (!task.has_value() || relations.RequiredCount(*task) != 0) {
    return std::nullopt;
  }
  return task;
}

std::optional<Form> FormOf(const Relations& relations) {
  const Program& program = relations.program();
  const std::optional<int32_t> a = FindMatrix(program, "A", 3);
  const std::optional<int32_t> l = FindMatrix(program, "L", 2);
  if (!a.has_value() || !l.has_value()) return std::nullopt;
  Form form{.a = *a, .l = *l};
  // Stops at the first row that is no row of a triangle.
  for (bool is_row = true; is_row;) {
    const int64_t i = form.tile_rows;
    for (int64_t j = 0; j <= i && is_row; ++j) {
      is_row = relations.IsResult(form.TileOfL(i, j)) &&
               InputTask(relations, form.TileOfA(i, j)).has_value();
    }
    if (is_row) ++form.tile_rows;
  }
  const int64_t rows = form.tile_rows;
  if (rows == 0 || program.ResultCount() != rows * (rows + 1) / 2) {
    return std::nullopt;
  }
  const std::optional<Task> first = relations.ProducerOf(form.TileOfL(0, 0));
  bool is_factored = first.has_value() && relations.RequiredCount(*first) == 1;
  if (is_factored) {
    relations.ForEachRequired(*first, [&](int, const Label& label) {
      is_factored = label == form.TileOfA(0, 0);
    });
  }
  return is_factored ? std::optional<Form>(form) : std::nullopt;
}

absl::Status CheckShape(const Program& program, const Label& label,
                        const Value& tile, int64_t rows, int64_t columns) {
  const bool fits = !tile.IsNone() && tile.type() == ElementType::kDouble &&
                    tile.shape() == Shape({rows, columns});
  if (fits) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(program.LabelText(label), " is no ", rows, " x ", columns,
                   " matrix of doubles"));
}

absl::StatusOr<Value> MakeTile(const Relations& relations,
                               const KernelTable& kernels, const Label& label) {
  const std::optional<Task> task = InputTask(relations, label);
  DOGGED_CHECK(task.has_value());
  const TaskClass& task_class =
      relations.program().classes[static_cast<size_t>(task->task_class)];
  std::vector<Value> inputs(task_class.uses.size());
  std::vector<Value> outputs(task_class.creates.size());
  KernelCall call{.task = *task,
                  .inputs = absl::MakeSpan(inputs),
                  .outputs = absl::MakeSpan(outputs)};
  DOGGED_RETURN_IF_ERROR(
      Annotate(kernels[static_cast<size_t>(task_class.kernel)]->Run(call),
               relations.program().TaskText(*task)));
  Value tile;
  relations.ForEachCreated(*task, [&](int create, const Label& created) {
    if (created == label) tile = outputs[static_cast<size_t>(create)];
  });
  outputs.clear();  // so that `tile` is held once and updated in place
  return tile;
}

// The sum of squares of a symmetric matrix's elements in tile (i, j): one off
// the diagonal stands for two, and above it none counts.
double SquareSum(const Value& tile, bool is_diagonal) {
  const int64_t rows = tile.shape()[0];
  const int64_t columns = tile.shape()[1];
  const absl::Span<const double> elements = tile.span<double>();
  double twice = 0;
  double once = 0;
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t limit = is_diagonal ? r : columns;
    for (int64_t c = 0; c < limit; ++c) {
      const double x = elements[static_cast<size_t>(r * columns + c)];
      twice += x * x;
    }
    if (is_diagonal) {
      const double x = elements[static_cast<size_t>(r * columns + r)];
      once += x * x;
    }
  }
  return 2 * twice + once;
}

// rest - a * b' in its place.
absl::Status Subtract(const NativeKernel& gemm, const Value& a, const Value& b,
                      Value& rest) {
  Value in[] = {std::move(rest), a, b};
  Value out[1];
  const Shape shape = in[0].shape();
  NativeCall call{.in = absl::MakeSpan(in),
                  .out = absl::MakeSpan(out),
                  .out_shapes = absl::MakeConstSpan(&shape, 1)};
  DOGGED_RETURN_IF_ERROR(gemm.run(call));
  rest = std::move(out[0]);
  return absl::OkStatus();
}

// Row i of L at position i * (i + 1) / 2, and the rows of each diagonal tile.
struct Factor {
  std::vector<Value> tiles;
  std::vector<int64_t> rows;
  int64_t order = 0;

  const Value& tile(int64_t i, int64_t j) const {
    return tiles[static_cast<size_t>(i * (i + 1) / 2 + j)];
  }
  int64_t rows_of(int64_t i) const { return rows[static_cast<size_t>(i)]; }
};

absl::StatusOr<Factor> LookUp(
    const Program& program, const Form& form,
    absl::FunctionRef<absl::StatusOr<Value>(const Label& label)> lookup) {
  Factor out;
  for (int64_t i = 0; i < form.tile_rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      DOGGED_ASSIGN_OR_RETURN(Value tile, lookup(form.TileOfL(i, j)));
      out.tiles.push_back(std::move(tile));
    }
    const Value& diagonal = out.tiles.back();
    const bool is_matrix = !diagonal.IsNone() && diagonal.shape().size() == 2;
    out.rows.push_back(is_matrix ? diagonal.shape()[0] : 0);
    out.order += out.rows.back();
    for (int64_t j = 0; j <= i; ++j) {
      DOGGED_RETURN_IF_ERROR(CheckShape(program, form.TileOfL(i, j),
                                        out.tile(i, j), out.rows_of(i),
                                        out.rows_of(j)));
    }
  }
  return out;
}

}  // namespace

bool IsCholesky(const Program& program) {
  return FormOf(Relations(program)).has_value();
}

absl::StatusOr<double> CholeskyResidual(
    const Job& job, const KernelTable& kernels,
    absl::FunctionRef<absl::StatusOr<Value>(const Label& label)> lookup) {
  const Relations relations(job.program);
  const std::optional<Form> form = FormOf(relations);
  if (!form.has_value()) {
    return absl::FailedPreconditionError("the program is no Cholesky");
  }
  DOGGED_ASSIGN_OR_RETURN(const Factor factor,
                          LookUp(job.program, *form, lookup));
  KernelRegistry registry;
  AddBlasKernels(registry);
  const NativeKernel& gemm = *registry.Find("gemm");
  double a_sum = 0;
  double rest_sum = 0;
  for (int64_t i = 0; i < form->tile_rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      DOGGED_ASSIGN_OR_RETURN(
          Value rest, MakeTile(relations, kernels, form->TileOfA(i, j)));
      DOGGED_RETURN_IF_ERROR(CheckShape(job.program, form->TileOfA(i, j), rest,
                                        factor.rows_of(i), factor.rows_of(j)));
      a_sum += SquareSum(rest, i == j);
      for (int64_t k = 0; k <= j; ++k) {
        DOGGED_RETURN_IF_ERROR(
            Subtract(gemm, factor.tile(i, k), factor.tile(j, k), rest));
      }
      rest_sum += SquareSum(rest, i == j);
    }
  }
  return std::sqrt(rest_sum) /
         (static_cast<double>(factor.order) * std::sqrt(a_sum) *
          std::numeric_limits<double>::epsilon());
}

}  // namespace dogged
