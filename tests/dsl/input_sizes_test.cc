// Aim: a file of another shape than the program wants is refused with the
// parameters that would do, or without any.
// Method: two inputs, in points and in tiles, whose shapes two parameters make.
#include <string>

#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

TEST(InputSizes, TheParametersThatAFileAsksForAreFound) {
  constexpr char kText[] = R"(param NX = 10
param NY = 20
param NB = 4
param NT = (NX + NB - 1)/NB
input v(x)(y) for x = 1:NX-2  y = 0:NY
array A(i = 0:NT-1)(j = 0:NT-1) : double[min(NB, NX-i*NB), min(NB, NX-j*NB)]
input A(i)(j) for i = 0:NT-1  j = 0:NT-1
task t
  creates u(x)(y) as n
  for x = 1:NX-2  y = 0:NY
  using v(x)(y) as a
  code
    n = a
  end code
end task
result u
result A(0)(0)
)";
  const auto refusal = [&](Shape v, Shape a) {
    CompileOptions options = Options();
    options.inputs["v"] = Value::Allocate(ElementType::kDouble, v);
    options.inputs["A"] = Value::Allocate(ElementType::kDouble, a);
    Diagnostics diagnostics("", "");
    return std::string(Compile(kText, options, KernelRegistry(), diagnostics)
                           .status()
                           .message());
  };
  EXPECT_EQ(refusal({98, 31}, {100, 100}),
            "input v: has shape (98)(31), the program wants (8)(21); it does "
            "with  -D NX=100 -D NY=30");
  EXPECT_EQ(refusal({8, 21}, {777, 777}),
            "input A: has shape (777)(777), the program wants (10)(10); it "
            "does with  -D NX=777");
  EXPECT_EQ(refusal({8, 21}, {777, 778}),
            "input A: has shape (777)(778), the program wants (10)(10)");
}

}  // namespace
}  // namespace dogged::dsl
