// PlainTiles: a matrix in tiles as any library has it, column-major, with
// OpenBLAS's own kernels, for peers of the Cholesky benchmark. None of our
// code.
#ifndef DOGGED_APPS_DOGGED_BENCH_PLAIN_TILES_H_
#define DOGGED_APPS_DOGGED_BENCH_PLAIN_TILES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace dogged {

class PlainTiles {
 public:
  // The lower tiles of a positive definite n x n matrix, generated.
  PlainTiles(int64_t n, int64_t tile_size);

  int rows() const { return rows_; }
  int extent(int i) const;
  double* At(int i, int j) { return tiles_[i * (i + 1) / 2 + j].data(); }

 private:
  const int64_t n_;
  const int64_t tile_size_;
  const int rows_;
  std::vector<std::vector<double>> tiles_;
};

// Leading dimensions are the tiles' rows.
void PlainPotrf(int n, double* a);
void PlainTrsm(int m, int n, const double* l, double* a);
void PlainSyrk(int n, int k, const double* a, double* c);
void PlainGemm(int m, int n, int k, const double* a, const double* b,
               double* c);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_PLAIN_TILES_H_
