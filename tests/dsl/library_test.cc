// Aim: kernels come from a library of the user's own; the error of a kernel
// names the task.
// Method: a library compiled here, used by programs, in the order of the
// promises of docs/LANGUAGE.md.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {
namespace {

constexpr char kSource[] = R"(
struct value {
  void* data;
  long rank;
  const long* extents;
  long type;
};
int fill(const struct value* in, struct value* out, const double* numbers) {
  (void)in;
  long count = 1;
  for (long d = 0; d < out[0].rank; ++d) count *= out[0].extents[d];
  for (long i = 0; i < count; ++i) {
    ((double*)out[0].data)[i] = numbers[0] + (double)i;
  }
  return out[0].type;
}
int twice(const struct value* in, struct value* out, const double* numbers) {
  (void)numbers;
  for (long i = 0; i < in[0].extents[0] * in[0].extents[1]; ++i) {
    ((double*)out[0].data)[i] = 2 * ((const double*)in[0].data)[i];
  }
  return 0;
}
int give_up(const struct value* in, struct value* out, const double* numbers) {
  (void)in, (void)out, (void)numbers;
  return 7;
}
)";

std::string Text(const std::string& kernel, const std::string& hints = "") {
  return absl::StrCat(R"(
param N = 3
array A(i = 0:N-1)(k = 0:N-1) : double [2, 5]
kernel fill(out a, number) from "mine.so"
kernel )",
                      kernel, R"((in a, out b) from "mine.so"
input A(i)(0) for i = 0:N-1 else call fill(A, 10*i)
task next
  creates A(i)(k) as b
  for i = 0:N-1  k = 1:N-1
  using A(i)(k-1) as a
  call )",
                      kernel, "(a, b)\n", hints, R"(
end task
result A(:)(N-1)
)");
}

class LibraryTest : public testing::Test {
 protected:
  LibraryTest() {
    const std::string c_file = cache_.path() + "/mine.c";
    std::ofstream(c_file) << kSource;
    const std::string command = absl::StrCat(
        "cc -shared -fPIC -o ", cache_.path(), "/mine.so ", c_file);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): the only thread.
    EXPECT_EQ(std::system(command.c_str()), 0);
    options_ = Options();
    options_.file = cache_.path() + "/test.dog";
    options_.read_file =
        [](const std::string& path) -> absl::StatusOr<std::string> {
      std::ifstream in(path, std::ios::binary);
      std::ostringstream out;
      out << in.rdbuf();
      if (!in.is_open()) return absl::NotFoundError(path);
      return out.str();
    };
    options_.load_library = [this](const KernelLibrarySpec& spec) {
      return KernelCompiler(
                 {.compiler = "cc", .cache_directory = cache_.path()})
          .LoadHere(spec);
    };
  }

  KernelCache cache_;
  CompileOptions options_;
};

TEST_F(LibraryTest, ProgramsSayWhatACallCosts) {
  const auto flops_of_next = [this](const std::string& hints) {
    const Job job = MustCompile(Text("twice", hints), options_);
    const auto kernels =
        LoadKernels(job, KernelRegistry(), nullptr, options_.load_library);
    EXPECT_TRUE(kernels.ok()) << kernels.status();
    const auto k = static_cast<size_t>(job.program.classes[1].kernel);
    return (*kernels)[k]->Flops({.task_class = 1, .index = {2, 1}});
  };
  EXPECT_EQ(flops_of_next(""), 0);
  EXPECT_EQ(flops_of_next("cost 10.5*N + 100*i + k"), 31.5 + 200 + 1);
  EXPECT_EQ(MustRun(Text("twice"), options_).digest,
            MustRun(Text("twice", "cost 10 priority i"), options_).digest);
}

TEST_F(LibraryTest, KernelsComputeBlocks) {
  const SerialOutcome out = MustRun(Text("twice"), options_);
  ASSERT_EQ(out.values.size(), 1u);
  const auto values = out.values[0].span<double>();
  ASSERT_EQ(values.size(), 30u);
  // Block i starts as 10*i, 10*i + 1, ... and is doubled twice.
  for (size_t i = 0; i < 3; ++i) {
    for (size_t e = 0; e < 10; ++e) {
      const size_t at = (i * 2 + e / 5) * 5 + e % 5;
      EXPECT_EQ(values[at],
                4.0 * (10.0 * static_cast<double>(i) + static_cast<double>(e)))
          << i << " " << e;
    }
  }
  // The job carries the library: the file may go.
  const Job job = MustCompile(Text("twice"), options_);
  std::filesystem::remove(cache_.path() + "/mine.so");
  const auto digest =
      DigestOf(job, KernelRegistry(), nullptr, options_.load_library);
  ASSERT_TRUE(digest.ok()) << digest.status();
  EXPECT_EQ(*digest, out.digest);
}

TEST_F(LibraryTest, ACheckMissesAFunctionWhereItIsDeclared) {
  options_.loads_libraries = true;
  Diagnostics diagnostics("", "");
  EXPECT_FALSE(
      Compile(Text("absent"), options_, KernelRegistry(), diagnostics).ok());
  EXPECT_THAT(diagnostics.ToString(),
              testing::HasSubstr(
                  "test.dog:5:8: error[D017]: mine.so has no function absent"));
  EXPECT_TRUE(
      Compile(Text("twice"), options_, KernelRegistry(), diagnostics).ok());
  EXPECT_EQ(diagnostics.ToString(), "");
}

TEST_F(LibraryTest, FailuresAreNamed) {
  Diagnostics diagnostics("", "");
  auto run =
      SerialRun(Text("give_up"), options_, KernelRegistry(), diagnostics);
  EXPECT_THAT(
      std::string(run.status().message()),
      testing::AllOf(
          testing::HasSubstr("next(0)(1)"),
          testing::HasSubstr("kernel give_up of mine.so gave up with code 7")));
  run = SerialRun(Text("absent"), options_, KernelRegistry(), diagnostics);
  EXPECT_THAT(std::string(run.status().message()),
              testing::HasSubstr("mine.so has no function absent"));
  std::ofstream(cache_.path() + "/mine.so") << "no library";
  run = SerialRun(Text("twice"), options_, KernelRegistry(), diagnostics);
  EXPECT_THAT(std::string(run.status().message()),
              testing::HasSubstr("mine.so: can't be loaded"));
  std::filesystem::remove(cache_.path() + "/mine.so");
  run = SerialRun(Text("twice"), options_, KernelRegistry(), diagnostics);
  EXPECT_THAT(diagnostics.ToString(),
              testing::HasSubstr("error[D017]: mine.so can't be read"));
}

}  // namespace
}  // namespace dogged::dsl
