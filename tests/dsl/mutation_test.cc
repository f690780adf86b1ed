// Aim: no text whatever brings the front end down, or a message of C++ or isl
// to the user: it ends, with diagnoses or without.
// Method: the programs of apps/ and of errors/ with random damage from a seed:
// bytes changed, pieces dropped, doubled, swapped between programs.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/check/check.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/lower/index_tables.h"
#include "dsl/text/format.h"
#include "dsl/text/include.h"
#include "dsl/text/parser.h"
#include "dsl/text/print.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"

namespace dogged::dsl {
namespace {

constexpr uint64_t kSeeds = 5000;

std::vector<std::string> Corpus() {
  std::vector<std::filesystem::path> paths;
  for (const char* dir : {DOGGED_APPS_DIR, DOGGED_ERRORS_DIR}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(dir)) {
      if (entry.path().extension() == ".dog") paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> out;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    out.push_back(text.str());
  }
  return out;
}

// A piece of `text`: some bytes, or some whole words.
std::string Piece(const std::string& text, Rng& rng) {
  if (text.empty()) return "";
  const auto size = std::ssize(text);
  const auto begin = static_cast<size_t>(rng.Below(size));
  return text.substr(begin, static_cast<size_t>(1 + rng.Below(40)));
}

void Damage(const std::vector<std::string>& corpus, Rng& rng,
            std::string& text) {
  const auto at = static_cast<size_t>(rng.Below(std::ssize(text) + 1));
  switch (rng.Below(6)) {
    case 0:
      text.insert(at, 1, static_cast<char>(rng.Below(256)));
      break;
    case 1:
      text.erase(at, static_cast<size_t>(1 + rng.Below(20)));
      break;
    case 2:
      text.insert(at, Piece(text, rng));
      break;
    case 3:
      text.insert(at, Piece(corpus[rng.Below(std::ssize(corpus))], rng));
      break;
    case 4:
      text.insert(at, std::string(static_cast<size_t>(rng.Below(300)),
                                  "(-:9"[rng.Below(4)]));
      break;
    default:
      for (char& c : text) {
        if (c >= '0' && c <= '9' && rng.Chance(0.1)) {
          c = static_cast<char>('0' + rng.Below(10));
        }
      }
  }
}

TEST(MutationTest, DamagedProgramsAreDiagnosed) {
  const std::vector<std::string> corpus = Corpus();
  ASSERT_GT(corpus.size(), 50u);
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    Rng rng(seed);
    std::string text = corpus[rng.Below(std::ssize(corpus))];
    for (int64_t i = rng.Below(4); i >= 0; --i) Damage(corpus, rng, text);
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    Diagnostics diagnostics = Include("test.dog", text, nullptr);
    const ast::Program tree = Parse(diagnostics);
    Print(tree);
    Diagnostics plain("test.dog", text);
    const auto formatted = Format(plain);
    EXPECT_EQ(formatted.ok(), !plain.HasErrors());
    if (formatted.ok()) {
      Diagnostics again("test.dog", *formatted);
      EXPECT_EQ(Format(again).value_or("none"), *formatted) << text;
    }
    if (!diagnostics.HasErrors()) {
      CheckOptions options;
      options.assume_input_files = true;
      CheckedProgram program = Check(tree, options, diagnostics);
      FillTables({}, GivenBy::kFlags, program, diagnostics);
      if (!diagnostics.HasErrors()) AnalyzeWithIsl(program, diagnostics);
    }
    const std::string said = diagnostics.ToString();
    EXPECT_EQ(diagnostics.all().empty(), said.empty());
    EXPECT_EQ(said.find("isl_"), std::string::npos) << said;
    EXPECT_EQ(said.find("std::"), std::string::npos) << said;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace dogged::dsl
