// Products of matrices over MicroKernels. OpenBLAS's dgemm packs both factors
// anew in each call, at a cost that shows at the size of a tile; here the left
// one is read where it lies unless it is transposed (ADR-23).
//
// Each element is a sum in the order of k, in parts that depend on the extents
// alone. Thread-safe, deterministic.
#ifndef DOGGED_APPS_TILES_PRODUCT_H_
#define DOGGED_APPS_TILES_PRODUCT_H_

#include "apps/tiles/blas.h"
#include "apps/tiles/micro_kernels.h"

namespace dogged {

// c = factor * a * b, plus c if `adds`. Either step of b is 1.
struct ProductTerms {
  double factor = 1;
  Strided a;
  Strided b;
  bool adds = true;
  // Only element (i, j) with j <= i is written.
  bool is_lower = false;
};
void Multiply(const blas::Extents& extents, const ProductTerms& terms,
              blas::Matrix c, const MicroKernels& kernels);

}  // namespace dogged

#endif  // DOGGED_APPS_TILES_PRODUCT_H_
