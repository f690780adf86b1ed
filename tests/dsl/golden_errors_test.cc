// Aim: each diagnosis says exactly what its file in errors/ expects.
// Method: the leading comment of errors/NAME.dog is the expected text, with an
// optional first line "# args: -D N=3 --input A"; the whole file is parsed,
// checked and analysed, with --compile there also lowered, and what Diagnostics
// prints is compared. With --rewrite the comments are replaced by what is
// printed now.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "dsl/check/check.h"
#include "dsl/compile.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/lower/index_tables.h"
#include "dsl/text/explain.h"
#include "dsl/text/include.h"
#include "dsl/text/parser.h"

namespace dogged::dsl {
namespace {

bool g_rewrite = false;

std::string Load(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

struct Golden {
  std::string args;      // the line, with its newline; may be empty
  std::string expected;  // without the comment signs
  std::string program;   // text behind `expected`
};

Golden Split(const std::string& text) {
  Golden out;
  std::istringstream lines(text);
  std::string line;
  bool in_comment = true;
  while (std::getline(lines, line)) {
    in_comment = in_comment && !line.empty() && line[0] == '#';
    if (!in_comment) {
      out.program += line + "\n";
    } else if (line.rfind("# args:", 0) == 0) {
      out.args = line + "\n";
    } else {
      out.expected += (line.size() > 2 ? line.substr(2) : "") + "\n";
    }
  }
  return out;
}

CheckOptions Options(const std::string& args) {
  CheckOptions options;
  std::istringstream words(args);
  std::string word;
  while (words >> word) {
    if (word == "-D" && words >> word) {
      const size_t equal = word.find('=');
      options.parameters.emplace_back(word.substr(0, equal),
                                      word.substr(equal + 1));
    } else if (word == "--input" && words >> word) {
      options.input_files.insert(word);
    }
  }
  return options;
}

std::string DiagnoseAll(const std::string& name, const std::string& text) {
  CompileOptions options;
  options.file = name;
  options.parameters = Options(Split(text).args).parameters;
  options.analyze = AnalyzeWithIsl;
  Diagnostics diagnostics("", "");
  EXPECT_FALSE(Compile(text, options, KernelRegistry(), diagnostics).ok());
  return diagnostics.ToString();
}

std::string Diagnose(const std::string& name, const std::string& text) {
  if (Split(text).args.find("--compile") != std::string::npos) {
    return DiagnoseAll(name, text);
  }
  Diagnostics diagnostics = Include(name, text, [](const std::string& path) {
    const auto file = std::filesystem::path(DOGGED_ERRORS_DIR) / path;
    return std::filesystem::exists(file)
               ? absl::StatusOr<std::string>(Load(file))
               : absl::NotFoundError("no such file");
  });
  const ast::Program tree = Parse(diagnostics);
  if (!diagnostics.HasErrors()) {
    CheckedProgram program =
        Check(tree, Options(Split(text).args), diagnostics);
    FillTables({}, GivenBy::kFlags, program, diagnostics);
    AnalyzeWithIsl(program, diagnostics);
  }
  return diagnostics.ToString();
}

std::string Commented(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  std::string line;
  while (std::getline(lines, line)) {
    out += "# " + line;
    while (out.back() == ' ') out.pop_back();
    out += "\n";
  }
  return out;
}

void Rewrite(const std::filesystem::path& path) {
  // The comment moves the lines that it speaks of: until nothing changes.
  for (int round = 0; round < 5; ++round) {
    const std::string before = Load(path);
    const Golden golden = Split(before);
    const std::string after =
        golden.args + Commented(Diagnose(path.filename().string(), before)) +
        golden.program;
    if (after == before) return;
    std::ofstream(path, std::ios::binary) << after;
  }
}

TEST(GoldenErrors, EachFileSaysWhatItExpects) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(DOGGED_ERRORS_DIR)) {
    if (entry.path().extension() == ".dog") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  EXPECT_GE(paths.size(), 50u);
  for (const auto& path : paths) {
    if (g_rewrite) Rewrite(path);
    const std::string text = Load(path);
    EXPECT_EQ(Commented(Split(text).expected),
              Commented(Diagnose(path.filename().string(), text)))
        << path;
  }
}

TEST(GoldenErrors, EveryCodeIsExplained) {
  const int last = static_cast<int>(Code::kUnmet);
  for (int code = 1; code <= last; ++code) {
    const std::string name = CodeText(static_cast<Code>(code));
    EXPECT_EQ(Explain(name).rfind(name + "\n", 0), 0u) << name;
  }
  EXPECT_EQ(Explain("d012"), Explain("D012"));
  EXPECT_EQ(Explain("12"), Explain("D012"));
  EXPECT_EQ(Explain("D12"), Explain("D012"));
  EXPECT_EQ(Explain("D"), "");
  EXPECT_EQ(Explain("-1"), "");
  EXPECT_EQ(Explain(CodeText(static_cast<Code>(last + 1))), "");
  EXPECT_EQ(Explain(""), "");
}

// The programs of apps/, others that nothing else tests, and those in
// docs/LANGUAGE.md are right.
TEST(GoldenErrors, RightProgramsAreLeftInPeace) {
  std::vector<std::filesystem::path> paths;
  for (const char* dir : {DOGGED_APPS_DIR, DOGGED_PROGRAMS_DIR}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(dir)) {
      if (entry.path().extension() == ".dog") paths.push_back(entry.path());
    }
  }
  EXPECT_GE(paths.size(), 12u);
  for (const auto& path : paths) {
    EXPECT_EQ(Diagnose(path.filename().string(), Load(path)), "") << path;
  }
}

TEST(GoldenErrors, TheExamplesOfTheReferenceAreRight) {
  const std::string text = Load(DOGGED_LANGUAGE_MD);
  const std::string begin = "```dog\n";
  int count = 0;
  for (size_t at = text.find(begin); at != std::string::npos;
       at = text.find(begin, at)) {
    at += begin.size();
    const size_t end = text.find("```", at);
    ASSERT_NE(end, std::string::npos);
    EXPECT_EQ(Diagnose("LANGUAGE.md", text.substr(at, end - at)), "");
    at = end + 3;
    ++count;
  }
  EXPECT_GE(count, 3);
}

}  // namespace
}  // namespace dogged::dsl

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--rewrite") dogged::dsl::g_rewrite = true;
  }
  return RUN_ALL_TESTS();
}
