// Aim: code means the same compiled and interpreted, and what docs/LANGUAGE.md
// says of its numbers.
// Method: small programs about constants, run in every way and against the
// values worked out here.
#include <cmath>
#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

// Values n of ten points, x = 0:9, in every way to run.
SerialOutcome RunCode(const std::string& parameters, const std::string& type,
                      const std::string& code, const std::string& locals = "") {
  const std::string text = parameters + "\narray u(x = 0:9) : " + type +
                           "\ninput w(x) for x = 0:9 else x\n"
                           "task a\n  creates u(x) as n\n  for x = 0:9\n"
                           "  using w(x) as v\n  code\n" +
                           locals + "    n = " + code +
                           "\n  end code\nend task\nresult u(:)\n";
  const KernelCache cache;
  ExpectOneDigest(text, Options(), {.widths = {4}, .depth = 1}, cache.Source());
  return MustRun(text, Options());
}

TEST(CodeTest, ConstantsHaveSixtyFourBits) {
  const std::string n = "param N = 100000";
  EXPECT_EQ(RunCode(n, "double", "double(N*N) + v").values[0].span<double>()[9],
            1e10 + 9);
  EXPECT_EQ(RunCode(n, "double", "1.0/(N*N)").values[0].span<double>()[0],
            1e-10);
  EXPECT_EQ(RunCode("", "int64", "(x > 3 ? 2000000000 : 1) * 2")
                .values[0]
                .span<int64_t>()[9],
            4000000000);
  EXPECT_EQ(RunCode(n, "int64", "-N*N*N - x").values[0].span<int64_t>()[9],
            -1000000000000009);
}

// 1/82 lies so near to the middle of two floats that nine of its digits are
// nearer to the other one.
TEST(CodeTest, FloatConstantsAreRoundedOnce) {
  const auto c = static_cast<float>(1.0 / 82);
  const SerialOutcome out =
      RunCode("param c : float = 1.0/82", "float", "c*float(v) + c*c");
  for (int x = 0; x < 10; ++x) {
    const float product = c * static_cast<float>(x);
    const float square = c * c;
    EXPECT_EQ(out.values[0].span<float>()[x], product + square);
  }
}

// However a constant is written, and wherever it stands.
TEST(CodeTest, ConstantsHaveTheTypeOfWhatTheyMeet) {
  const struct {
    std::string locals;
    std::string constant;
    double value;
  } kCases[] = {{"    k = 0.1\n", "k", 0.1},
                {"    k = 1.0/3\n    m = 2*k\n", "m", 2 * (1.0 / 3)},
                {"", "min(0.1, 0.7)", 0.1},
                {"", "abs(-0.1)", 0.1},
                {"", "sqrt(2)", std::sqrt(2.0)},
                {"", "((1 + 2)*0.1)", 3 * 0.1},
                {"", "(x < 99 ? 0.1 : 0.2)", 0.1}};
  for (const auto& [locals, constant, value] : kCases) {
    SCOPED_TRACE(locals + constant);
    const SerialOutcome out =
        RunCode("", "float", "float(v)*" + constant + " + 0.7", locals);
    for (int x = 0; x < 10; ++x) {
      const float product = static_cast<float>(x) * static_cast<float>(value);
      EXPECT_EQ(out.values[0].span<float>()[x], product + 0.7F);
    }
  }
  // A conversion says what is meant.
  EXPECT_EQ(
      RunCode("", "double", "float(v)*double(0.1)").values[0].span<double>()[3],
      3 * 0.1);
}

}  // namespace
}  // namespace dogged::dsl
