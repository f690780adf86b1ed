#include "apps/output/run_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace dogged {
namespace {

constexpr int kBarCells = 32;
constexpr int kBarCellsMin = 8;
// Shorter fetches of results are no news.
constexpr absl::Duration kFetchTold = absl::Milliseconds(500);

// A number of 1000^n: "1.2 M" with tens cut off, not rounded, so that 499 999
// never reads as 500 k.
std::string Scaled(int64_t count, absl::Span<const absl::string_view> units) {
  size_t unit = 0;
  int64_t scale = 1;
  while (unit + 1 < units.size() && count / scale >= 1000) {
    scale *= 1000;
    ++unit;
  }
  if (unit == 0) return absl::StrCat(count, units[0]);
  const int64_t tenths = count / (scale / 10);
  if (tenths < 100) {
    return absl::StrCat(tenths / 10, ".", tenths % 10, units[unit]);
  }
  return absl::StrCat(tenths / 10, units[unit]);
}

// Element i of `value` in digits that give its bits back.
std::string ElementText(const Value& value, int64_t i) {
  switch (value.type()) {
    case ElementType::kDouble:
      return absl::StrFormat("%.17g",
                             static_cast<const double*>(value.data())[i]);
    case ElementType::kFloat:
      return absl::StrFormat("%.9g",
                             static_cast<const float*>(value.data())[i]);
    case ElementType::kInt64:
      return absl::StrCat(static_cast<const int64_t*>(value.data())[i]);
  }
  return "";
}

// "66 %"; only the end is 100 %.
std::string ShareDone(const Progress& progress) {
  const double share =
      static_cast<double>(progress.done) / static_cast<double>(progress.needed);
  int percent = static_cast<int>(std::floor(100 * share));
  if (progress.done < progress.needed) percent = std::min(percent, 99);
  return absl::StrCat(percent, " %");
}

std::string Bar(const Progress& progress, int cells) {
  const double share =
      static_cast<double>(progress.done) / static_cast<double>(progress.needed);
  const int full = std::clamp(static_cast<int>(share * cells), 0, cells);
  return absl::StrCat("[", std::string(static_cast<size_t>(full), '#'),
                      std::string(static_cast<size_t>(cells - full), '.'),
                      "] ");
}

}  // namespace

std::string GroupedCount(int64_t count) {
  std::string digits = absl::StrCat(count);
  const int first = count < 0 ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3) {
    digits.insert(static_cast<size_t>(at), " ");
  }
  return digits;
}

std::string HumanCount(int64_t count) {
  if (count < 10000) return GroupedCount(count);
  return Scaled(count, {"", " k", " M", " G", " T", " P", " E"});
}

std::string HumanBytes(int64_t bytes) {
  return Scaled(bytes, {" B", " kB", " MB", " GB", " TB", " PB", " EB"});
}

std::string HumanPercent(double share) {
  const double percent = 100 * share;
  if (percent <= 0) return "0 %";
  if (percent < 0.01) return "less than 0.01 %";
  // Rounded to two digits, 9.96 needs none behind the point.
  if (percent < 0.995) return absl::StrFormat("%.2f %%", percent);
  if (percent < 9.95) return absl::StrFormat("%.1f %%", percent);
  return absl::StrFormat("%.0f %%", percent);
}

std::string Printable(absl::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return out;
}

std::string HumanTimeLeft(absl::Duration left) {
  const int64_t seconds = std::max<int64_t>(
      0, absl::ToInt64Seconds(absl::Ceil(left, absl::Seconds(1))));
  const int64_t hours = seconds / 3600;
  if (hours >= 48) return absl::StrCat(hours / 24, " d ", hours % 24, " h");
  if (hours > 0) {
    return absl::StrFormat("%d:%02d:%02d", hours, seconds / 60 % 60,
                           seconds % 60);
  }
  return absl::StrFormat("%d:%02d", seconds / 60, seconds % 60);
}

std::string HumanElapsed(absl::Duration elapsed) {
  const double seconds = absl::ToDoubleSeconds(elapsed);
  if (seconds < 0.995) return absl::StrFormat("%.2f s", seconds);
  if (seconds < 59.95) return absl::StrFormat("%.1f s", seconds);
  if (seconds < 599.5) return absl::StrFormat("%.0f s", seconds);
  return absl::StrFormat("%.0f min", seconds / 60);
}

std::string ProgressLine(const Progress& progress, const Pace& pace,
                         int columns) {
  std::vector<std::string> parts;  // the most important first
  if (progress.needed > 0) {
    parts.push_back(ShareDone(progress));
    parts.push_back(absl::StrCat("  ", HumanCount(progress.done), "/",
                                 HumanCount(progress.needed)));
  } else {
    parts.push_back(absl::StrCat(HumanCount(progress.done), " tasks"));
  }
  if (!progress.place.empty()) {
    parts.push_back(absl::StrCat("   ", progress.place));
  }
  if (pace.tasks_per_second >= 1) {
    parts.push_back(absl::StrCat(
        "   ", HumanCount(static_cast<int64_t>(pace.tasks_per_second)),
        " tasks/s"));
  }
  if (pace.left.has_value() && progress.done < progress.needed) {
    parts.push_back(absl::StrCat("   left ", HumanTimeLeft(*pace.left)));
  }
  if (progress.wanted > 1 || progress.alive > 1) {
    parts.push_back(
        absl::StrCat("   alive ", progress.alive, "/", progress.wanted));
    if (progress.silent > 0) {
      parts.back() += absl::StrCat(", ", progress.silent, " silent");
    }
  }
  std::string line;
  for (const std::string& part : parts) {
    if (static_cast<int>(line.size() + part.size()) > columns) break;
    line += part;
  }
  // Two brackets and a blank.
  const int room = columns - static_cast<int>(line.size()) - 3;
  if (progress.needed > 0 && room >= kBarCellsMin) {
    line = Bar(progress, std::min(room, kBarCells)) + line;
  }
  return line;
}

std::string CauseOfSignal(int signal) {
  return absl::StrCat("killed by signal ", signal);
}

std::string CauseOfExit(int status) {
  return absl::StrCat("exited with status ", status);
}

std::string LossSentence(const Loss& loss) {
  std::string text = absl::StrCat("lost ", loss.who, " (", loss.cause,
                                  " after ", HumanElapsed(loss.after), "): ");
  if (loss.redone <= 0) {
    absl::StrAppend(&text, "nothing had to be redone");
  } else if (loss.needed <= 0) {
    absl::StrAppend(&text, GroupedCount(loss.redone),
                    loss.redone == 1 ? " task" : " tasks", " redone");
  } else {
    absl::StrAppend(&text,
                    HumanPercent(static_cast<double>(loss.redone) /
                                 static_cast<double>(loss.needed)),
                    " of the work redone");
  }
  if (!loss.replaced_by.empty()) {
    absl::StrAppend(&text, "; ", loss.replaced_by, " took its place");
  }
  return text;
}

std::string ReplicasSentence(int32_t asked, int32_t agents) {
  if (asked <= agents) return "";
  return absl::StrCat("--replicas ", asked, " with ", agents,
                      agents == 1 ? " agent" : " agents", " keeps ", agents,
                      agents == 1 ? " copy" : " copies", " of each value");
}

std::string DoneSentence(const Ending& ending) {
  const std::string elapsed = HumanElapsed(ending.elapsed);
  if (!ending.missing.empty()) {
    return absl::StrCat("computed in ", elapsed,
                        ", but not done: ", ending.missing);
  }
  std::string text = absl::StrCat("done in ", elapsed);
  if (ending.fetched > ending.elapsed / 20 && ending.fetched > kFetchTold) {
    absl::StrAppend(&text, "   results fetched in ",
                    HumanElapsed(ending.fetched));
  }
  if (ending.agents_lost > 0) {
    absl::StrAppend(&text, "   agents lost ", ending.agents_lost);
  }
  if (ending.redone > 0 && ending.needed > 0) {
    absl::StrAppend(&text, "   redone ",
                    HumanPercent(static_cast<double>(ending.redone) /
                                 static_cast<double>(ending.needed)));
  }
  return text;
}

std::string ResultSentence(absl::string_view path, int64_t bytes) {
  return absl::StrCat("result ", path, " (", HumanBytes(bytes), ")");
}

std::string CheckSentence(const Digest& result, const Digest& serial) {
  if (result == serial) {
    return absl::StrCat("check: matches the serial run bit for bit (digest ",
                        result.ToString(), ")");
  }
  return absl::StrCat("check: DIFFERS from the serial run: digest ",
                      result.ToString(), ", serial ", serial.ToString());
}

std::string DifferenceSentence(absl::string_view array, const Value& result,
                               const Value& serial) {
  const auto size = static_cast<size_t>(ElementBytes(result.type()));
  const auto at = [size](const Value& value, int64_t i) {
    return static_cast<const char*>(value.data()) +
           static_cast<size_t>(i) * size;
  };
  int64_t count = 0;
  int64_t first = 0;
  for (int64_t i = 0; i < result.element_count(); ++i) {
    if (std::memcmp(at(result, i), at(serial, i), size) == 0) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return "";
  std::vector<int64_t> place(result.shape().size());
  int64_t left = first;
  for (size_t k = place.size(); k-- > 0;) {
    const int64_t extent = result.shape()[static_cast<int>(k)];
    place[k] = left % extent;
    left /= extent;
  }
  return absl::StrCat(
      array, ": ", count, " of ", result.element_count(), " differ, the first",
      place.empty() ? ""
                    : absl::StrCat(" at [", absl::StrJoin(place, ", "), "]"),
      ": ", ElementText(result, first), ", serially ",
      ElementText(serial, first));
}

}  // namespace dogged
