// Tools that tests of the back end share: compiling text with all of the front
// end, and running a program in every way there is.
#ifndef DOGGED_TESTS_DSL_COMPILE_TOOLS_H_
#define DOGGED_TESTS_DSL_COMPILE_TOOLS_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "dsl/compile.h"
#include "dsl/isl/analysis_isl.h"
#include "dsl/kernels/load_kernels.h"
#include "dsl/results.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime/base/random.h"
#include "runtime/exec/kernels/kernel_library.h"
#include "tests/dsl/foretold_kernels.h"
#include "tests/dsl/random_stencil.h"

namespace dogged::dsl {

// A cache of compiled kernels that lives as long as a test.
class KernelCache {
 public:
  KernelCache() {
    std::string name = testing::TempDir() + "/dogged-kernels-XXXXXX";
    path_ = mkdtemp(name.data());
  }
  ~KernelCache() { std::filesystem::remove_all(path_); }
  CompileSource Source() const {
    return [this](absl::string_view source) -> absl::StatusOr<FindSymbol> {
      auto symbols =
          KernelCompiler({.compiler = "cc", .cache_directory = path_})
              .Load(source);
      if (!symbols.ok()) return symbols.status();
      return FindSymbol(*symbols);
    };
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline CompileOptions Options() {
  CompileOptions options;
  options.file = "test.dog";
  options.analyze = AnalyzeWithIsl;
  return options;
}

inline Job MustCompile(const std::string& text, const CompileOptions& options,
                       const KernelRegistry& registry = KernelRegistry()) {
  Diagnostics diagnostics("", "");
  absl::StatusOr<Job> job = Compile(text, options, registry, diagnostics);
  EXPECT_TRUE(job.ok()) << job.status() << "\n"
                        << diagnostics.ToString() << "\n"
                        << text;
  return job.ok() ? *std::move(job) : Job();
}

inline std::string MustDigest(const Job& job, const CompileSource& compile) {
  const absl::StatusOr<Digest> digest =
      DigestOf(job, KernelRegistry(), compile);
  EXPECT_TRUE(digest.ok()) << digest.status();
  return digest.ok() ? digest->ToString() : "";
}

inline SerialOutcome MustRun(const std::string& text,
                             const CompileOptions& options) {
  Diagnostics diagnostics("", "");
  absl::StatusOr<SerialOutcome> out =
      SerialRun(text, options, KernelRegistry(), diagnostics);
  EXPECT_TRUE(out.ok()) << out.status() << "\n" << diagnostics.ToString();
  return out.ok() ? *std::move(out) : SerialOutcome();
}

inline std::string ReadApp(const std::string& name) {
  std::ifstream in(absl::StrCat(DOGGED_APPS_DIR, "/", name));
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

// Holds the outputs of `job`'s kernels to what they say of them before they
// run.
inline void ExpectForetold(const Job& job) {
  absl::StatusOr<KernelTable> kernels =
      LoadKernels(job, KernelRegistry(), nullptr);
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  const auto run =
      RunSerially(Relations(job.program), Foretold(*std::move(kernels)),
                  [](const Label&, const Value&) { return absl::OkStatus(); });
  EXPECT_TRUE(run.ok()) << run.status();
}

// Every way to run `text`, in tiles of `shape` where tiles are possible.
inline void ExpectOneDigest(const std::string& text, CompileOptions options,
                            const TileShape& shape,
                            const CompileSource& compile) {
  const std::string serial = MustRun(text, options).digest.ToString();
  options.shape = shape;
  const Job tiles = MustCompile(text, options);
  EXPECT_EQ(MustDigest(tiles, nullptr), serial)
      << "tiles, interpreted: " << tiles.lowering;
  ExpectForetold(tiles);
  if (compile != nullptr) {
    EXPECT_EQ(MustDigest(tiles, compile), serial)
        << "tiles, compiled: " << tiles.lowering;
  }
  options.coalesce = false;
  const Job points = MustCompile(text, options);
  EXPECT_EQ(MustDigest(points, nullptr), serial) << "points, interpreted";
  ExpectForetold(points);
  if (compile != nullptr) {
    EXPECT_EQ(MustDigest(points, compile), serial) << "points, compiled";
  }
}

// Random tiles for `stencil`.
inline TileShape ShapeFor(const RandomStencil& stencil, Rng& rng) {
  TileShape out{.widths = {}, .depth = 1 + rng.Below(6)};
  out.slab_points = 1 + rng.Below(200);
  for (size_t d = 0; d < stencil.extents.size(); ++d) {
    out.widths.push_back(1 + rng.Below(30));
  }
  return out;
}

// `stencil` is a program of tiles, and has the bits of its loops in every way
// to run, in tiles of `shape`.
inline void ExpectItsLoops(const RandomStencil& stencil, CompileOptions options,
                           const TileShape& shape,
                           const CompileSource& compile) {
  const std::string text = stencil.Text();
  const SerialOutcome out = MustRun(text, options);
  const auto expected = stencil.Loops();
  ASSERT_EQ(out.values.size(), expected.size());
  for (size_t f = 0; f < expected.size(); ++f) {
    ASSERT_THAT(out.values[f].span<double>(),
                testing::ElementsAreArray(expected[f]));
  }
  ExpectOneDigest(text, options, shape, compile);
  options.shape = shape;
  EXPECT_THAT(MustCompile(text, options).lowering,
              testing::HasSubstr("steps deep"));
}

}  // namespace dogged::dsl

#endif  // DOGGED_TESTS_DSL_COMPILE_TOOLS_H_
