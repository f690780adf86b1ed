#include "apps/dogged/run/not_finite.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"
#include "apps/output/run_text.h"
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

// "u(3)(100)", of an element of a view that is one array of the user's labels.
std::string LabelAt(const ResultView& view, const IndexVector& place) {
  std::string out = view.array;
  int next = 0;
  for (size_t d = 0; d < view.lower.size(); ++d) {
    int64_t at = view.lower[d];
    if (view.tile_index[d] >= 0 && next < place.size()) {
      at += place[next++] * view.step[d];
    }
    absl::StrAppend(&out, "(", at, ")");
  }
  return out;
}

// Among the numbers of an array.
struct Sum {
  int64_t numbers = 0;
  int64_t count = 0;
  std::string first;
};

absl::StatusOr<Sum> SumOf(size_t number, dsl::ResultViews& views) {
  Sum out;
  const auto add = [&](const Label* label, const Value& value) {
    const Found found = FindIn(value);
    out.numbers += value.element_count();
    if (out.count == 0 && found.count > 0) {
      const IndexVector place = PlaceOf(found.first, value.shape());
      out.first =
          label == nullptr
              ? LabelAt(views.program().views[number], place)
              : absl::StrCat(views.program().LabelText(*label),
                             place.empty() ? "" : " at ", place.ToString());
    }
    out.count += found.count;
  };
  DOGGED_RETURN_IF_ERROR(views.ForEachValue(number, add));
  return out;
}

void Warn(absl::string_view what, const Sum& sum) {
  std::fprintf(stderr,
               "warning: %s: %s of %s numbers %s not finite, the first %s\n",
               std::string(what).c_str(), GroupedCount(sum.count).c_str(),
               GroupedCount(sum.numbers).c_str(), sum.count == 1 ? "is" : "are",
               sum.first.c_str());
}

}  // namespace

void WarnOfInputs(const LoadedProgram& program) {
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
    const IndexVector place = PlaceOf(found.first, value.shape());
    Warn(absl::StrCat("input ", array),
         {.numbers = value.element_count(),
          .count = found.count,
          .first = absl::StrCat("at ", place.ToString())});
  }
}

absl::StatusOr<int64_t> CountNotFinite(dsl::ResultViews& views) {
  int64_t out = 0;
  for (size_t i = 0; i < views.program().views.size(); ++i) {
    DOGGED_ASSIGN_OR_RETURN(const Sum sum, SumOf(i, views));
    out += sum.count;
    if (sum.count > 0) Warn(views.program().views[i].array, sum);
  }
  return out;
}

}  // namespace dogged
