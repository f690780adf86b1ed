// Aim: on a processor that OpenBLAS does not know, the kernels for wide vectors
// are used nevertheless, unless the user has chosen; sums stay right.
// Method: started with OPENBLAS_CORETYPE=Haswell and =Prescott, of which
// OpenBLAS chooses one there by itself: the latter for newer processors of
// Intel.
#include <cstdlib>
#include <vector>

#include "apps/tiles/blas.h"
#include "gmock/gmock.h"

namespace dogged {
namespace {

using testing::HasSubstr;
using testing::Not;

void ExpectRightSums() {
  constexpr int64_t kN = 70;
  std::vector<double> a(kN * kN);
  std::vector<double> c(kN * kN, 1.0);
  for (int64_t i = 0; i < kN * kN; ++i) {
    a[i] = static_cast<double>(i % 11);
  }
  const blas::Matrix whole{a.data(), kN};
  blas::ProductTransposed({kN, kN, kN}, -1, whole, whole, 1, {c.data(), kN});
  for (int64_t i = 0; i < kN; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      double want = 1;
      for (int64_t k = 0; k < kN; ++k) want -= whole(i, k) * whole(j, k);
      ASSERT_EQ(c[i * kN + j], want);
    }
  }
}

TEST(CoreType, IsTheUsersOrElseTheWidest) {
  const char* const given = getenv("OPENBLAS_CORETYPE");
  ASSERT_NE(given, nullptr);
  ASSERT_TRUE(blas::SetUp().ok());
  EXPECT_THAT(blas::Name(), HasSubstr(given));
  ExpectRightSums();
  unsetenv("OPENBLAS_CORETYPE");
  ASSERT_TRUE(blas::SetUp().ok());
  if (__builtin_cpu_supports("avx512vl") != 0) {
    EXPECT_THAT(blas::Name(), HasSubstr("SkylakeX"));
  } else {
    EXPECT_THAT(blas::Name(), Not(HasSubstr("SkylakeX")));
  }
  if (__builtin_cpu_supports("avx2") != 0 &&
      __builtin_cpu_supports("fma") != 0) {
    EXPECT_THAT(blas::Name(), Not(HasSubstr("Prescott")));
  }
  ExpectRightSums();
}

}  // namespace
}  // namespace dogged
