#include "apps/dogged_bench/report.h"

#include <sys/resource.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/clock.h"

namespace dogged {

double Median(std::vector<double> samples) {
  const auto middle =
      samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

double Seconds(const std::function<void()>& run) {
  SystemClock clock;
  const absl::Time start = clock.Now();
  run();
  return absl::ToDoubleSeconds(clock.Now() - start);
}

double CpuSeconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
           1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int64_t PeakRssBytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

std::string ToTable(const std::vector<BenchRow>& rows) {
  std::string out;
  for (const BenchRow& row : rows) {
    absl::StrAppendFormat(&out, "%-40s %12.4g %-10s %3d samples", row.name,
                          row.value, row.unit, row.samples);
    if (!row.ratio_to.empty()) {
      absl::StrAppendFormat(&out, "  %.3f of %s", row.ratio, row.ratio_to);
    }
    out += "\n";
  }
  return out;
}

std::string ToJson(const std::vector<BenchRow>& rows) {
  std::string out = "[";
  for (const BenchRow& row : rows) {
    absl::StrAppendFormat(
        &out,
        "%s\n  {\"name\": \"%s\", \"value\": %.6g, \"unit\": \"%s\", "
        "\"samples\": %d",
        out.size() > 1 ? "," : "", row.name, row.value, row.unit, row.samples);
    if (!row.ratio_to.empty()) {
      absl::StrAppendFormat(&out, ", \"ratio_to\": \"%s\", \"ratio\": %.4f",
                            row.ratio_to, row.ratio);
    }
    out += "}";
  }
  return out + "\n]\n";
}

}  // namespace dogged
