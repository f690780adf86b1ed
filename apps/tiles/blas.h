// The few BLAS routines that tile kernels stand on (adapter to OpenBLAS).
// Matrices are row-major; `stride` is the distance of their rows. Thread-safe.
#ifndef DOGGED_APPS_TILES_BLAS_H_
#define DOGGED_APPS_TILES_BLAS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "apps/tiles/micro_kernels.h"

namespace dogged::blas {

// A matrix within a larger one. The extents are arguments of the routines.
struct Matrix {
  double* data = nullptr;
  int64_t stride = 0;

  double& operator()(int64_t i, int64_t j) const {
    return data[i * stride + j];
  }
  double* row(int64_t i) const { return data + i * stride; }
  // The block that begins at (i, j).
  Matrix At(int64_t i, int64_t j) const {
    return {data + i * stride + j, stride};
  }
};
struct ConstMatrix {
  // NOLINTNEXTLINE(google-explicit-constructor): as a pointer to const is.
  ConstMatrix(Matrix m) : data(m.data), stride(m.stride) {}
  ConstMatrix(const double* d, int64_t s) : data(d), stride(s) {}
  const double* data;
  int64_t stride;

  double operator()(int64_t i, int64_t j) const { return data[i * stride + j]; }
  const double* row(int64_t i) const { return data + i * stride; }
  ConstMatrix At(int64_t i, int64_t j) const {
    return {data + i * stride + j, stride};
  }
};

// Where the left factor of a product holds zeros.
enum class Zeros { kNowhere, kAboveDiagonal, kBelowDiagonal };

// The extents of a product: c is m x n, and k is the index of the sums.
struct Extents {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  // Zeros may be left out of the sums. For a product with a', they are those of
  // a'.
  Zeros zeros = Zeros::kNowhere;
};

// c = factor * a * b + keep * c. With keep == 0, c is not read.
void Product(const Extents& extents, double factor, ConstMatrix a,
             ConstMatrix b, double keep, Matrix c);
// c = factor * a * b' + keep * c.
void ProductTransposed(const Extents& extents, double factor, ConstMatrix a,
                       ConstMatrix b, double keep, Matrix c);
// c = factor * a' * b + keep * c.
void TransposedProduct(const Extents& extents, double factor, ConstMatrix a,
                       ConstMatrix b, double keep, Matrix c);
// c = c - a * a' in the lower triangle; c is n x n, a is n x k.
void SubtractSquare(int64_t n, int64_t k, ConstMatrix a, Matrix c);

// Loads OpenBLAS. Each call has one thread, for workers each run their own. Its
// kernels are those for the widest vectors that the processor has where
// OpenBLAS does not know it, unless OPENBLAS_CORETYPE says otherwise (see
// ADR-23). Once a process, before the first call of the above, by the
// thread that will start the others.
//
// Errors: kFailedPrecondition if it can't be loaded; kResourceExhausted if that
//         may be so for want of addresses (ulimit -v).
absl::Status SetUp();
// Reserves memory where addresses are limited: so many threads may call at a
// time from now on. A call that found none would try for ever. Errors:
// kResourceExhausted, with how much would do.
absl::Status Reserve(int callers);
// "OpenBLAS 0.3.21 Haswell": version and the core whose kernels it chose.
std::string Name();
// Products are our own kernels', none OpenBLAS's.
bool OwnProductsAreFaster();
// SubtractSquare() is our own kernels'.
bool HasOwnSquares();
// Our own kernels that suit this processor.
const MicroKernels& OwnKernels();

}  // namespace dogged::blas

#endif  // DOGGED_APPS_TILES_BLAS_H_
