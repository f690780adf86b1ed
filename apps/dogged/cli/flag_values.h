// Values of flags and of their DOGGED_* variables, from text. Each error is
// kInvalidArgument, names the flag, and says what to write.
#ifndef DOGGED_APPS_DOGGED_CLI_FLAG_VALUES_H_
#define DOGGED_APPS_DOGGED_CLI_FLAG_VALUES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "apps/dogged/run/program_options.h"
#include "apps/dogged/run/run_options.h"

namespace dogged {

// "NAME=VALUE" each, no NAME twice. Spaces around either don't count.
absl::StatusOr<Definitions> ParsePairs(const std::vector<std::string>& texts,
                                       absl::string_view flag);

// "40%" or "2.5s", several separated by commas.
absl::StatusOr<std::vector<When>> ParseWhens(const std::string& text,
                                             absl::string_view flag);

// "5" or "2.5s", more than 0; 0 if `text` is empty.
absl::StatusOr<double> ParseSeconds(absl::string_view text,
                                    absl::string_view flag);

// "90s", "10m", "2h" or "7d", more than 0, and at most 30 days. `out` stays as
// it is if `text` is empty.
absl::Status ParseTime(absl::string_view text, absl::string_view flag,
                       absl::Duration& out);

// A whole number from 0.
absl::StatusOr<uint64_t> ParseSeed(absl::string_view text,
                                   absl::string_view flag);

// "1000000", "512K", "64M" or "4G": of 1024, 1024^2, 1024^3 bytes. More than 0;
// 0 if `text` is empty.
absl::StatusOr<int64_t> ParseBytes(absl::string_view text,
                                   absl::string_view flag);

// "A:B", the first and the last seed.
absl::Status ParseSeeds(absl::string_view text, uint64_t& first,
                        uint64_t& last);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_CLI_FLAG_VALUES_H_
