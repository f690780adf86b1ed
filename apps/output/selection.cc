#include "apps/output/selection.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "dsl/check/file_endings.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

using Kind = SelectedIndex::Kind;

// An error in `text` at bytes [begin, begin + size).
absl::Status Mistyped(absl::string_view text, size_t begin, size_t size,
                      absl::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, "\n   | ", text, "\n   | ", std::string(begin, ' '),
                   std::string(std::max<size_t>(1, size), '^'),
                   "\n   = help: as in  'phi(:)(1000)=heat.npy'  or  "
                   "'phi(5:20)(1000)=heat.png'"));
}

// In the order of their endings.
constexpr OutputFormat kFormats[] = {OutputFormat::kNpy, OutputFormat::kZarr,
                                     OutputFormat::kPng, OutputFormat::kApng,
                                     OutputFormat::kVti, OutputFormat::kPvd};
static_assert(std::size(kFormats) == std::size(dsl::kFileEndings));

// Shells complete a folder's name with a slash.
void DropSlash(std::string& path) {
  if (absl::EndsWithIgnoreCase(path, ".zarr/")) path.pop_back();
}

bool IsName(absl::string_view text) {
  if (text.empty() || absl::ascii_isdigit(text.front())) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

// "", "(:)", "(:)(1000)".
std::string IndicesText(const Selection& selection) {
  std::string text;
  for (const SelectedIndex& index : selection.indices) {
    if (!index.expression.empty()) {
      absl::StrAppend(&text, "(", index.expression, ")");
      continue;
    }
    switch (index.kind) {
      case Kind::kAll:
        absl::StrAppend(&text, "(:)");
        break;
      case Kind::kOne:
        absl::StrAppend(&text, "(", index.first, ")");
        break;
      case Kind::kRange:
        absl::StrAppend(&text, "(", index.first, ":", index.last);
        if (index.step > 0) absl::StrAppend(&text, ":", index.step);
        text += ")";
        break;
    }
  }
  return text;
}

// True for an expression of names and integers; the program gives its value.
bool IsExpression(absl::string_view text) {
  return std::any_of(text.begin(), text.end(), absl::ascii_isalpha) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isalnum(c) || absl::StrContains("_+-*/", c);
         });
}

// Why `text` is no index; empty if it is one, which is then `index`.
std::string ParseIndex(absl::string_view text, SelectedIndex& index) {
  const auto wrong = [&](absl::string_view why) {
    return absl::StrCat("'", text, "' ", why,
                        "; an index is ':', a number as 5 or N-1, "
                        "FIRST:LAST or FIRST:LAST:STEP");
  };
  if (text == ":") return "";
  if (absl::StrContains(text, ",")) {
    return absl::StrCat("each index has its own parentheses: write '(",
                        absl::StrReplaceAll(text, {{",", ")("}}), ")'");
  }
  const size_t colon = text.find(':');
  if (colon == absl::string_view::npos) {
    index.kind = Kind::kOne;
    if (!absl::SimpleAtoi(text, &index.first)) {
      if (!IsExpression(text)) return wrong("is no number");
      index.expression = std::string(text);
    }
    index.last = index.first;
    return "";
  }
  index.kind = Kind::kRange;
  const std::vector<absl::string_view> parts = absl::StrSplit(text, ':');
  const absl::string_view first = parts[0];
  const absl::string_view last = parts[1];
  if (parts.size() == 3 && first.empty() && last.empty()) {
    return absl::StrCat("'", text,
                        "' has a step and no ends; write them, as in 0:N-1:",
                        parts[2].empty() ? "10" : parts[2]);
  }
  if (parts.size() > 3) return wrong("is no range");
  if (parts.size() == 3 &&
      (!absl::SimpleAtoi(parts[2], &index.step) || index.step < 1)) {
    return absl::StrCat("'", parts[2],
                        "' is no step; it is a number, 1 or "
                        "more, as in 0:N-1:10");
  }
  const bool has_first = absl::SimpleAtoi(first, &index.first);
  const bool has_last = absl::SimpleAtoi(last, &index.last);
  if ((!has_first && !IsExpression(first)) ||
      (!has_last && !IsExpression(last))) {
    return wrong("is no range");
  }
  if (!has_first || !has_last) {
    index.expression = std::string(text);
    return "";
  }
  if (index.last < index.first) return wrong("is empty");
  return "";
}

// Parses "(:)(1000)", which is `text` from `begin` to `end`, into
// `selection.indices`.
absl::Status ParseIndices(absl::string_view text, size_t begin, size_t end,
                          Selection& selection) {
  while (begin < end) {
    const size_t close = text.find(')', begin);
    if (text[begin] != '(' || close >= end) {
      return Mistyped(text, begin, end - begin,
                      absl::StrCat("'", text.substr(begin, end - begin),
                                   "' is no index in parentheses"));
    }
    const absl::string_view inside = text.substr(begin + 1, close - begin - 1);
    if (selection.indices.size() == kMaxIndices) {
      return Mistyped(text, begin, end - begin,
                      absl::StrCat("more than ", kMaxIndices, " indices"));
    }
    const std::string why =
        ParseIndex(inside, selection.indices.emplace_back());
    if (!why.empty()) return Mistyped(text, begin + 1, inside.size(), why);
    begin = close + 1;
  }
  return absl::OkStatus();
}

std::string WithoutBlanks(absl::string_view text) {
  return absl::StrReplaceAll(text, {{" ", ""}, {"\t", ""}});
}

// What `left` says, with which `text` begins, into `selection`.
absl::Status ParseLeft(const std::string& text, const std::string& left,
                       Selection& selection) {
  const size_t paren = std::min(left.find('('), left.size());
  selection.array = left.substr(0, paren);
  if (!IsName(selection.array)) {
    return Mistyped(
        text, 0, paren,
        absl::StrCat("'", selection.array, "' is no name of an array"));
  }
  DOGGED_RETURN_IF_ERROR(ParseIndices(text, paren, left.size(), selection));
  selection.text = absl::StrCat(selection.array, IndicesText(selection));
  return absl::OkStatus();
}

}  // namespace

std::optional<OutputFormat> FormatOf(absl::string_view path) {
  for (size_t f = 0; f < std::size(kFormats); ++f) {
    if (absl::EndsWithIgnoreCase(path, dsl::kFileEndings[f])) {
      return kFormats[f];
    }
  }
  return std::nullopt;
}

absl::StatusOr<Selection> ParseLabels(absl::string_view words) {
  Selection out;
  const std::string text = WithoutBlanks(words);
  DOGGED_RETURN_IF_ERROR(ParseLeft(text, text, out));
  return out;
}

absl::StatusOr<Selection> ParseSelection(absl::string_view argument) {
  Selection selection;
  const size_t equals = std::min(argument.find('='), argument.size());
  const std::string left = WithoutBlanks(argument.substr(0, equals));
  if (equals < argument.size()) {
    selection.path =
        std::string(absl::StripAsciiWhitespace(argument.substr(equals + 1)));
    DropSlash(selection.path);
  }
  const std::string text = equals == argument.size()
                               ? left
                               : absl::StrCat(left, "=", selection.path);
  DOGGED_RETURN_IF_ERROR(ParseLeft(text, left, selection));
  if (equals == argument.size()) {
    return Mistyped(text, left.size(), 1, "no file is named");
  }
  const std::optional<OutputFormat> format = FormatOf(selection.path);
  if (!format.has_value()) {
    return Mistyped(text, left.size() + 1, selection.path.size(),
                    absl::StrCat("the file ends in none of ",
                                 absl::StrJoin(dsl::kFileEndings, ", ")));
  }
  selection.format = *format;
  return selection;
}

Selection AtTime(const Selection& selection, size_t rank, int64_t time) {
  Selection out = selection;
  out.indices.resize(rank);
  if (out.text == out.array) out.text += IndicesText(out);
  out.text.resize(out.text.rfind('('));
  absl::StrAppend(&out.text, "(", time, ")");
  out.indices.back() = {.kind = Kind::kOne, .first = time, .last = time};
  return out;
}

IndexGrid GridOf(const Selection& selection, const ResultView& view) {
  IndexGrid grid;
  const bool is_whole = selection.indices.empty();
  for (size_t d = 0; d < view.lower.size(); ++d) {
    const SelectedIndex index =
        is_whole ? SelectedIndex{} : selection.indices[d];
    // Fixed by the view: a bare array has no dimension for it.
    if (view.tile_index[d] < 0 && is_whole) continue;
    if (index.kind == Kind::kOne) continue;
    grid.first.push_back(index.kind == Kind::kAll ? view.lower[d]
                                                  : index.first);
    grid.step.push_back(index.step > 0 ? index.step : view.step[d]);
  }
  return grid;
}

}  // namespace dogged
