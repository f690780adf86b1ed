#include "dsl/text/include.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace dogged::dsl {
namespace {

constexpr size_t kIncludeDepthMax = 32;
constexpr size_t kTextMax = size_t{16} << 20;

// The path in a line such as  include "x.dog"  # why; none for other lines.
std::optional<std::string> IncludedBy(absl::string_view line) {
  absl::string_view rest = absl::StripAsciiWhitespace(line);
  if (!absl::ConsumePrefix(&rest, "include")) return std::nullopt;
  rest = absl::StripLeadingAsciiWhitespace(rest);
  if (!absl::ConsumePrefix(&rest, "\"")) return std::nullopt;
  const size_t quote = rest.find('"');
  if (quote == absl::string_view::npos || quote == 0) return std::nullopt;
  const absl::string_view behind =
      absl::StripLeadingAsciiWhitespace(rest.substr(quote + 1));
  if (!behind.empty() && behind[0] != '#') return std::nullopt;
  return std::string(rest.substr(0, quote));
}

// The same for all ways to write a path: without "." and "a/..".
std::string Normal(absl::string_view path) {
  std::vector<absl::string_view> parts;
  for (const absl::string_view part : absl::StrSplit(path, '/')) {
    if (part == "." || (part.empty() && !parts.empty())) continue;
    const bool leaves = part == ".." && !parts.empty() &&
                        !parts.back().empty() && parts.back() != "..";
    if (leaves) {
      parts.pop_back();
    } else {
      parts.push_back(part);
    }
  }
  return absl::StrJoin(parts, "/");
}

class Includer {
 public:
  explicit Includer(const ReadFile& read) : read_(read) {}

  void Add(const std::string& file, absl::string_view text) {
    open_.push_back(file);
    seen_.insert(Normal(file));
    int line = 0;
    Continue(file, 1);
    while (!text.empty() && text_.size() <= kTextMax) {
      const size_t newline = text.find('\n');
      const absl::string_view now = text.substr(0, newline);
      text.remove_prefix(newline == absl::string_view::npos ? text.size()
                                                            : newline + 1);
      ++line;
      const std::optional<std::string> path = IncludedBy(now);
      if (path.has_value()) {
        Enter(RelativeTo(file, *path), now);
        Continue(file, line + 1);
      } else {
        absl::StrAppend(&text_, now, "\n");
        ++line_count_;
      }
    }
    open_.pop_back();
  }

  Diagnostics Finish(const std::string& file) {
    Diagnostics out(file, std::move(text_));
    out.SetParts(std::move(parts_));
    for (const Mistake& mistake : mistakes_) {
      out.Error(Code::kInclude, mistake.range, mistake.message)
          .Help(mistake.help);
    }
    return out;
  }

 private:
  struct Mistake {
    SourceRange range;
    std::string message;
    std::string help;
  };

  void Continue(const std::string& file, int line) {
    parts_.push_back(
        {.first_line = line_count_ + 1, .file = file, .line_there = line});
  }

  void Enter(const std::string& path, absl::string_view line) {
    const auto begin = static_cast<int32_t>(text_.size());
    const auto fail = [&](std::string message, std::string help) {
      mistakes_.push_back({{begin, begin + static_cast<int32_t>(line.size())},
                           std::move(message),
                           std::move(help)});
      absl::StrAppend(&text_, line, "\n");
      ++line_count_;
    };
    for (size_t i = 0; i < open_.size(); ++i) {
      if (Normal(open_[i]) != Normal(path)) continue;
      return fail(absl::StrCat(path, " includes itself",
                               i + 1 == open_.size()
                                   ? ""
                                   : absl::StrCat(" by way of ", open_.back())),
                  "one of the two has to go without the other");
    }
    if (seen_.count(Normal(path)) > 0) return;
    if (open_.size() >= kIncludeDepthMax) {
      return fail(absl::StrCat("more than ", kIncludeDepthMax,
                               " files include each other"),
                  "include them side by side");
    }
    const absl::StatusOr<std::string> content =
        read_ == nullptr ? absl::UnavailableError("nothing can be read here")
                         : read_(path);
    if (!content.ok()) {
      return fail(absl::StrCat(path, " can't be read"),
                  "the path is seen from the file that includes it");
    }
    Add(path, *content);
  }

  const ReadFile& read_;
  std::vector<std::string> open_;  // files, each included by the one before
  std::set<std::string> seen_;     // as Normal() has them
  std::string text_;
  int line_count_ = 0;
  std::vector<SourcePart> parts_;
  std::vector<Mistake> mistakes_;
};

}  // namespace

std::string RelativeTo(absl::string_view file, absl::string_view path) {
  const size_t slash = file.rfind('/');
  if (slash == absl::string_view::npos || absl::StartsWith(path, "/")) {
    return std::string(path);
  }
  return absl::StrCat(file.substr(0, slash + 1), path);
}

Diagnostics Include(const std::string& file, absl::string_view text,
                    const ReadFile& read) {
  Includer includer(read);
  includer.Add(file, text);
  return includer.Finish(file);
}

}  // namespace dogged::dsl
