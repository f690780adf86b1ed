#include "apps/tiles/blas.h"

#include <cblas.h>

#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

// OpenBLAS chooses its kernels with these when it is loaded; they are in every
// build for several processors, and in no header.
extern "C" {
void gotoblas_dynamic_init(void) __attribute__((weak));
void gotoblas_dynamic_quit(void) __attribute__((weak));
}

namespace dogged::blas {
namespace {

int Int(int64_t x) { return static_cast<int>(x); }

// What OpenBLAS's kernels for SkylakeX use.
bool HasWideVectors() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512cd") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
#else
  return false;
#endif
}

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

void SetUp() {
  openblas_set_num_threads(1);
  const absl::string_view core = openblas_get_corename();
  const bool is_narrow = core == "Haswell" || core == "Zen";
  const bool can_choose =
      gotoblas_dynamic_init != nullptr && gotoblas_dynamic_quit != nullptr;
  if (!is_narrow || !can_choose || !HasWideVectors()) return;
  // Does nothing if the user has set it: then the same kernels are chosen.
  setenv("OPENBLAS_CORETYPE", "SkylakeX", /*overwrite=*/0);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
}

std::string Name() {
  // "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ...".
  const std::vector<std::string> words =
      absl::StrSplit(openblas_get_config(), ' ');
  return absl::StrCat(words[0], " ", words.size() > 1 ? words[1] : "", " ",
                      openblas_get_corename());
}

const MicroKernels& SolveKernels() {
  return MicroKernelsOf(openblas_get_corename());
}

}  // namespace dogged::blas
