// Aim: the parser makes the tree that a text means, says what is wrong where
// it is wrong, goes on behind it, and never crashes.
// Method: small texts and literal trees; Print and Parse back and forth over
// the programs of apps/ and random trees; mutated and random texts by seed.
#include "dsl/text/parser.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/check/check.h"
#include "dsl/text/print.h"
#include "runtime/base/random.h"
#include "tests/dsl/random_program.h"

namespace dogged::dsl {
namespace {

// The tree with a bracket around every node, also where Print leaves it out.
std::string Shape(const ast::Expr& e) {
  std::string out = absl::StrCat("<", static_cast<int>(e.kind), " ", e.text,
                                 " ", static_cast<int>(e.op), " ", e.integer,
                                 " ", absl::StrCat(e.real));
  for (const ast::Expr& arg : e.args) out += Shape(arg);
  return out + ">";
}

std::string ParsedShape(const std::string& expr) {
  Diagnostics diagnostics("test", "param p = " + expr);
  const ast::Program program = Parse(diagnostics);
  if (diagnostics.HasErrors()) return diagnostics.ToString();
  return Shape(*program.parameters[0].value);
}

std::string Errors(const std::string& text) {
  Diagnostics diagnostics("test", text);
  Parse(diagnostics);
  return diagnostics.ToString();
}

std::vector<std::string> Programs() {
  std::vector<std::string> out;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(DOGGED_APPS_DIR)) {
    if (entry.path().extension() != ".dog") continue;
    std::ifstream in(entry.path());
    std::stringstream text;
    text << in.rdbuf();
    out.push_back(text.str());
  }
  return out;
}

void ExpectStable(const ast::Program& tree, const std::string& what) {
  const std::string text = Print(tree);
  Diagnostics diagnostics("printed", text);
  const ast::Program again = Parse(diagnostics);
  ASSERT_FALSE(diagnostics.HasErrors()) << what << "\n"
                                        << text << diagnostics.ToString();
  ASSERT_EQ(Print(again), text) << what;
}

TEST(Parser, BindsAsMathematicsDoes) {
  EXPECT_EQ(ParsedShape("a+b*c"), ParsedShape("(a+(b*c))"));
  EXPECT_EQ(ParsedShape("a-b-c"), ParsedShape("((a-b)-c)"));
  EXPECT_EQ(ParsedShape("-a*b"), ParsedShape("((-a)*b)"));
  EXPECT_EQ(ParsedShape("a/b%c"), ParsedShape("((a/b)%c)"));
  EXPECT_EQ(ParsedShape("not a == b and c or d"),
            ParsedShape("(((not (a == b)) and c) or d)"));
  EXPECT_EQ(ParsedShape("a ? b : c ? d : e"),
            ParsedShape("a ? b : (c ? d : e)"));
  EXPECT_NE(ParsedShape("a-(b-c)"), ParsedShape("a-b-c"));
}

TEST(Parser, ReadsTheTaskOfTheSlides) {
  Diagnostics diagnostics("slides", R"(task finDiff
  creates phi(x) (t) as n
  for
    x=1:4999
    t=1:100
  using
    phi(x) (t-1) as c
    phi(x-1) (t-1) as l
    phi(x+1) (t-1) as r
  code
    n = c+0.0125*
      (l+r-2*c)
  end code
end task
)");
  const ast::Program program = Parse(diagnostics);
  EXPECT_EQ(diagnostics.ToString(), "");
  ASSERT_EQ(program.tasks.size(), 1u);
  const ast::Task& task = program.tasks[0];
  EXPECT_EQ(task.name.text, "finDiff");
  EXPECT_EQ(Print(task.creates[0].ref), "phi(x)(t)");
  ASSERT_EQ(task.dimensions.size(), 2u);
  EXPECT_EQ(Print(task.dimensions[0].range.upper), "4999");
  ASSERT_EQ(task.uses.size(), 3u);
  EXPECT_EQ(Print(task.uses[2].ref), "phi(x + 1)(t - 1)");
  ASSERT_EQ(task.code.size(), 1u);
  EXPECT_EQ(Print(task.code[0].value), "c + 0.0125*(l + r - 2*c)");
}

TEST(Parser, ANewLineEndsAStatementUnlessABracketOrAnOperatorIsOpen) {
  const std::string head = "task a creates p(x) as n for x = 1:2 code\n";
  const std::string tail = "\nend code end task\n";
  EXPECT_EQ(Errors(head + "n = a +\n b" + tail), "");
  EXPECT_EQ(Errors(head + "n = (a\n + b)" + tail), "");
  EXPECT_EQ(Errors(head + "n = min(a,\n b)" + tail), "");
  EXPECT_EQ(Errors(head + "m = a\nn = b" + tail), "");
  EXPECT_NE(Errors(head + "n = a\n -b" + tail), "");
  EXPECT_NE(Errors(head + "m = a n = b" + tail), "");
}

TEST(Parser, GoesOnBehindABadDeclaration) {
  Diagnostics diagnostics("test",
                          "param = 3\nparam N = 4\ntask a creates end task\n"
                          "task b creates p(x) as n call k(n) end task\n"
                          "result p(\n");
  const ast::Program program = Parse(diagnostics);
  EXPECT_EQ(diagnostics.error_count(), 3) << diagnostics.ToString();
  EXPECT_EQ(program.parameters.size(), 1u);
  ASSERT_EQ(program.tasks.size(), 1u);
  EXPECT_EQ(program.tasks[0].name.text, "b");
}

TEST(Parser, ReadsRangesInResults) {
  Diagnostics good("test", "result phi(:)(2:N-1)(50)(0:9:3)\n");
  const ast::Program program = Parse(good);
  EXPECT_EQ(good.ToString(), "");
  ASSERT_EQ(program.results.size(), 1u);
  EXPECT_EQ(Print(program.results[0].ref), "phi(:)(2:N - 1)(50)(0:9:3)");
  for (const char* bad :
       {"phi(2:)", "phi(:3)", "phi(1:2:0)", "phi(1:2:-1)", "phi(1:2:N)",
        "phi(1:2:)", "phi(::3)", "phi(1:2:3:4)", "phi(1:2, 3)"}) {
    EXPECT_NE(Errors(absl::StrCat("result ", bad, "\n")), "") << bad;
  }
  EXPECT_NE(Errors("boundary phi(1:2) = 0\n"), "");
}

TEST(Parser, RefusesWhatIsNoText) {
  EXPECT_NE(Errors(std::string("param N\0= 3\n", 12)).find("NUL byte"),
            std::string::npos);
  EXPECT_NE(Errors("param N = 3 # \xff\n").find("not UTF-8"),
            std::string::npos);
  EXPECT_NE(Errors("# \xed\xa0\x80\n").find("not UTF-8"), std::string::npos);
  EXPECT_EQ(Errors("# \xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x95\n"), "");
  EXPECT_NE(Errors(std::string((16 << 20) + 1, ' ')).find("at most"),
            std::string::npos);
}

TEST(Parser, BoundsNestingAndDepth) {
  const auto nested = [](int n) {
    return "param p = " + std::string(n, '(') + "1" + std::string(n, ')');
  };
  EXPECT_EQ(Errors(nested(150)), "");
  EXPECT_NE(Errors(nested(100000)).find("D004"), std::string::npos);
  EXPECT_NE(Errors("param p = " + std::string(100000, '-') + "1").find("D004"),
            std::string::npos);
  std::string sum = "param p = 1";
  for (int i = 0; i < 500; ++i) sum += "+1";
  EXPECT_EQ(Errors(sum), "");
  for (int i = 0; i < 100000; ++i) sum += "+1";
  EXPECT_NE(Errors(sum).find("D004"), std::string::npos);
  std::string condition = "param p = 1";
  for (int i = 0; i < 100000; ++i) condition += " ? 1 : 1";
  EXPECT_NE(Errors(condition).find("D004"), std::string::npos);
}

TEST(Print, IsUndoneByParseForTheProgramsOfApps) {
  const std::vector<std::string> programs = Programs();
  EXPECT_GE(programs.size(), 5u);
  for (const std::string& text : programs) {
    Diagnostics diagnostics("apps", text);
    const ast::Program tree = Parse(diagnostics);
    ASSERT_FALSE(diagnostics.HasErrors()) << diagnostics.ToString();
    ExpectStable(tree, text);
  }
}

TEST(Print, IsUndoneByParseForRandomPrograms) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    const ast::Program tree = RandomProgram(seed).Make();
    ExpectStable(tree, absl::StrCat("seed ", seed));
    if (HasFatalFailure()) return;
  }
}

TEST(Print, KeepsTheShapeOfRandomExpressions) {
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    const ast::Expr expr = RandomProgram(seed).Expr(5);
    ASSERT_EQ(ParsedShape(Print(expr)), Shape(expr))
        << "seed " << seed << ": " << Print(expr);
  }
}

// Everything that a text goes through, short of the analysis: that has time
// bounds of its own, and mutated programs find slow corners of it.
void RunFrontEnd(const std::string& text) {
  Diagnostics diagnostics("random", text);
  const ast::Program tree = Parse(diagnostics);
  if (!diagnostics.HasErrors()) Check(tree, {}, diagnostics);
  for (const Diagnostic& d : diagnostics.all()) {
    ASSERT_GE(d.range.begin, 0);
    ASSERT_LE(d.range.end, static_cast<int32_t>(text.size()) + 1);
  }
  diagnostics.ToString();
}

TEST(FrontEnd, SurvivesMutatedPrograms) {
  const std::vector<std::string> programs = Programs();
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Rng rng(seed);
    std::string text = programs[rng.Below(programs.size())];
    for (uint64_t change = 1 + rng.Below(4); change > 0; --change) {
      const size_t at = rng.Below(text.size());
      const std::string& other = programs[rng.Below(programs.size())];
      const size_t from = rng.Below(other.size());
      const size_t bytes = 1 + rng.Below(20);
      switch (rng.Below(4)) {
        case 0:
          text.erase(at, bytes);
          break;
        case 1:
          text.insert(at, other.substr(from, bytes));
          break;
        case 2:
          text[at] = static_cast<char>(rng.Below(256));
          break;
        default:
          text.replace(at, bytes, other.substr(from, bytes));
          break;
      }
      if (text.empty()) text = "x";
    }
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RunFrontEnd(text);
    if (HasFatalFailure()) return;
  }
}

TEST(FrontEnd, SurvivesRandomTokens) {
  static constexpr const char* kTokens[] = {"param",
                                            "array",
                                            "input",
                                            "kernel",
                                            "boundary",
                                            "task",
                                            "result",
                                            "creates",
                                            "as",
                                            "for",
                                            "where",
                                            "using",
                                            "code",
                                            "call",
                                            "end",
                                            "else",
                                            "in",
                                            "out",
                                            "double",
                                            "float",
                                            "int64",
                                            "(",
                                            ")",
                                            "[",
                                            "]",
                                            ",",
                                            ":",
                                            "=",
                                            "+",
                                            "-",
                                            "*",
                                            "/",
                                            "%",
                                            "?",
                                            "<",
                                            "==",
                                            "and",
                                            "not",
                                            "x",
                                            "phi",
                                            "t",
                                            "1",
                                            "0",
                                            "2.5",
                                            "\n",
                                            "min",
                                            "9223372036854775807"};
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Rng rng(seed);
    std::string text;
    for (uint64_t i = rng.Below(60); i > 0; --i) {
      text += kTokens[rng.Below(std::size(kTokens))];
      text += " ";
    }
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RunFrontEnd(text);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace dogged::dsl
