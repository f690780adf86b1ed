// The 2-D heat equation as one writes it by hand for MPI, a peer of the hosts
// benchmark: dogged-bench-halo N T. Slabs of rows, a naive loop over each, rows
// at the edges exchanged by non-blocking messages while the inside is computed.
// Process 0 prints the seconds of one run, from the start values to the sum.
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

namespace {

class Slab {
 public:
  Slab(int n, int rank, int ranks)
      : n_(n),
        first_(static_cast<int>(static_cast<long long>(n) * rank / ranks)),
        last_(static_cast<int>(static_cast<long long>(n) * (rank + 1) / ranks)),
        before_(rank > 0 ? rank - 1 : MPI_PROC_NULL),
        after_(rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL),
        now_(static_cast<size_t>(last_ - first_ + 2) * static_cast<size_t>(n)),
        next_(now_.size()) {
    for (int x = first_; x < last_; ++x) {
      for (int y = 0; y < n; ++y) {
        const bool is_inside = x > 0 && x < n - 1 && y > 0 && y < n - 1;
        Row(now_, x)[y] =
            is_inside ? std::sin(3.0 * x / n) * std::cos(5.0 * y / n) : 0;
      }
    }
  }

  void Step() {
    MPI_Request requests[4];
    MPI_Irecv(Row(now_, first_ - 1), n_, MPI_DOUBLE, before_, 0, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Irecv(Row(now_, last_), n_, MPI_DOUBLE, after_, 0, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Isend(Row(now_, first_), n_, MPI_DOUBLE, before_, 0, MPI_COMM_WORLD,
              &requests[2]);
    MPI_Isend(Row(now_, last_ - 1), n_, MPI_DOUBLE, after_, 0, MPI_COMM_WORLD,
              &requests[3]);
    for (int x = first_ + 1; x < last_ - 1; ++x) Compute(x);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    Compute(first_);
    if (last_ - 1 > first_) Compute(last_ - 1);
    std::swap(now_, next_);
  }

  double Sum() {
    double sum = 0;
    for (int x = first_; x < last_; ++x) {
      for (int y = 0; y < n_; ++y) sum += Row(now_, x)[y];
    }
    return sum;
  }

 private:
  double* Row(std::vector<double>& field, int x) const {
    return field.data() +
           static_cast<size_t>(x - first_ + 1) * static_cast<size_t>(n_);
  }

  void Compute(int x) {
    if (x == 0 || x == n_ - 1) return;  // the frame stays at zero
    const double* const west = Row(now_, x - 1);
    const double* const c = Row(now_, x);
    const double* const east = Row(now_, x + 1);
    double* const out = Row(next_, x);
    for (int y = 1; y < n_ - 1; ++y) {
      out[y] =
          c[y] + 0.2 * (west[y] + east[y] + c[y - 1] + c[y + 1] - 4 * c[y]);
    }
  }

  const int n_;
  const int first_;  // row
  const int last_;   // behind the last row
  const int before_;
  const int after_;
  std::vector<double> now_;
  std::vector<double> next_;
};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int n = argc > 1 ? std::atoi(argv[1]) : 1024;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 100;
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  Slab slab(n, rank, ranks);
  for (int t = 0; t < steps; ++t) slab.Step();
  double mine = slab.Sum();
  double sum = 0;
  MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("%.6f\n", MPI_Wtime() - start);
    std::fprintf(stderr, "sum %.17g\n", sum);
  }
  MPI_Finalize();
  return 0;
}
