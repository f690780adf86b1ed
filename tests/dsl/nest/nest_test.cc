// Aim: programs in tiles of their loop nests have the bits of their points,
// whatever the sizes of program and tiles.
// Method: programs of all kinds of nests with random sizes and tiles from a
// seed, compiled and walked, and on simulated agents under faults; the points,
// interpreted, are the oracle.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dsl/ir/nest_body.h"
#include "dsl/nest/lower_nest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "tests/dsl/compile_tools.h"
#include "tests/dsl/repeat_tools.h"

namespace dogged::dsl {
namespace {

using testing::StartsWith;

std::string ReadFileText(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::vector<std::filesystem::path> NestPrograms() {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::directory_iterator(
           absl::StrCat(DOGGED_PROGRAMS_DIR, "/nests"))) {
    if (entry.path().extension() == ".dog") out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

CompileOptions NestOptions() {
  CompileOptions options = Options();
  options.lower_nest = LowerNestWithIsl;
  options.prefers_nest = true;
  return options;
}

// Random values of the parameters that `text` declares.
std::vector<std::pair<std::string, std::string>> RandomParameters(
    const std::string& text, Rng& rng) {
  std::vector<std::pair<std::string, std::string>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    std::string name;
    words >> first >> name;
    if (first != "param") continue;
    out.emplace_back(name, absl::StrCat(2 + rng.Below(26)));
  }
  return out;
}

void ExpectBitsOfPoints(const std::string& text, const CompileOptions& nest,
                        const CompileSource& compile) {
  const Job tiles = MustCompile(text, nest);
  ASSERT_THAT(tiles.lowering, StartsWith(kLoopNest));
  CompileOptions options = nest;
  options.coalesce = false;
  const Job points = MustCompile(text, options);
  const std::string expected = MustDigest(points, nullptr);
  EXPECT_EQ(MustDigest(tiles, nullptr), expected) << tiles.lowering;
  if (compile != nullptr) {
    EXPECT_EQ(MustDigest(tiles, compile), expected) << tiles.lowering;
  }
  ExpectForetold(tiles);
}

TEST(NestTest, HasTheBitsOfThePoints) {
  const KernelCache cache;
  for (const auto& path : NestPrograms()) {
    SCOPED_TRACE(path.filename().string());
    const std::string text = ReadFileText(path);
    CompileOptions options = NestOptions();
    ExpectBitsOfPoints(text, options, cache.Source());
    for (uint64_t seed = 1; seed <= 6; ++seed) {
      Rng rng(seed);
      options.parameters = RandomParameters(text, rng);
      options.nest_widths.clear();
      for (int64_t k = rng.Below(3); k >= 0; --k) {
        options.nest_widths.push_back(1 + rng.Below(12));
      }
      std::string said = absl::StrCat("seed ", seed);
      for (const auto& [name, value] : options.parameters) {
        absl::StrAppend(&said, " ", name, "=", value);
      }
      SCOPED_TRACE(said);
      ExpectBitsOfPoints(text, options,
                         seed == 1 ? cache.Source() : CompileSource());
      if (HasFailure()) return;
    }
  }
}

TEST(NestTest, SurvivesAllFaults) {
  for (const auto& path : NestPrograms()) {
    SCOPED_TRACE(path.filename().string());
    CompileOptions options = NestOptions();
    options.target = {.agents = 4};
    options.nest_widths = {9};
    Simulate(
        MustCompile(ReadFileText(path), options),
        {.agents = 4, .faults = ManyFaults(), .fault_span = absl::Seconds(1)},
        3);
  }
}

// A job may come from anybody.
TEST(NestTest, DamagedTilesAreRefusedOrSound) {
  CompileOptions options = NestOptions();
  const Job job = MustCompile(
      ReadFileText(absl::StrCat(DOGGED_PROGRAMS_DIR, "/nests/cholesky.dog")),
      options);
  int64_t refused = 0;
  int64_t count = 0;
  for (const KernelSpec& spec : job.program.kernels) {
    if (spec.kind != "nest") continue;
    ASSERT_TRUE(NestBody::Decode(spec.body).ok());
    for (uint64_t seed = 1; seed <= 300; ++seed, ++count) {
      Rng rng(seed);
      std::string damaged = spec.body;
      damaged[static_cast<size_t>(rng.Below(std::ssize(damaged)))] =
          static_cast<char>(rng.Below(256));
      const auto body = NestBody::Decode(damaged);
      if (!body.ok()) {
        ++refused;
        continue;
      }
      EXPECT_EQ(NestBody::Decode(body->Encode())->Encode(), body->Encode());
    }
  }
  EXPECT_GT(refused, count / 10);
}

}  // namespace
}  // namespace dogged::dsl
