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
Found FindNotFinite(absl::Span<const T> numbers) {
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
      return FindNotFinite(value.span<double>());
    case ElementType::kFloat:
      return FindNotFinite(value.span<float>());
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

std::string WordsOn(absl::string_view what, const NotFiniteCount& found) {
  return absl::StrCat(what, ": ", GroupedCount(found.count), " of ",
                      GroupedCount(found.numbers), " numbers ",
                      found.count == 1 ? "is" : "are",
                      " not finite, the first ", found.first);
}

void WarnOfEach(const std::vector<std::string>& lines) {
  for (const std::string& words : lines) {
    std::fprintf(stderr, "warning: %s\n", words.c_str());
  }
}

}  // namespace

void WarnOfInputs(const LoadedProgram& program) {
  for (const dsl::TakenParameter& taken : program.facts.taken) {
    std::fprintf(stderr, "%s = %lld, by the shape of %s\n", taken.name.c_str(),
                 static_cast<long long>(taken.value), taken.array.c_str());
  }
  for (const dsl::ProgramFacts::MadeInput& made : program.facts.made) {
    std::fprintf(stderr, "%s: made by %s, for there is no --input %s=FILE\n",
                 made.array.c_str(),
                 made.kernel.empty() ? "what stands behind its 'else'"
                                     : made.kernel.c_str(),
                 made.array.c_str());
  }
  WarnOfEach(NotFiniteInputs(program));
}

std::vector<std::string> NotFiniteInputs(const LoadedProgram& program) {
  std::vector<std::string> out;
  for (const auto& [array, value] : program.options.inputs) {
    const Found found = FindIn(value);
    if (found.count == 0) continue;
    const IndexVector place = PlaceOf(found.first, value.shape());
    out.push_back(WordsOn(absl::StrCat("input ", array),
                          {.numbers = value.element_count(),
                           .count = found.count,
                           .first = absl::StrCat("at ", place.ToString())}));
  }
  return out;
}

void NotFinite::Add(size_t view, const Label* label,
                    const dsl::DensePiece& piece) {
  NotFiniteCount& sum = counts_[view];
  const Found found = FindIn(piece.value);
  sum.numbers += piece.value.element_count();
  if (sum.count == 0 && found.count > 0) {
    IndexVector place = PlaceOf(found.first, piece.value.shape());
    for (int d = 0; d < piece.first.size(); ++d) place[d] += piece.first[d];
    sum.first = label == nullptr ? LabelAt(program_.views[view], place)
                                 : absl::StrCat(program_.LabelText(*label),
                                                place.empty() ? "" : " at ",
                                                place.ToString());
  }
  sum.count += found.count;
}

int64_t NotFinite::count() const {
  int64_t out = 0;
  for (const NotFiniteCount& of_view : counts_) out += of_view.count;
  return out;
}

std::vector<std::string> NotFinite::Words() const {
  std::vector<std::string> out;
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i].count == 0) continue;
    out.push_back(WordsOn(program_.views[i].array, counts_[i]));
  }
  return out;
}

int64_t NotFinite::Warn() const {
  WarnOfEach(Words());
  return count();
}

absl::StatusOr<Digest> DigestOfAll(dsl::ResultViews& views,
                                   NotFinite& not_finite) {
  return views.DigestOfAll(
      [&](size_t view, const Label* label, const dsl::DensePiece& piece) {
        not_finite.Add(view, label, piece);
      });
}

}  // namespace dogged
