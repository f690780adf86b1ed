#include "dsl/text/diagnostics.h"

#include <algorithm>
#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dogged::dsl {
namespace {

constexpr int32_t kLineShownMax = 120;  // bytes of a source line in a message

// Letters to insert, drop, replace or swap to get from a to b.
int EditDistance(absl::string_view a, absl::string_view b) {
  const size_t width = b.size() + 1;
  std::vector<int> before_last(width);
  std::vector<int> last(width);
  std::vector<int> row(width);
  for (size_t j = 0; j < width; ++j) row[j] = static_cast<int>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    before_last = last;
    last = row;
    row[0] = static_cast<int>(i);
    for (size_t j = 1; j < width; ++j) {
      const int replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
  }
  return row.back();
}

// A source line as it may be shown: no control characters.
std::string Shown(absl::string_view line) {
  std::string out;
  for (const char c : line) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte == 0x7f ? ' ' : c;
  }
  return out;
}

}  // namespace

Diagnostics::Diagnostics(std::string file, std::string text)
    : file_(std::move(file)), text_(std::move(text)) {
  line_starts_.push_back(0);
  for (size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(static_cast<int32_t>(i + 1));
  }
}

Diagnostic& Diagnostics::Error(Code code, SourceRange range,
                               std::string message) {
  ++error_count_;
  return Add(Severity::kError, code, range, std::move(message));
}

Diagnostic& Diagnostics::Warning(Code code, SourceRange range,
                                 std::string message) {
  return Add(Severity::kWarning, code, range, std::move(message));
}

Diagnostic& Diagnostics::Add(Severity severity, Code code, SourceRange range,
                             std::string message) {
  all_.push_back({.severity = severity,
                  .code = code,
                  .range = range,
                  .message = std::move(message),
                  .note = "",
                  .help = ""});
  return all_.back();
}

int Diagnostics::LineOf(int32_t offset) const {
  const auto next =
      std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<int>(next - line_starts_.begin());
}

const SourcePart* Diagnostics::PartOf(int line) const {
  const SourcePart* out = nullptr;
  for (const SourcePart& part : parts_) {
    if (part.first_line <= line) out = &part;
  }
  return out;
}

std::pair<int, int> Diagnostics::LineAndColumn(int32_t offset) const {
  const int line = LineOf(offset);
  const int column = offset - line_starts_[line - 1] + 1;
  const SourcePart* const part = PartOf(line);
  if (part == nullptr) return {line, column};
  return {line - part->first_line + part->line_there, column};
}

std::string Diagnostics::PlaceOf(int32_t offset) const {
  const auto [line, column] = LineAndColumn(offset);
  const SourcePart* const part = PartOf(LineOf(offset));
  std::string out = part == nullptr ? file_ : part->file;
  if (part == nullptr || part->line_there > 0) {
    absl::StrAppend(&out, ":", line, ":", column);
  }
  return out;
}

std::string Diagnostics::ToString(const Diagnostic& diagnostic) const {
  const absl::string_view severity =
      diagnostic.severity == Severity::kError ? "error" : "warning";
  const SourceRange range = diagnostic.range;
  const int line = LineAndColumn(range.begin).first;
  const int column = LineAndColumn(range.begin).second;
  const int text_line = LineOf(range.begin);
  const SourcePart* const part = PartOf(text_line);
  const bool has_numbers = part == nullptr || part->line_there > 0;
  std::string out = range.IsNone() ? file_ : PlaceOf(range.begin);
  absl::StrAppend(&out, ": ", severity, "[", CodeText(diagnostic.code),
                  "]: ", diagnostic.message, "\n");
  if (!range.IsNone()) {
    const int32_t start = line_starts_[text_line - 1];
    const size_t newline = text_.find('\n', static_cast<size_t>(start));
    const int32_t end = newline == std::string::npos
                            ? static_cast<int32_t>(text_.size())
                            : static_cast<int32_t>(newline);
    // A long line is shown from a little before the place.
    const int32_t shown_begin = column > kLineShownMax - 40
                                    ? range.begin - (kLineShownMax - 40)
                                    : start;
    const int32_t shown_end = std::min(end, shown_begin + kLineShownMax);
    const std::string number =
        has_numbers ? absl::StrFormat("%2d", line) : "  ";
    const std::string margin(number.size(), ' ');
    absl::StrAppend(
        &out, number, " | ",
        Shown(absl::string_view(text_).substr(
            shown_begin, static_cast<size_t>(shown_end - shown_begin))),
        "\n", margin, " | ", std::string(range.begin - shown_begin, ' '),
        std::string(std::max(1, std::min(range.end, shown_end) - range.begin),
                    '^'));
    if (!diagnostic.note.empty()) absl::StrAppend(&out, " ", diagnostic.note);
    out += "\n";
    if (!diagnostic.help.empty()) absl::StrAppend(&out, margin, " ");
  }
  if (!diagnostic.help.empty()) {
    absl::StrAppend(&out, "= help: ", diagnostic.help, "\n");
  }
  return out;
}

std::string Diagnostics::ToString() const {
  std::vector<const Diagnostic*> order;
  for (const Diagnostic& diagnostic : all_) order.push_back(&diagnostic);
  std::stable_sort(order.begin(), order.end(),
                   [](const Diagnostic* a, const Diagnostic* b) {
                     return a->range.begin < b->range.begin;
                   });
  std::string out;
  int shown = 0;
  for (const Diagnostic* diagnostic : order) {
    if (++shown > kShownMax) break;
    out += ToString(*diagnostic);
  }
  if (const size_t count = all_.size(); count > kShownMax) {
    absl::StrAppend(&out, file_, ": and ", count - kShownMax, " more\n");
  }
  return out;
}

std::string CodeText(Code code) {
  return absl::StrFormat("D%03d", static_cast<int>(code));
}

std::string Nearest(absl::string_view name,
                    const std::vector<std::string>& candidates) {
  std::string best;
  int best_distance =
      static_cast<int>(std::max<size_t>(1, name.size() / 3)) + 1;
  if (name.size() > 64) return best;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > 64 || candidate == name) continue;
    if (absl::EqualsIgnoreCase(candidate, name)) return candidate;
    const int distance = EditDistance(name, candidate);
    // A name that has to change in every letter suggests nothing.
    if (distance >= static_cast<int>(std::min(name.size(), candidate.size()))) {
      continue;
    }
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string DidYouMean(absl::string_view name,
                       const std::vector<std::string>& candidates) {
  const std::string nearest = Nearest(name, candidates);
  return nearest.empty() ? "" : absl::StrCat("; did you mean ", nearest, "?");
}

}  // namespace dogged::dsl
