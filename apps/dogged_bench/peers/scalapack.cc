// ScaLAPACK's pdpotrf, a peer of the Cholesky benchmark that runs by mpirun:
// dogged-bench-scalapack N NB. Process 0 prints the seconds of one run, after
// another to warm up. The processes form a single column.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

extern "C" {
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
int numroc_(const int* n, const int* nb, const int* at, const int* first,
            const int* count);
void descinit_(int* descriptor, const int* m, const int* n, const int* mb,
               const int* nb, const int* row, const int* column,
               const int* context, const int* lld, int* info);
void pdpotrf_(const char* uplo, const int* n, double* a, const int* i,
              const int* j, const int* descriptor, int* info);
}

namespace {

// Seconds to factor a diagonally dominant matrix.
double Factor(int n, int nb, int rank, int ranks, int context) {
  const int zero = 0;
  const int one = 1;
  const int rows = numroc_(&n, &nb, &rank, &zero, &ranks);
  int info = 0;
  int descriptor[9];
  descinit_(descriptor, &n, &n, &nb, &nb, &zero, &zero, &context, &rows, &info);
  std::vector<double> a(static_cast<size_t>(rows) * static_cast<size_t>(n));
  for (int local = 0; local < rows; ++local) {
    const int i = (local / nb * ranks + rank) * nb + local % nb;
    for (int j = 0; j < n; ++j) {
      const double x = 1.0 / (1 + (i > j ? i - j : j - i)) - 0.5;
      a[static_cast<size_t>(j) * static_cast<size_t>(rows) +
        static_cast<size_t>(local)] = i == j ? n : x;
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  pdpotrf_("L", &n, a.data(), &one, &one, descriptor, &info);
  MPI_Barrier(MPI_COMM_WORLD);
  return info == 0 ? MPI_Wtime() - start : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int n = argc > 1 ? std::atoi(argv[1]) : 1024;
  const int nb = argc > 2 ? std::atoi(argv[2]) : 128;
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int context = 0;
  Cblacs_get(-1, 0, &context);
  Cblacs_gridinit(&context, "C", ranks, 1);
  Factor(n, nb, rank, ranks, context);
  const double seconds = Factor(n, nb, rank, ranks, context);
  if (rank == 0) std::printf("%.6f\n", seconds);
  MPI_Finalize();
  return 0;
}
