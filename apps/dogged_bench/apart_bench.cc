// A call of a user's kernel in a process of its own against the same call here:
// the price of being safe from it. Microseconds; the kernel writes its output.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "apps/dogged_bench/agents_run.h"
#include "apps/dogged_bench/bench.h"
#include "runtime/base/check.h"
#include "runtime/exec/kernels/kernel_library.h"
#include "runtime/exec/kernels/kernel_processes.h"

namespace dogged {
namespace {

constexpr int kCalls = 200;  // a sample

double MicrosPerCall(KernelLibrary& library, const Value& input,
                     const Shape& shape) {
  const std::vector<std::string> names = {"in", "out"};
  return 1e6 / kCalls * Seconds([&] {
           for (int call = 0; call < kCalls; ++call) {
             std::vector<Value> in = {input};
             std::vector<Value> out = {
                 Value::Allocate(ElementType::kInt64, shape)};
             NativeCall native{.in = absl::MakeSpan(in),
                               .out = absl::MakeSpan(out),
                               .names = names};
             const absl::Status status = library.Call("fill", native);
             DOGGED_CHECK(status.ok()) << status.ToString();
           }
         });
}

}  // namespace

std::vector<BenchRow> BenchApart(const BenchOptions& options) {
  std::ifstream file(absl::StrCat(BenchFolder(), "/dogged-bench-stamps.so"),
                     std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)),
                            std::istreambuf_iterator<char>());
  const KernelLibrarySpec spec{.name = "dogged-bench-stamps.so",
                               .content = content,
                               .functions = {"fill"}};
  const KernelCompiler compiler(
      {.cache_directory = KernelCacheDirectory("", "")});
  const std::string program = absl::StrCat(BenchFolder(), "/dogged");
  const auto here = compiler.LoadHere(spec);
  const auto apart = KernelProcesses({.is_on = false}, program).Load(spec);
  const auto jailed = KernelProcesses({}, program).Load(spec);
  DOGGED_CHECK(here.ok() && apart.ok()) << apart.status().ToString();
  DOGGED_CHECK(jailed.ok()) << jailed.status().ToString();
  std::vector<BenchRow> rows;
  for (const int64_t bytes : {128, 32 << 10, 512 << 10, 8 << 20}) {
    const Shape shape{bytes / 8};
    Value input = Value::Allocate(ElementType::kInt64, shape);
    std::fill(input.mutable_span<int64_t>().begin(),
              input.mutable_span<int64_t>().end(), 1);
    std::vector<double> times[3];
    MicrosPerCall(**apart, input, shape);  // pages are new once
    MicrosPerCall(**jailed, input, shape);
    for (int sample = 0; sample < options.samples; ++sample) {
      times[0].push_back(MicrosPerCall(**here, input, shape));
      times[1].push_back(MicrosPerCall(**apart, input, shape));
      times[2].push_back(MicrosPerCall(**jailed, input, shape));
    }
    const std::string name = absl::StrCat("call_here_", bytes);
    const double base = Median(times[0]);
    const double cost = Median(times[1]);
    rows.push_back({name, base, "us", options.samples, "", 0});
    rows.push_back({absl::StrCat("call_apart_", bytes), cost, "us",
                    options.samples, name, cost / base});
    const double jail_cost = Median(times[2]);
    rows.push_back({absl::StrCat("call_jailed_", bytes), jail_cost, "us",
                    options.samples, name, jail_cost / base});
  }
  return rows;
}

}  // namespace dogged
