#include "apps/tiles/numeric_class.h"

#include <gnu/libc-version.h>

#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

// Counts the changes of our own tile kernels that change bits.
constexpr int kTileKernels = 2;

}  // namespace

std::string NumericClass(absl::string_view blas) {
  std::string out = absl::StrCat(blas, "; tiles ", kTileKernels, "; glibc ",
                                 gnu_get_libc_version(), ";");
#if defined(__x86_64__)
  // The builtin takes nothing but literals.
  if (__builtin_cpu_supports("avx")) absl::StrAppend(&out, " avx");
  if (__builtin_cpu_supports("avx2")) absl::StrAppend(&out, " avx2");
  if (__builtin_cpu_supports("fma")) absl::StrAppend(&out, " fma");
  if (__builtin_cpu_supports("fma4")) absl::StrAppend(&out, " fma4");
  if (__builtin_cpu_supports("avx512f")) absl::StrAppend(&out, " avx512f");
#elif defined(__aarch64__)
  absl::StrAppend(&out, " aarch64");
#else
  absl::StrAppend(&out, " other");
#endif
  return out;
}

}  // namespace dogged
