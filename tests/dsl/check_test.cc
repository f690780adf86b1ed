// Aim: Check gives parameters their numbers, indices their affine forms,
// conditions their alternatives and expressions their types.
// Method: small texts; forms are compared with the expression evaluated over
// all small indices, types with their printed conversions.
#include "dsl/check/check.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "dsl/check/evaluate.h"
#include "dsl/check/type_check.h"
#include "dsl/text/functions.h"
#include "dsl/text/parser.h"
#include "dsl/text/print.h"

namespace dogged::dsl {
namespace {

struct Checked {
  CheckedProgram program;
  std::string text;  // of the diagnostics
};

Checked CheckText(const std::string& text, const CheckOptions& options = {}) {
  Checked out;
  Diagnostics diagnostics("test", text);
  out.program = Check(Parse(diagnostics), options, diagnostics);
  out.text = diagnostics.ToString();
  return out;
}

// A task with indices x, y in -6..6 and parameter N = 3.
std::string TaskText(const std::string& index, const std::string& where,
                     const std::string& code = "n = 1") {
  return absl::StrCat("param N = 3\ntask a\n  creates p(", index,
                      ") as n\n  for  x = -6:6  y = -6:6\n",
                      where.empty() ? "" : "  where ", where, "\n  code\n    ",
                      code, "\n  end code\nend task\n");
}

int64_t FloorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

// In other parameters as in code.
TEST(Check, FloatParametersAreFloats) {
  const std::string text =
      "param f : float = 0.1\nparam g : double = f\n"
      "param h : float = f/3 + 0.7\nparam k : int64 = 0.1 == f ? 1 : 2\n"
      "param b : int64 = double(0.1) == f ? 1 : 2\n" +
      TaskText("x", "").substr(12);
  const auto numbers = [&](const Checked& checked) {
    EXPECT_EQ(checked.text, "");
    return checked.program.parameters;
  };
  const auto own = numbers(CheckText(text));
  EXPECT_EQ(own[0].real, double{0.1F});
  EXPECT_EQ(own[1].real, double{0.1F});
  EXPECT_EQ(own[2].real, double{0.1F / 3 + 0.7F});
  EXPECT_EQ(own[3].integer, 1);
  EXPECT_EQ(own[4].integer, 2);
  const auto given = numbers(CheckText(text, {.parameters = {{"f", "0.3"}}}));
  EXPECT_EQ(given[1].real, double{0.3F});
  EXPECT_NE(CheckText(text, {.parameters = {{"f", "1e39"}}}).text, "");
}

TEST(Check, ParametersTakeTheirDefaultsOrWhatIsGiven) {
  const std::string text =
      "param N = 10\nparam M = 2*N - 1\nparam NT = (N + 3)/4\n"
      "param c : double = 0.5*N\nparam f : float = 0.1\n" +
      TaskText("x", "").substr(12);
  Checked checked = CheckText(text);
  ASSERT_EQ(checked.text, "");
  EXPECT_EQ(checked.program.parameters[1].integer, 19);
  EXPECT_EQ(checked.program.parameters[2].integer, 3);
  EXPECT_EQ(checked.program.parameters[3].real, 5.0);
  // Affine in N: symbolic. The other is a number of its own.
  ASSERT_TRUE(checked.program.parameters[1].definition.has_value());
  EXPECT_EQ(checked.program.parameters[1].definition->params[0], 2);
  EXPECT_FALSE(checked.program.parameters[2].definition.has_value());
  checked = CheckText(text, {.parameters = {{"N", "20"}, {"c", "0.25"}}});
  ASSERT_EQ(checked.text, "");
  EXPECT_EQ(checked.program.parameters[1].integer, 39);
  EXPECT_EQ(checked.program.parameters[3].real, 0.25);
  for (const char* bad : {"", "3.5", "abc", "9223372036854775808", "1e3"}) {
    EXPECT_NE(CheckText(text, {.parameters = {{"N", bad}}}).text, "") << bad;
  }
  for (const char* bad : {"", "x", "inf", "nan"}) {
    EXPECT_NE(CheckText(text, {.parameters = {{"c", bad}}}).text, "") << bad;
  }
}

TEST(Check, AnIndexBecomesTheFormThatItsExpressionMeans) {
  for (const char* index :
       {"x", "-x", "2*x - 3*y + N", "(x + y)*N", "N*N*x - (N/2)*y", "7",
        "x - (y - (x + 1))", "x*(N % 2) + min(N, 2)"}) {
    const Checked checked = CheckText(TaskText(index, ""));
    ASSERT_EQ(checked.text, "") << index;
    Diagnostics diagnostics("index", absl::StrCat("param q = ", index));
    ast::Expr expr = *Parse(diagnostics).parameters[0].value;
    Scope scope;
    scope.entries = {
        {"N", ast::NameKind::kParameter, 0, Type::kInt64, false, false},
        {"x", ast::NameKind::kDimension, 0, Type::kInt64, false, false},
        {"y", ast::NameKind::kDimension, 1, Type::kInt64, false, false}};
    ASSERT_TRUE(CheckTypes(expr, scope, diagnostics));
    const AffineMap map =
        Instantiate(checked.program.tasks[0].creates[0].ref, checked.program);
    for (int64_t x = -6; x <= 6; ++x) {
      for (int64_t y = -6; y <= 6; ++y) {
        const int64_t point[] = {x, y};
        EXPECT_EQ(map[0].Evaluate({x, y}),
                  EvaluateInteger(expr, point, checked.program))
            << index << " at " << x << " " << y;
      }
    }
  }
  for (const char* index : {"x*y", "x/2", "x % 2", "min(x, y)", "abs(x)"}) {
    EXPECT_NE(CheckText(TaskText(index, "")).text.find("D010"),
              std::string::npos)
        << index;
  }
}

TEST(Check, AConditionBecomesAlternativesThatHoldWhereItHolds) {
  for (const char* where :
       {"x > y", "x >= y and y != 2", "not (x > y or x == -y)", "x % 3 == 1",
        "x % 2 != 0 or y < N", "not (x % 4 == 2 and y <= 0)", "N > 5", "N == 3",
        "x != y and (y < 0 or x + y == 4)", "x % 2 == 5", "0.5 < 0.25"}) {
    const Checked checked = CheckText(TaskText("x", where));
    ASSERT_EQ(checked.text, "") << where;
    Diagnostics diagnostics("where", absl::StrCat("param q = ", where));
    ast::Expr expr = *Parse(diagnostics).parameters[0].value;
    Scope scope;
    scope.entries = {
        {"N", ast::NameKind::kParameter, 0, Type::kInt64, false, false},
        {"x", ast::NameKind::kDimension, 0, Type::kInt64, false, false},
        {"y", ast::NameKind::kDimension, 1, Type::kInt64, false, false}};
    ASSERT_TRUE(CheckTypes(expr, scope, diagnostics));
    const Guard guard =
        Instantiate(checked.program.tasks[0].domain.guard, checked.program);
    for (int64_t x = -6; x <= 6; ++x) {
      for (int64_t y = -6; y <= 6; ++y) {
        const int64_t point[] = {x, y};
        EXPECT_EQ(guard.Holds({x, y}),
                  *EvaluateInteger(expr, point, checked.program) != 0)
            << where << " at " << x << " " << y;
      }
    }
  }
}

TEST(Check, BoundsRoundAsTheirExpressionsDo) {
  const Checked checked = CheckText(
      "param N = 3\ntask a creates p(x)(y) as n\n"
      "for  x = -5:7  y = max(x/2, -x/3 - 1):min(N, (x + 9)/4)\n"
      "code\n n = 1\nend code end task\n");
  ASSERT_EQ(checked.text, "");
  const Domain domain =
      Instantiate(checked.program.tasks[0].domain, checked.program);
  int64_t count = 0;
  for (int64_t x = -5; x <= 7; ++x) {
    const int64_t lower = std::max(FloorDivide(x, 2), FloorDivide(-x, 3) - 1);
    const int64_t upper = std::min<int64_t>(3, FloorDivide(x + 9, 4));
    for (int64_t y = -20; y <= 20; ++y) {
      const bool inside = y >= lower && y <= upper;
      EXPECT_EQ(domain.Contains({x, y}), inside) << x << " " << y;
      count += inside;
    }
  }
  EXPECT_EQ(domain.Count(), count);
}

TEST(Check, TypesMeetAndConversionsAreNodes) {
  const auto code = [](const char* element, const std::string& value) {
    const Checked checked = CheckText(absl::StrCat(
        "array p(x = 0:9) : ", element, "\narray f(x = 0:9) : float\n",
        "input f(x) for x = 0:9 else 1\n"
        "task a creates p(x) as n for x = 0:9 using f(x) as v\ncode\n n = ",
        value, "\nend code end task\n"));
    if (!checked.text.empty()) return checked.text;
    return Print(checked.program.tasks.back().code[0].value);
  };
  EXPECT_EQ(code("double", "v"), "double(v)");
  EXPECT_EQ(code("float", "v + 0.25"), "v + 0.25");  // a float literal
  EXPECT_EQ(code("float", "v + 1"), "v + 1.0");
  EXPECT_EQ(code("float", "v + x"), "v + float(x)");
  EXPECT_EQ(code("double", "0.25*v + 2*x"), "double(0.25*v + float(2*x))");
  EXPECT_EQ(code("int64", "int64(v) % 3"), "int64(v)%3");
  EXPECT_EQ(code("double", "sqrt(x) + v"), "sqrt(double(x)) + double(v)");
  EXPECT_EQ(code("double", "v > x ? 1 : 0.5"), "v > float(x) ? 1.0 : 0.5");
  EXPECT_NE(code("int64", "v").find("D009"), std::string::npos);
  EXPECT_NE(code("double", "v > 0").find("D009"), std::string::npos);
  EXPECT_NE(code("double", "not v").find("D009"), std::string::npos);
  EXPECT_NE(code("double", "min(v)").find("D009"), std::string::npos);
}

TEST(Check, KernelsAreMatchedWithTheRegistry) {
  KernelRegistry registry;
  registry.Add(
      {.name = "scale", .in_count = 1, .out_count = 1, .scalar_count = 1});
  const auto check = [&](const std::string& formals) {
    CheckOptions options;
    options.kernels = &registry;
    const std::string text = absl::StrCat(
        "kernel ", formals, "\narray p(x = 0:9) : double [4]\n",
        "array q(x = 0:9) : double [4]\ninput q(x) for x = 0:9\n",
        "task a creates p(x) as n for x = 0:9 using q(x) as v\n", "call ",
        formals.substr(0, formals.find('(')), "(v, n, 2*x)\n", "end task\n");
    options.input_files = {"q"};
    return CheckText(text, options).text;
  };
  EXPECT_EQ(check("scale(in a, out b, factor)"), "");
  EXPECT_NE(check("scael(in a, out b, factor)").find("did you mean scale"),
            std::string::npos);
  EXPECT_NE(check("scale(in a, out b, out c)").find("D017"), std::string::npos);
  EXPECT_NE(check("mine(in a, out b, factor)")
                .find("there are scale; one of your own:  "
                      "kernel mine(...) from \"mine.so\""),
            std::string::npos);
  const auto undeclared = [&](const std::string& kernel) {
    CheckOptions options;
    options.kernels = &registry;
    return CheckText(absl::StrCat("array p(x = 0:9) : double [4]\n",
                                  "task a creates p(x) as n for x = 0:9\n",
                                  "call ", kernel, "(n)\nend task\n"),
                     options)
        .text;
  };
  EXPECT_NE(undeclared("scale").find("kernel scale(in a, out b, c)\n"),
            std::string::npos);
  EXPECT_NE(
      undeclared("mine").find("kernel mine(in a, out b) from \"mine.so\"\n"),
      std::string::npos);
}

TEST(Check, KernelsHaveTheElementsThatTheyAreFor) {
  KernelRegistry registry;
  registry.Add({.name = "scale",
                .in_count = 1,
                .out_count = 1,
                .elements = {ElementType::kDouble, ElementType::kFloat}});
  registry.Add(
      {.name = "make", .out_count = 1, .elements = {ElementType::kDouble}});
  const auto check = [&](const std::string& p, const std::string& q) {
    CheckOptions options;
    options.kernels = &registry;
    return CheckText(
               absl::StrCat("kernel scale(in a, out b)\n"
                            "kernel make(out a)\n"
                            "array p(x = 0:9) : ",
                            p, " [4]\narray q(x = 0:9) : ", q,
                            " [4]\n"
                            "input q(x) for x = 0:9 else call make(q)\n"
                            "task a creates p(x) as n for x = 0:9 "
                            "using q(x) as v call scale(v, n) end task\n"),
               options)
        .text;
  };
  EXPECT_EQ(check("float", "double"), "");
  EXPECT_EQ(check("int64", "double"),
            "test:6:68: error[D009]: p holds int64, the kernel scale takes "
            "float here\n"
            " 6 | task a creates p(x) as n for x = 0:9 using q(x) as v call "
            "scale(v, n) end task\n"
            "   |                                                            "
            "        ^\n");
  EXPECT_NE(check("float", "float")
                .find("q holds float, the kernel make takes double here"),
            std::string::npos);
}

TEST(Check, TheTypesOfACallChooseTheVariantOfTheKernel) {
  KernelRegistry registry;
  constexpr ElementType kDouble = ElementType::kDouble;
  constexpr ElementType kFloat = ElementType::kFloat;
  constexpr ElementType kInt64 = ElementType::kInt64;
  registry.Add({.name = "pivot",
                .in_count = 1,
                .out_count = 2,
                .elements = {kDouble, kDouble, kInt64}});
  registry.Add({.name = "pivot:float",
                .in_count = 1,
                .out_count = 2,
                .elements = {kFloat, kFloat, kInt64}});
  registry.Add({.name = "fill", .out_count = 1});  // of any type
  const auto check = [&registry](absl::string_view p, absl::string_view q,
                                 absl::string_view r) {
    CheckOptions options;
    options.kernels = &registry;
    return CheckText(
               absl::StrCat(
                   "kernel pivot(in a, out b, out c)\nkernel fill(out a)\n"
                   "array p(x = 0:9) : ",
                   p, " [4]\narray q(x = 0:9) : ", q,
                   " [4]\narray r(x = 0:9) : ", r,
                   " [4]\ninput p(x) for x = 0:9 else call fill(p)\n"
                   "task a creates q(x) as n  r(x) as m for x = 0:9\n"
                   "using p(x) as v\ncall pivot(v, n, m)\nend task\n"),
               options)
        .text;
  };
  EXPECT_EQ(check("double", "double", "int64"), "");
  EXPECT_EQ(check("float", "float", "int64"), "");
  EXPECT_EQ(check("float", "double", "int64"),
            "test:9:15: error[D009]: q holds double, the kernel pivot takes "
            "float here, as p holds\n"
            " 9 | call pivot(v, n, m)\n"
            "   |               ^\n");
  EXPECT_NE(check("double", "float", "int64")
                .find("q holds float, the kernel pivot takes double here, as p "
                      "holds\n"),
            std::string::npos);
  EXPECT_NE(check("int64", "float", "int64")
                .find("p holds int64, the kernel pivot takes double or float "
                      "here\n"),
            std::string::npos);
  EXPECT_NE(check("float", "float", "float")
                .find("r holds float, the kernel pivot takes int64 here\n"),
            std::string::npos);
}

TEST(Check, EvaluationOfIntegersSaysWhenItLeavesTheirRange) {
  CheckedProgram program;
  const auto value = [&](const std::string& text) {
    Diagnostics diagnostics("value", "param q = " + text);
    ast::Expr expr = *Parse(diagnostics).parameters[0].value;
    Scope scope;
    EXPECT_TRUE(CheckTypes(expr, scope, diagnostics));
    return EvaluateInteger(expr, {}, program);
  };
  EXPECT_EQ(value("-7/2"), -4);
  EXPECT_EQ(value("-7 % 3"), 2);
  EXPECT_EQ(value("7 / -2"), -4);
  EXPECT_EQ(value("max(2, min(9, 5)) + abs(-3)"), 8);
  EXPECT_EQ(value("2 > 1 ? 10 : 1/(1-1)"), 10);
  EXPECT_EQ(value("int64(3.99)"), 3);
  EXPECT_EQ(value("1/(1-1)"), std::nullopt);
  EXPECT_EQ(value("9223372036854775807 + 1"), std::nullopt);
  EXPECT_EQ(value("9223372036854775807 * 2"), std::nullopt);
}

TEST(Functions, AreThoseOfTheReference) {
  EXPECT_EQ(FunctionNames().size(), 24u);
  EXPECT_EQ(FindFunction("atan2")->argument_count, 2);
  EXPECT_EQ(FindFunction("none"), nullptr);
}

TEST(Diagnostics, NearestNamesAreThoseWithFewWrongLetters) {
  EXPECT_EQ(Nearest("finDif", {"start", "finDiff"}), "finDiff");
  EXPECT_EQ(Nearest("ph", {"x", "t"}), "");
  EXPECT_EQ(Nearest("tempreature", {"temperature", "pressure"}), "temperature");
  EXPECT_EQ(Nearest("a", {"b"}), "");
}

}  // namespace
}  // namespace dogged::dsl
