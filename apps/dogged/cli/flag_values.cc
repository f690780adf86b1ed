#include "apps/dogged/cli/flag_values.h"

#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/job/context/job_options.h"

namespace dogged {
namespace {

constexpr absl::string_view kNoWhen =
    "is neither a share (40%) nor a time (2.5s)";

absl::Status Wrong(absl::string_view flag, absl::string_view text,
                   absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, " \"", text, "\" ", what));
}

// A finite number from 0, without a sign.
bool IsNumber(absl::string_view text, double& out) {
  return !text.empty() && (absl::ascii_isdigit(text[0]) || text[0] == '.') &&
         absl::SimpleAtod(text, &out) && std::isfinite(out);
}

// A whole number from 0, without a sign.
bool IsWhole(absl::string_view text, uint64_t& out) {
  return !text.empty() && absl::ascii_isdigit(text[0]) &&
         absl::SimpleAtoi(text, &out);
}

}  // namespace

absl::StatusOr<Definitions> ParsePairs(const std::vector<std::string>& texts,
                                       absl::string_view flag) {
  Definitions out;
  for (const std::string& text : texts) {
    std::pair<std::string, std::string> pair =
        absl::StrSplit(text, absl::MaxSplits('=', 1));
    absl::StripAsciiWhitespace(&pair.first);
    absl::StripAsciiWhitespace(&pair.second);
    if (pair.first.empty() || !absl::StrContains(text, '=')) {
      return Wrong(
          flag, text,
          flag == "--input" ? "is not ARRAY=FILE" : "is not NAME=VALUE");
    }
    for (const auto& [name, value] : out) {
      if (name != pair.first) continue;
      return absl::InvalidArgumentError(
          absl::StrCat(flag, " gives ", name, " twice: ", value, " and ",
                       pair.second, "; leave out one of them"));
    }
    out.push_back(std::move(pair));
  }
  return out;
}

absl::StatusOr<std::vector<When>> ParseWhens(const std::string& text,
                                             absl::string_view flag) {
  std::vector<When> out;
  for (absl::string_view word : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    When when{.text = std::string(word)};
    double number = 0;
    absl::string_view digits = word;
    const bool is_share = absl::ConsumeSuffix(&digits, "%");
    const bool is_time = !is_share && absl::ConsumeSuffix(&digits, "s");
    if (!IsNumber(digits, number)) return Wrong(flag, word, kNoWhen);
    if (is_share && number > 100) {
      return Wrong(flag, word, "is more than all tasks, which are 100%");
    }
    if (!is_share && !is_time) {
      const double percent = number < 1 ? number * 100 : number;
      return Wrong(flag, word,
                   absl::StrCat("has no unit: write ", percent,
                                "% of the tasks, or ", word, "s"));
    }
    if (is_share) {
      when.share = number / 100;
    } else {
      when.seconds = number;
    }
    out.push_back(std::move(when));
  }
  if (out.empty() && !text.empty()) {
    return Wrong(flag, text, kNoWhen);
  }
  return out;
}

absl::StatusOr<double> ParseSeconds(absl::string_view text,
                                    absl::string_view flag) {
  if (text.empty()) return 0.0;
  double number = 0;
  absl::string_view digits = text;
  absl::ConsumeSuffix(&digits, "s");
  if (!IsNumber(digits, number) || number <= 0) {
    return Wrong(flag, text, "is no time: write seconds, as 5 or 2.5s");
  }
  return number;
}

absl::Status ParseTime(absl::string_view text, absl::string_view flag,
                       absl::Duration& out) {
  constexpr std::pair<absl::string_view, double> kUnits[] = {
      {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 24 * 3600}};
  constexpr double kMost = static_cast<double>(JobOptions::kKeepMax) / 1000;
  if (text.empty()) return absl::OkStatus();
  for (const auto& [unit, seconds] : kUnits) {
    absl::string_view digits = text;
    double number = 0;
    if (!absl::ConsumeSuffix(&digits, unit)) continue;
    if (!IsNumber(digits, number) || number <= 0) break;
    if (number * seconds > kMost) {
      return Wrong(flag, text, "is too long: 30d is the most");
    }
    out = absl::Seconds(number * seconds);
    return absl::OkStatus();
  }
  return Wrong(flag, text, "is no time: write 90s, 10m, 2h or 7d");
}

absl::StatusOr<uint64_t> ParseSeed(absl::string_view text,
                                   absl::string_view flag) {
  uint64_t seed = 0;
  if (!IsWhole(text, seed)) {
    return Wrong(flag, text,
                 absl::StrCat("is no seed: write a whole number from 0 to ",
                              std::numeric_limits<uint64_t>::max()));
  }
  return seed;
}

absl::StatusOr<int64_t> ParseBytes(absl::string_view text,
                                   absl::string_view flag) {
  if (text.empty()) return int64_t{0};
  absl::string_view digits = text;
  int shift = 0;
  if (absl::ConsumeSuffix(&digits, "K")) {
    shift = 10;
  } else if (absl::ConsumeSuffix(&digits, "M")) {
    shift = 20;
  } else if (absl::ConsumeSuffix(&digits, "G")) {
    shift = 30;
  }
  uint64_t number = 0;
  if (!IsWhole(digits, number) || number == 0 ||
      number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) >>
          shift) {
    return Wrong(flag, text,
                 "is no size: write bytes, or 512K, 64M, 4G (of 1024 bytes, "
                 "1024^2, 1024^3)");
  }
  return static_cast<int64_t>(number << shift);
}

absl::Status ParseSeeds(absl::string_view text, uint64_t& first,
                        uint64_t& last) {
  const std::pair<absl::string_view, absl::string_view> range =
      absl::StrSplit(text, absl::MaxSplits(':', 1));
  if (IsWhole(range.first, first) && IsWhole(range.second, last) &&
      first <= last) {
    return absl::OkStatus();
  }
  return Wrong("--seeds", text,
               "is not A:B, the first seed and the last, as 1:100");
}

}  // namespace dogged
