#include "apps/cholesky/verify.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "apps/tiles/blas_kernels.h"
#include "apps/tiles/tile_call.h"
#include "apps/verify/asymmetry.h"
#include "apps/verify/input_matrix.h"
#include "apps/verify/kernel_calls.h"
#include "apps/verify/parts.h"
#include "apps/verify/scale.h"
#include "apps/verify/square_sum.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"
#include "runtime/graph/relations.h"

namespace dogged {
namespace {

// The place of tile (i, j) in a lower triangle of tiles, row by row.
size_t Offset(size_t i, size_t j) { return i * (i + 1) / 2 + j; }

// The labels of a Cholesky program, by Offset().
struct Form {
  std::vector<Label> a;
  std::vector<Label> l;
  int64_t tile_rows = 0;

  const Label& TileOfA(int64_t i, int64_t j) const {
    return a[Offset(static_cast<size_t>(i), static_cast<size_t>(j))];
  }
  const Label& TileOfL(int64_t i, int64_t j) const {
    return l[Offset(static_cast<size_t>(i), static_cast<size_t>(j))];
  }
};

// Fills in row `row` of L, from the updates of its diagonal tile; false if that
// is no row of this factorisation.
bool AddRow(const KernelCalls& calls, const FactorStep& factor, Form& form) {
  const auto row = static_cast<size_t>(form.tile_rows);
  for (size_t k = 0; k < row; ++k) {
    const Label& tile = factor.history.steps[k].in[1];
    const auto panel = calls.MakerOf(tile);
    if (!panel.has_value() || panel->kernel != "trsm" ||
        panel->in[0] != form.l[Offset(k, k)] ||
        !calls.relations().IsResult(tile)) {
      return false;
    }
    const auto history = calls.HistoryOf(panel->in[1], "gemm");
    if (!history.has_value() || history->steps.size() != k) return false;
    for (size_t q = 0; q < k; ++q) {
      const KernelCalls::Call& update = history->steps[q];
      if (update.in[1] != form.l[Offset(row, q)] ||
          update.in[2] != form.l[Offset(k, q)]) {
        return false;
      }
    }
    form.l.push_back(tile);
    form.a.push_back(history->origin);
  }
  form.l.push_back(factor.call.out[0]);
  form.a.push_back(factor.history.origin);
  ++form.tile_rows;
  return true;
}

std::optional<Form> FormOf(const Relations& relations) {
  const KernelCalls calls(relations);
  const auto steps = FindFactorSteps(calls, "potrf", "syrk");
  if (!steps.has_value()) return std::nullopt;
  Form form;
  for (const FactorStep& step : *steps) {
    if (!AddRow(calls, step, form)) return std::nullopt;
  }
  return form;
}

// Sums of squares over a row of tiles: of A, and of A - LL'.
struct RowSums {
  SquareSum a;
  SquareSum rest;

  void Add(const RowSums& other) {
    a.Add(other.a);
    rest.Add(other.rest);
  }
};

// Adds the squares of a symmetric matrix's elements in tile (i, j): one off the
// diagonal stands for two, and above it none counts.
void AddTile(const Value& tile, bool is_diagonal, SquareSum& sum) {
  const int64_t columns = tile.shape()[1];
  const absl::Span<const double> elements = tile.span<double>();
  for (int64_t r = 0; r < tile.shape()[0]; ++r) {
    const auto row = elements.subspan(static_cast<size_t>(r * columns),
                                      static_cast<size_t>(columns));
    const auto limit = static_cast<size_t>(is_diagonal ? r : columns);
    sum.Add(row.first(limit), 2);
    if (is_diagonal) sum.Add(row.subspan(limit, 1));
  }
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
  std::vector<int64_t> firsts;  // of these rows, in the matrix
  int64_t order = 0;
  // Element type of the tiles as they were found; `tiles` holds doubles.
  ElementType type = ElementType::kDouble;

  const Value& tile(int64_t i, int64_t j) const {
    return tiles[i * (i + 1) / 2 + j];
  }
  int64_t rows_of(int64_t i) const { return rows[i]; }
  // The row where tile row i begins.
  int64_t first(int64_t i) const { return firsts[i]; }
};

absl::StatusOr<Factor> LookUp(const Program& program, const Form& form,
                              TileLookup lookup) {
  Factor out;
  for (int64_t i = 0; i < form.tile_rows; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      DOGGED_ASSIGN_OR_RETURN(Value tile, lookup(form.TileOfL(i, j)));
      out.tiles.push_back(std::move(tile));
    }
    const Value& diagonal = out.tiles.back();
    const bool is_matrix = !diagonal.IsNone() && diagonal.shape().size() == 2;
    if (is_matrix) out.type = diagonal.type();
    out.rows.push_back(is_matrix ? diagonal.shape()[0] : 0);
    out.firsts.push_back(out.order);
    out.order += out.rows.back();
    for (int64_t j = 0; j <= i; ++j) {
      Value& tile =
          out.tiles[Offset(static_cast<size_t>(i), static_cast<size_t>(j))];
      DOGGED_ASSIGN_OR_RETURN(
          tile, InDoubles(program, form.TileOfL(i, j), std::move(tile),
                          out.rows_of(i), out.rows_of(j)));
    }
  }
  return out;
}

// sum += factor * A * x, by the tile (i, j) of a symmetric A, and by the one
// that mirrors it.
void AddProduct(const Value& tile, int64_t row, int64_t column, double factor,
                const std::vector<double>& x, std::vector<double>& sum) {
  const blas::ConstMatrix a = MatrixOf(tile);
  for (int64_t i = 0; i < RowCount(tile); ++i) {
    const auto r = static_cast<size_t>(row + i);
    const int64_t limit = row == column ? i + 1 : ColumnCount(tile);
    for (int64_t j = 0; j < limit; ++j) {
      const auto c = static_cast<size_t>(column + j);
      sum[r] += factor * a(i, j) * x[c];
      if (r != c) sum[c] += factor * a(i, j) * x[r];
    }
  }
}

// x = inverse(L') * inverse(L) * x, row by row of L and back.
void Solve(const Factor& factor, std::vector<double>& x) {
  const auto tile_rows = std::ssize(factor.rows);
  const auto part = [&](int64_t i) { return x.data() + factor.first(i); };
  for (int64_t i = 0; i < tile_rows; ++i) {
    for (int64_t k = 0; k <= i; ++k) {
      const blas::ConstMatrix l = MatrixOf(factor.tile(i, k));
      const double* const known = part(k);
      double* const sums = part(i);
      for (int64_t r = 0; r < factor.rows_of(i); ++r) {
        const int64_t limit = i == k ? r : factor.rows_of(k);
        for (int64_t j = 0; j < limit; ++j) sums[r] -= l(r, j) * known[j];
        if (i == k) sums[r] /= l(r, r);
      }
    }
  }
  for (int64_t i = tile_rows - 1; i >= 0; --i) {
    for (int64_t k = i; k >= 0; --k) {
      const blas::ConstMatrix l = MatrixOf(factor.tile(i, k));
      double* const known = part(i);
      double* const sums = part(k);
      for (int64_t r = factor.rows_of(i) - 1; r >= 0; --r) {
        if (i == k) known[r] /= l(r, r);
        const int64_t limit = i == k ? r : factor.rows_of(k);
        for (int64_t j = 0; j < limit; ++j) sums[j] -= l(r, j) * known[r];
      }
    }
  }
}

// All that the parts of a check need.
struct Case {
  const Job& job;
  const KernelTable& kernels;
  const Form& form;
  const Factor& factor;
  int threads;
  Relations relations;
  Scale scale;
  // By row of tiles.
  std::vector<std::vector<double>> products;

  // A tile of A, scaled, and held nowhere else.
  absl::StatusOr<Value> Make(int64_t i, int64_t j) const {
    const Label& label = form.TileOfA(i, j);
    DOGGED_ASSIGN_OR_RETURN(Value a, MakeTile(relations, kernels, label));
    DOGGED_ASSIGN_OR_RETURN(a, InDoubles(job.program, label, std::move(a),
                                         factor.rows_of(i), factor.rows_of(j)));
    a = TakeOrCopy(a);
    scale.Apply(a.mutable_span<double>());
    return a;
  }
};

using VisitTile = absl::FunctionRef<absl::Status(int64_t, int64_t, Value)>;

// sum += sign * A * vector; calls visit(i, j, tile of A) for the lower
// triangle, its rows of tiles at once.
absl::Status Multiply(Case& it, double sign, const std::vector<double>& vector,
                      std::vector<double>& sum, VisitTile visit) {
  const Factor& factor = it.factor;
  const auto add_row = [&](int64_t i) -> absl::Status {
    std::vector<double>& product = it.products[i];
    product.assign(static_cast<size_t>(factor.first(i) + factor.rows_of(i)), 0);
    for (int64_t j = 0; j <= i; ++j) {
      DOGGED_ASSIGN_OR_RETURN(Value a, it.Make(i, j));
      AddProduct(a, factor.first(i), factor.first(j), sign, vector, product);
      DOGGED_RETURN_IF_ERROR(visit(i, j, std::move(a)));
    }
    return absl::OkStatus();
  };
  DOGGED_RETURN_IF_ERROR(ForEachPart(it.form.tile_rows, it.threads, add_row));
  AddInOrder(it.products, sum);
  return absl::OkStatus();
}

// The scale of A's lower triangle; the factor is scaled with it.
absl::Status SetScale(Case& it, Factor& factor) {
  std::vector<double> largest(it.products.size());
  const auto look_at_row = [&](int64_t i) -> absl::Status {
    double& row_largest = largest[i];
    for (int64_t j = 0; j <= i; ++j) {
      DOGGED_ASSIGN_OR_RETURN(const Value a, it.Make(i, j));
      for (int64_t r = 0; r < RowCount(a); ++r) {
        const auto columns = static_cast<size_t>(ColumnCount(a));
        const auto row = a.span<double>().subspan(
            static_cast<size_t>(r) * columns,
            i == j ? static_cast<size_t>(r) + 1 : columns);
        row_largest = std::max(row_largest, LargestOf(row));
      }
    }
    return absl::OkStatus();
  };
  DOGGED_RETURN_IF_ERROR(
      ForEachPart(it.form.tile_rows, it.threads, look_at_row));
  it.scale = Scale::For(LargestOf(largest));
  if (it.scale.IsOne()) return absl::OkStatus();
  for (Value& tile : factor.tiles) {
    tile = tile.Copy();
    it.scale.Root().Apply(tile.mutable_span<double>());
  }
  return absl::OkStatus();
}

// As AsymmetryOf(), of the array that was given for the matrix of `tile`.
std::string AsymmetryOfGiven(const Job& job, const Label& tile) {
  const std::string& name = job.program.arrays[tile.array].name;
  for (const JobInput& input : job.inputs) {
    if (input.array == name) return AsymmetryOf(name, input.content);
  }
  return "";
}

}  // namespace

bool IsCholesky(const Program& program) {
  return FormOf(Relations(program)).has_value();
}

absl::StatusOr<Verdict> VerifyCholesky(const Job& job,
                                       const KernelTable& kernels,
                                       TileLookup lookup, int threads) {
  const Relations relations(job.program);
  const std::optional<Form> form = FormOf(relations);
  if (!form.has_value()) {
    return absl::FailedPreconditionError("the program is no Cholesky");
  }
  DOGGED_ASSIGN_OR_RETURN(Factor factor, LookUp(job.program, *form, lookup));
  std::vector<RowSums> rows(static_cast<size_t>(form->tile_rows));
  Case it{.job = job,
          .kernels = kernels,
          .form = *form,
          .factor = factor,
          .threads = threads,
          .relations = relations,
          .products = std::vector<std::vector<double>>(rows.size())};
  DOGGED_RETURN_IF_ERROR(SetScale(it, factor));
  KernelRegistry registry;
  AddBlasKernels(registry);
  const NativeKernel& gemm = *registry.Find("gemm");
  std::vector<double> b(static_cast<size_t>(factor.order), 0);
  const auto judge = [&](int64_t i, int64_t j, Value rest) -> absl::Status {
    RowSums& row = rows[i];
    if (j == 0) row = {};  // it may be the second time
    AddTile(rest, i == j, row.a);
    for (int64_t k = 0; k <= j; ++k) {
      DOGGED_RETURN_IF_ERROR(
          Subtract(gemm, factor.tile(i, k), factor.tile(j, k), rest));
    }
    AddTile(rest, i == j, row.rest);
    return absl::OkStatus();
  };
  DOGGED_RETURN_IF_ERROR(
      Multiply(it, 1, KnownSolution(factor.order), b, judge));
  RowSums sum;
  for (const RowSums& row : rows) sum.Add(row);
  std::vector<double> x = b;
  Solve(factor, x);
  DOGGED_RETURN_IF_ERROR(Multiply(
      it, -1, x, b,
      [](int64_t, int64_t, const Value&) { return absl::OkStatus(); }));
  const double unit =
      static_cast<double>(factor.order) * sum.a.Root() * EpsilonOf(factor.type);
  Verdict verdict{.type = factor.type,
                  .residual = sum.rest.Root() / unit,
                  .solve_error = NormOf(b) / unit / NormOf(x)};
  verdict.unread = AsymmetryOfGiven(job, form->TileOfA(0, 0));
  if (!std::isfinite(verdict.solve_error)) {
    verdict.unsolved = "the solution is not finite";
  }
  return verdict;
}

}  // namespace dogged
