#include "apps/output/index_grid.h"

#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace dogged {

absl::StatusOr<std::map<std::string, AxisScale>> ParseSpacing(
    absl::string_view text) {
  std::map<std::string, AxisScale> out;
  for (absl::string_view part : absl::StrSplit(text, ',')) {
    const auto wrong = [part](absl::string_view why) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", part, "': ", why,
                       ", as in  --spacing 'x=0.1,y=0.1'  or  "
                       "--spacing 'x=0.1 mm,t=2e-3 s'"));
    };
    const size_t equals = part.find('=');
    const std::string name(absl::StripAsciiWhitespace(part.substr(0, equals)));
    if (equals == absl::string_view::npos || name.empty()) {
      return wrong("an index is given a spacing");
    }
    const absl::string_view rest =
        absl::StripAsciiWhitespace(part.substr(equals + 1));
    AxisScale axis;
    const auto [end, error] =
        std::from_chars(rest.data(), rest.data() + rest.size(), axis.spacing);
    if (error != std::errc() || !std::isfinite(axis.spacing) ||
        axis.spacing <= 0) {
      return wrong("a spacing is a number above 0, and a unit may follow it");
    }
    axis.unit = std::string(absl::StripAsciiWhitespace(
        rest.substr(static_cast<size_t>(end - rest.data()))));
    if (!out.emplace(name, std::move(axis)).second) {
      return wrong("this index has a spacing already");
    }
  }
  return out;
}

std::string ShortestText(double number) {
  char text[64];
  const auto end = std::to_chars(text, std::end(text), number);
  return {text, end.ptr};
}

}  // namespace dogged
