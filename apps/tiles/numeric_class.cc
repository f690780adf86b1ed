#include "apps/tiles/numeric_class.h"

#include <gnu/libc-version.h>
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif

#include "absl/strings/str_cat.h"
#include "apps/tiles/blas.h"
#include "apps/tiles/micro_kernels.h"

namespace dogged {
namespace {

// Counts the changes of our own tile kernels that change bits.
constexpr int kTileKernels = 3;

std::string ProcessorClass() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "other";
#endif
}

}  // namespace

std::string MathematicsClass() {
  std::string out = absl::StrCat("glibc ", gnu_get_libc_version());
#if defined(CPU_FEATURE_ACTIVE)
  // As it sees them: GLIBC_TUNABLES may have taken some away.
  if (CPU_FEATURE_ACTIVE(AVX)) absl::StrAppend(&out, " avx");
  if (CPU_FEATURE_ACTIVE(AVX2)) absl::StrAppend(&out, " avx2");
  if (CPU_FEATURE_ACTIVE(FMA)) absl::StrAppend(&out, " fma");
  if (CPU_FEATURE_ACTIVE(FMA4)) absl::StrAppend(&out, " fma4");
#elif defined(__x86_64__)
  // The builtin takes nothing but literals.
  if (__builtin_cpu_supports("avx")) absl::StrAppend(&out, " avx");
  if (__builtin_cpu_supports("avx2")) absl::StrAppend(&out, " avx2");
  if (__builtin_cpu_supports("fma")) absl::StrAppend(&out, " fma");
  if (__builtin_cpu_supports("fma4")) absl::StrAppend(&out, " fma4");
#endif
  return out;
}

std::string TilesClass() {
  return absl::StrCat("tiles ", kTileKernels, " of ",
                      blas::OwnKernels().columns / 2, " doubles");
}

std::string ProductsClass() {
  return blas::OwnProductsAreFaster()
             ? TilesClass()
             : absl::StrCat(TilesClass(), "; ", blas::Name());
}

std::string SquaresClass() {
  return blas::HasOwnSquares() ? TilesClass()
                               : absl::StrCat(TilesClass(), "; ", blas::Name());
}

NumericParts NumericPartsHere() {
  const std::string all[] = {ProcessorClass(), MathematicsClass(), TilesClass(),
                             blas::Name()};
  return {.all_jobs = ProcessorClass(),
          .mathematics = MathematicsClass(),
          .host = JoinNumericClasses(all)};
}

}  // namespace dogged
