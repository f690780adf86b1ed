// Report of the benchmark program: a table for people or rows of JSON.
#ifndef DOGGED_APPS_DOGGED_BENCH_REPORT_H_
#define DOGGED_APPS_DOGGED_BENCH_REPORT_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace dogged {

struct BenchRow {
  std::string name;
  double value = 0;  // the median of the samples
  std::string unit;
  int64_t samples = 0;
  std::string ratio_to;  // the row that `ratio` compares with; may be empty
  double ratio = 0;
};

// The middle of `samples`, of which there is at least one.
double Median(std::vector<double> samples);
// Wall time of `run`.
double Seconds(const std::function<void()>& run);
// Processor time of all threads of this process so far.
double CpuSeconds();
// The largest resident size of this process so far.
int64_t PeakRssBytes();

std::string ToTable(const std::vector<BenchRow>& rows);
std::string ToJson(const std::vector<BenchRow>& rows);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_BENCH_REPORT_H_
