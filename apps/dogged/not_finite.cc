#include "apps/dogged/not_finite.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "apps/output/words.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

struct Found {
  int64_t count = 0;
  int64_t first = -1;  // its position
};

template <typename T>
Found Find(absl::Span<const T> numbers) {
  Found out;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (std::isfinite(numbers[i])) continue;
    if (out.count++ == 0) out.first = static_cast<int64_t>(i);
  }
  return out;
}

Found FindIn(const Value& value) {
  switch (value.type()) {
    case ElementType::kDouble:
      return Find(value.span<double>());
    case ElementType::kFloat:
      return Find(value.span<float>());
    case ElementType::kInt64:
      return {};
  }
  return {};
}

// By dimension, of an element of a dense array.
IndexVector PlaceOf(int64_t position, const Shape& shape) {
  IndexVector out = shape;
  for (int d = shape.size() - 1; d >= 0; --d) {
    out[d] = position % shape[d];
    position /= shape[d];
  }
  return out;
}

// ", the first u(3)(100)"; empty where blocks are put together.
std::string LabelAt(const ResultView& view, const Shape& shape,
                    const IndexVector& place) {
  std::string out = absl::StrCat(", the first ", view.array);
  int next = 0;
  for (size_t d = 0; d < view.lower.size(); ++d) {
    int64_t at = view.lower[d];
    if (view.tile_index[d] >= 0) {
      if (next == shape.size() || shape[next] != view.Count(d)) return "";
      at += place[next++] * view.step[d];
    }
    absl::StrAppend(&out, "(", at, ")");
  }
  return next == shape.size() ? out : "";
}

void SayCount(absl::string_view what, const Found& found, const Value& value,
              absl::string_view first) {
  std::fprintf(stderr, "warning: %s: %s of %s numbers %s not finite%s\n",
               std::string(what).c_str(), GroupedCount(found.count).c_str(),
               GroupedCount(value.element_count()).c_str(),
               found.count == 1 ? "is" : "are", std::string(first).c_str());
}

}  // namespace

void SayInputs(const LoadedProgram& program) {
  for (const dsl::ProgramFacts::MadeInput& made : program.facts.made) {
    std::fprintf(stderr, "%s: made by %s, for there is no --input %s=FILE\n",
                 made.array.c_str(),
                 made.kernel.empty() ? "what stands behind its 'else'"
                                     : made.kernel.c_str(),
                 made.array.c_str());
  }
  for (const auto& [array, value] : program.options.inputs) {
    const Found found = FindIn(value);
    if (found.count == 0) continue;
    const std::string first = absl::StrCat(
        ", the first at ", PlaceOf(found.first, value.shape()).ToString());
    SayCount(absl::StrCat("input ", array), found, value, first);
  }
}

absl::StatusOr<int64_t> CountNotFinite(dsl::ResultViews& views) {
  int64_t out = 0;
  for (size_t i = 0; i < views.program().views.size(); ++i) {
    DOGGED_ASSIGN_OR_RETURN(const Value value, views.Assembled(i));
    const Found found = FindIn(value);
    if (found.count == 0) continue;
    out += found.count;
    const ResultView& view = views.program().views[i];
    SayCount(view.array, found, value,
             LabelAt(view, value.shape(), PlaceOf(found.first, value.shape())));
  }
  return out;
}

}  // namespace dogged
