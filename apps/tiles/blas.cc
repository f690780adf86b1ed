#include "apps/tiles/blas.h"

#include <cblas.h>

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace dogged::blas {
namespace {

int Int(int64_t x) { return static_cast<int>(x); }

}  // namespace

void Product(const Extents& extents, double factor, ConstMatrix a,
             ConstMatrix b, double keep, Matrix c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, Int(extents.m),
              Int(extents.n), Int(extents.k), factor, a.data, Int(a.stride),
              b.data, Int(b.stride), keep, c.data, Int(c.stride));
}

void ProductTransposed(const Extents& extents, double factor, ConstMatrix a,
                       ConstMatrix b, double keep, Matrix c) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, Int(extents.m),
              Int(extents.n), Int(extents.k), factor, a.data, Int(a.stride),
              b.data, Int(b.stride), keep, c.data, Int(c.stride));
}

void TransposedProduct(const Extents& extents, double factor, ConstMatrix a,
                       ConstMatrix b, double keep, Matrix c) {
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, Int(extents.m),
              Int(extents.n), Int(extents.k), factor, a.data, Int(a.stride),
              b.data, Int(b.stride), keep, c.data, Int(c.stride));
}

void SubtractSquare(int64_t n, int64_t k, ConstMatrix a, Matrix c) {
  cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, Int(n), Int(k), -1.0,
              a.data, Int(a.stride), 1.0, c.data, Int(c.stride));
}

void UseOneThread() { openblas_set_num_threads(1); }

std::string Name() {
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
  const std::vector<std::string> words =
      absl::StrSplit(openblas_get_config(), ' ');
  return absl::StrCat(words[0], " ", words.size() > 1 ? words[1] : "", " ",
                      openblas_get_corename());
}

}  // namespace dogged::blas
