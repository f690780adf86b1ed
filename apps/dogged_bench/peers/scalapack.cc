// ScaLAPACK's pdpotrf and pdgetrf, peers of the factorization benchmarks that
// run by mpirun: dogged-bench-scalapack potrf|getrf N NB ROWS. Process 0 prints
// the seconds of one run, after another to warm up. The processes form a grid
// of that many rows.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_gridinfo(int context, int* rows, int* columns, int* row,
                     int* column);
int numroc_(const int* n, const int* nb, const int* at, const int* first,
            const int* count);
void descinit_(int* descriptor, const int* m, const int* n, const int* mb,
               const int* nb, const int* row, const int* column,
               const int* context, const int* lld, int* info);
void pdpotrf_(const char* uplo, const int* n, double* a, const int* i,
              const int* j, const int* descriptor, int* info);
void pdgetrf_(const int* m, const int* n, double* a, const int* i, const int* j,
              const int* descriptor, int* pivots, int* info);
}

namespace {

struct Grid {
  int context = 0;
  int rows = 1;
  int columns = 1;
  int row = 0;  // of this process
  int column = 0;
};

// Rows or columns of the matrix, of process `at` of `count` in a line.
int GlobalIndex(int local, int nb, int at, int count) {
  return (local / nb * count + at) * nb + local % nb;
}

// Seconds to factor a diagonally dominant matrix, symmetric.
double Factor(int n, int nb, const Grid& grid, bool is_lu) {
  const int zero = 0;
  const int one = 1;
  const int rows = numroc_(&n, &nb, &grid.row, &zero, &grid.rows);
  const int columns = numroc_(&n, &nb, &grid.column, &zero, &grid.columns);
  const int lld = rows > 0 ? rows : 1;
  int info = 0;
  int descriptor[9];
  descinit_(descriptor, &n, &n, &nb, &nb, &zero, &zero, &grid.context, &lld,
            &info);
  std::vector<double> a(static_cast<size_t>(lld) *
                        static_cast<size_t>(columns));
  for (int c = 0; c < columns; ++c) {
    const int j = GlobalIndex(c, nb, grid.column, grid.columns);
    for (int r = 0; r < rows; ++r) {
      const int i = GlobalIndex(r, nb, grid.row, grid.rows);
      const double x = 1.0 / (1 + (i > j ? i - j : j - i)) - 0.5;
      a[static_cast<size_t>(c) * static_cast<size_t>(lld) +
        static_cast<size_t>(r)] = i == j ? n : x;
    }
  }
  std::vector<int> pivots(static_cast<size_t>(rows + nb));
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  if (is_lu) {
    pdgetrf_(&n, &n, a.data(), &one, &one, descriptor, pivots.data(), &info);
  } else {
    pdpotrf_("L", &n, a.data(), &one, &one, descriptor, &info);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return info == 0 ? MPI_Wtime() - start : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool is_lu = argc > 1 && std::strcmp(argv[1], "getrf") == 0;
  const int n = argc > 2 ? std::atoi(argv[2]) : 1024;
  const int nb = argc > 3 ? std::atoi(argv[3]) : 128;
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rows = argc > 4 ? std::atoi(argv[4]) : ranks;
  Grid grid;
  Cblacs_get(-1, 0, &grid.context);
  Cblacs_gridinit(&grid.context, "R", rows, ranks / rows);
  Cblacs_gridinfo(grid.context, &grid.rows, &grid.columns, &grid.row,
                  &grid.column);
  Factor(n, nb, grid, is_lu);
  const double seconds = Factor(n, nb, grid, is_lu);
  if (grid.row == 0 && grid.column == 0) std::printf("%.6f\n", seconds);
  MPI_Finalize();
  return 0;
}
