#include "apps/output/selection.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

using Kind = SelectedIndex::Kind;

absl::Status Mistyped(absl::string_view text, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(
      "output '", text, "': ", what,
      "; write for example 'phi(:)(1000)=heat.npy' or 'phi=heat.npy'"));
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
    switch (index.kind) {
      case Kind::kAll:
        absl::StrAppend(&text, "(:)");
        break;
      case Kind::kOne:
        absl::StrAppend(&text, "(", index.first, ")");
        break;
      case Kind::kRange:
        absl::StrAppend(&text, "(", index.first, ":", index.last, ")");
        break;
    }
  }
  return text;
}

absl::StatusOr<SelectedIndex> ParseIndex(absl::string_view text) {
  const auto wrong = [&](absl::string_view why) {
    return absl::InvalidArgumentError(
        absl::StrCat("index '", text, "' ", why,
                     "; an index is ':', a number or FIRST:LAST"));
  };
  if (text == ":") return SelectedIndex{};
  SelectedIndex index;
  const size_t colon = text.find(':');
  if (colon == absl::string_view::npos) {
    index.kind = Kind::kOne;
    if (!absl::SimpleAtoi(text, &index.first)) return wrong("is no number");
    index.last = index.first;
    return index;
  }
  index.kind = Kind::kRange;
  if (!absl::SimpleAtoi(text.substr(0, colon), &index.first) ||
      !absl::SimpleAtoi(text.substr(colon + 1), &index.last)) {
    return wrong("is no range");
  }
  if (index.last < index.first) return wrong("is empty");
  return index;
}

// Parses "(:)(1000)" into `selection.indices`.
absl::Status ParseIndices(absl::string_view text, Selection& selection) {
  while (!text.empty()) {
    const size_t close = text.find(')');
    if (text.front() != '(' || close == absl::string_view::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("'", text, "' is no index in parentheses"));
    }
    const absl::string_view inside = text.substr(1, close - 1);
    if (absl::StrContains(inside, ",")) {
      return absl::InvalidArgumentError(
          absl::StrCat("each index has its own parentheses: write '(",
                       absl::StrReplaceAll(inside, {{",", ")("}}), ")'"));
    }
    if (selection.indices.size() == kMaxIndices) {
      return absl::InvalidArgumentError(
          absl::StrCat("more than ", kMaxIndices, " indices"));
    }
    DOGGED_ASSIGN_OR_RETURN(const SelectedIndex index, ParseIndex(inside));
    selection.indices.push_back(index);
    text.remove_prefix(close + 1);
  }
  return absl::OkStatus();
}

// One dimension of `dense` that is cut, and what of it.
struct Cut {
  int64_t first = 0;
  int64_t count = 1;
  // False for a fixed index: the dimension is dropped.
  bool is_kept = true;
  // True for an index that the view itself fixes: `dense` has no dimension.
  bool is_added = false;
};

std::string ViewText(const ResultView& view) {
  std::string text = view.array;
  for (size_t d = 0; d < view.lower.size(); ++d) {
    absl::StrAppend(&text, "(", view.lower[d]);
    if (view.upper[d] != view.lower[d]) {
      absl::StrAppend(&text, ":", view.upper[d]);
    }
    absl::StrAppend(&text, ")");
  }
  return text;
}

absl::Status CheckRange(const Selection& selection, const ResultView& view) {
  if (selection.indices.size() != view.lower.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "output '", selection.text, "' has ", selection.indices.size(),
        selection.indices.size() == 1 ? " index" : " indices", ", but ",
        view.array, " has ", view.lower.size(), ": there is ", ViewText(view)));
  }
  for (size_t d = 0; d < view.lower.size(); ++d) {
    const SelectedIndex& index = selection.indices[d];
    if (index.kind == Kind::kAll) continue;
    if (index.first < view.lower[d] || index.last > view.upper[d]) {
      return absl::OutOfRangeError(absl::StrCat(
          "output '", selection.text, "': index ", d + 1, " is ", index.first,
          index.kind == Kind::kRange ? absl::StrCat(":", index.last) : "",
          ", but the results are ", ViewText(view)));
    }
  }
  return absl::OkStatus();
}

// The cut along a dimension of `extent` elements, `length` labels of up to
// `block` elements each (0: not known).
absl::StatusOr<Cut> CutOf(const SelectedIndex& index, int64_t lower,
                          int64_t length, int64_t extent, int64_t block) {
  const bool is_blocked = extent != length;
  Cut cut{.first = 0, .count = extent};
  if (index.kind == Kind::kAll) return cut;
  const bool is_everything = index.last - index.first + 1 == length;
  if (is_blocked && !is_everything && block <= 0) {
    return absl::InvalidArgumentError(
        "an index counts blocks here; write ':' for it");
  }
  if (!is_blocked) block = 1;
  if (!is_everything) {
    cut.first = (index.first - lower) * block;
    const int64_t limit = (index.last - lower + 1) * block;
    cut.count = std::min(limit, extent) - cut.first;
  }
  cut.is_kept = is_blocked || index.kind != Kind::kOne;
  return cut;
}

// Copies the elements within `cuts`, one per dimension of `dense`.
void CopyCut(const Value& dense, const std::vector<Cut>& cuts, char* out) {
  const int64_t bytes = ElementBytes(dense.type());
  const auto* from = static_cast<const char*>(dense.data());
  const int rank = dense.shape().size();
  const int64_t row = rank == 0 ? 1 : cuts.back().count;
  int64_t rows = 1;
  for (int d = 0; d + 1 < rank; ++d) rows *= cuts[static_cast<size_t>(d)].count;
  for (int64_t r = 0; r < rows; ++r) {
    int64_t offset = rank == 0 ? 0 : cuts.back().first;
    int64_t rest = r;
    int64_t stride = rank == 0 ? 1 : dense.shape()[rank - 1];
    for (int d = rank - 2; d >= 0; --d) {
      const Cut& cut = cuts[static_cast<size_t>(d)];
      offset += (cut.first + rest % cut.count) * stride;
      rest /= cut.count;
      stride *= dense.shape()[d];
    }
    std::memcpy(out + r * row * bytes, from + offset * bytes,
                static_cast<size_t>(row * bytes));
  }
}

}  // namespace

absl::StatusOr<Selection> ParseSelection(absl::string_view text) {
  const size_t equals = text.find('=');
  if (equals == absl::string_view::npos) {
    return Mistyped(text, "no file is named");
  }
  Selection selection;
  const std::string left =
      absl::StrReplaceAll(text.substr(0, equals), {{" ", ""}, {"\t", ""}});
  selection.path =
      std::string(absl::StripAsciiWhitespace(text.substr(equals + 1)));
  const size_t paren = std::min(left.find('('), left.size());
  selection.array = left.substr(0, paren);
  if (!IsName(selection.array)) {
    return Mistyped(
        text, absl::StrCat("'", selection.array, "' is no name of an array"));
  }
  const absl::Status indices =
      ParseIndices(absl::string_view(left).substr(paren), selection);
  if (!indices.ok()) return Mistyped(text, indices.message());
  selection.text = absl::StrCat(selection.array, IndicesText(selection));
  if (absl::EndsWithIgnoreCase(selection.path, ".npy")) {
    selection.format = OutputFormat::kNpy;
  } else if (absl::EndsWithIgnoreCase(selection.path, ".png")) {
    selection.format = OutputFormat::kPng;
  } else {
    return Mistyped(text, absl::StrCat("the file '", selection.path,
                                       "' ends neither in .npy nor in .png"));
  }
  return selection;
}

bool IsWithin(const Selection& selection, const ResultView& view) {
  if (selection.array != view.array) return false;
  return selection.indices.empty() || CheckRange(selection, view).ok();
}

absl::StatusOr<Value> ExtractSelection(const Selection& selection,
                                       const ResultView& view,
                                       const Value& dense, const Shape& block) {
  if (selection.indices.empty()) return dense;
  DOGGED_RETURN_IF_ERROR(CheckRange(selection, view));
  std::vector<Cut> cuts;  // as the selection has them
  int taken = 0;          // dimensions of `dense` so far
  for (size_t d = 0; d < view.lower.size(); ++d) {
    const SelectedIndex& index = selection.indices[d];
    if (view.tile_index[d] < 0) {
      cuts.push_back({.is_kept = index.kind != Kind::kOne, .is_added = true});
      continue;
    }
    if (taken == dense.shape().size()) {
      return absl::InternalError(absl::StrCat(
          "output '", selection.text, "': the array has too few dimensions"));
    }
    absl::StatusOr<Cut> cut =
        CutOf(index, view.lower[d], view.upper[d] - view.lower[d] + 1,
              dense.shape()[taken], taken < block.size() ? block[taken] : 0);
    DOGGED_RETURN_IF_ERROR(
        Annotate(cut.status(),
                 absl::StrCat("output '", selection.text, "': index ", d + 1)));
    cuts.push_back(*cut);
    ++taken;
  }
  for (; taken < dense.shape().size(); ++taken) {
    cuts.push_back({.count = dense.shape()[taken]});
  }
  std::vector<Cut> of_dense;
  std::vector<int64_t> extents;
  for (const Cut& cut : cuts) {
    if (!cut.is_added) of_dense.push_back(cut);
    if (cut.is_kept) extents.push_back(cut.count);
  }
  if (extents.size() > kMaxIndices) {
    return absl::InvalidArgumentError(
        absl::StrCat("output '", selection.text, "' would have ",
                     extents.size(), " dimensions; fix an index"));
  }
  Value out = Value::Allocate(dense.type(), Shape(extents));
  if (out.element_count() > 0) {
    CopyCut(dense, of_dense, static_cast<char*>(out.mutable_data()));
  }
  out.Seal();
  return out;
}

IndexVector FirstIndices(const Selection& selection, const ResultView& view,
                         const Value& dense) {
  IndexVector first;
  int taken = 0;
  for (size_t d = 0; d < view.lower.size(); ++d) {
    const bool is_whole = selection.indices.empty();
    const SelectedIndex index =
        is_whole ? SelectedIndex{} : selection.indices[d];
    const bool is_in_dense = view.tile_index[d] >= 0;
    // Fixed by the view: a bare array has no dimension for it.
    if (!is_in_dense && is_whole) continue;
    const bool is_blocked =
        is_in_dense &&
        dense.shape()[taken] != view.upper[d] - view.lower[d] + 1;
    taken += is_in_dense;
    if (index.kind == Kind::kOne && !is_blocked) continue;
    const int64_t lower =
        index.kind == Kind::kAll ? view.lower[d] : index.first;
    first.push_back(is_blocked ? 0 : lower);
  }
  // Blocks that come behind start at 0, which is what absent means.
  return first;
}

}  // namespace dogged
