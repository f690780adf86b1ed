// Aim: NaNs that a program makes have one digest, however it is compiled.
// Method: NaNs of both signs, from many operations, that meet one another;
// compiled, interpreted, in tiles and in points.
#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

TEST(Nans, HaveOneDigest) {
  const KernelCache cache;
  ExpectOneDigest(R"(
param zero : double = 0.0
array f(x = 0:15)(t = 0:3) : float
task start
  creates u(x)(0) as n  v(x)(0) as m  f(x)(0) as g
  for x = 0:15
  code
    p = x == 0 ? zero/zero : x == 1 ? 1.0/zero - 1.0/zero : 1.0*x
    q = x == 2 ? sqrt(zero - 1.0) : x == 3 ? log(zero - 1.0) : p
    r = x == 4 ? fmod(1.0, zero) : x == 5 ? -(zero/zero) : q
    n = r
    m = -r
    g = float(r)
  end code
end task
task step
  creates u(x)(t) as n  v(x)(t) as m  f(x)(t) as g
  for x = 0:15 t = 1:3
  using u(x)(t-1) as a  v(x)(t-1) as b  f(x)(t-1) as h
  code
    n = a + b*b + min(a, b) + max(b, a) - pow(b, a)
    m = b*a - (a + b) + min(b, a)*2.0
    g = h + float(b) - min(h, float(a))
  end code
end task
reduce least(t) = min(u(x)(t)) for t = 0:3 over x = 0:15
result u(x)(t) for x = 0:15 t = 0:3
result v(x)(t) for x = 0:15 t = 0:3
result f(x)(t) for x = 0:15 t = 0:3
result least(t) for t = 0:3
)",
                  Options(), {.widths = {5}, .depth = 2}, cache.Source());
}

}  // namespace
}  // namespace dogged::dsl
