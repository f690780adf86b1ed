// Aim: a host meets the classes that consist of its parts, and no others.
// Method: the sentences of the header.
#include "runtime/graph/numeric_class.h"

#include "gmock/gmock.h"

namespace dogged {
namespace {

TEST(NumericClass, IsMetByWhoHasAllItsParts) {
  const std::string host = JoinNumericClasses(
      {"x86_64", "glibc 2.36 avx fma; x86_64", "tiles 3 of 8 doubles", ""});
  EXPECT_EQ(host, "glibc 2.36 avx fma; tiles 3 of 8 doubles; x86_64");
  EXPECT_TRUE(MeetsNumericClass(host, host));
  EXPECT_TRUE(MeetsNumericClass(host, "x86_64"));
  EXPECT_TRUE(MeetsNumericClass(host, "x86_64; glibc 2.36 avx fma"));
  EXPECT_TRUE(MeetsNumericClass(host, ""));
  EXPECT_FALSE(MeetsNumericClass(host, "glibc 2.36 avx"));
  EXPECT_FALSE(MeetsNumericClass(host, "x86_64; OpenBLAS 0.3.21 Haswell"));
  EXPECT_FALSE(MeetsNumericClass("", "x86_64"));
  EXPECT_TRUE(MeetsNumericClass("foreign", "foreign"));
}

}  // namespace
}  // namespace dogged
