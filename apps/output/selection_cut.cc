#include "apps/output/selection_cut.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/division.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

using Kind = SelectedIndex::Kind;

std::string ViewText(const ResultView& view) {
  std::string text = view.array;
  for (size_t d = 0; d < view.lower.size(); ++d) {
    absl::StrAppend(&text, "(", view.lower[d]);
    if (view.upper[d] != view.lower[d]) {
      absl::StrAppend(&text, ":", view.upper[d]);
      if (view.step[d] > 1) absl::StrAppend(&text, ":", view.step[d]);
    }
    absl::StrAppend(&text, ")");
  }
  return text;
}

// The last value that there is.
int64_t LastOf(const SelectedIndex& index) {
  if (index.step <= 1) return index.last;
  return index.last - (index.last - index.first) % index.step;
}

absl::Status CheckRange(const Selection& selection, const ResultView& view) {
  if (selection.indices.size() != view.lower.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "'", selection.text, "' has ", selection.indices.size(),
        selection.indices.size() == 1 ? " index" : " indices", ", but ",
        view.array, " has ", view.lower.size(), ": there is ", ViewText(view)));
  }
  for (size_t d = 0; d < view.lower.size(); ++d) {
    const SelectedIndex& index = selection.indices[d];
    if (index.kind == Kind::kAll) continue;
    const int64_t last = LastOf(index);
    const bool is_between = (index.first - view.lower[d]) % view.step[d] != 0 ||
                            (last - view.lower[d]) % view.step[d] != 0 ||
                            (index.step > 0 && last > index.first &&
                             index.step % view.step[d] != 0);
    if (index.first < view.lower[d] || last > view.upper[d] || is_between) {
      return absl::NotFoundError(
          absl::StrCat("'", selection.text, "' is not there: the results are ",
                       ViewText(view)));
    }
  }
  return absl::OkStatus();
}

// Elements that are `step` apart, and the bytes of each.
struct Row {
  int64_t step = 1;
  int64_t count = 0;
  int64_t bytes = 8;
};

void CopyRow(const char* from, const Row& row, char* to) {
  if (row.step == 1) {
    std::memcpy(to, from, static_cast<size_t>(row.count * row.bytes));
    return;
  }
  for (int64_t i = 0; i < row.count; ++i) {
    std::memcpy(to + i * row.bytes, from + i * row.step * row.bytes,
                static_cast<size_t>(row.bytes));
  }
}

}  // namespace

absl::StatusOr<SelectionCut> SelectionCut::Of(const Selection& selection,
                                              const ResultView& view,
                                              const Shape& dense) {
  SelectionCut out;
  if (selection.indices.empty()) {
    for (const int64_t extent : dense) out.ranges_.push_back({0, extent});
    out.shape_ = dense;
    out.is_whole_ = true;
    return out;
  }
  DOGGED_RETURN_IF_ERROR(CheckRange(selection, view));
  for (size_t d = 0; d < view.lower.size(); ++d) {
    const SelectedIndex& index = selection.indices[d];
    Range range;
    // The dense array has no dimension for an index that the view itself fixes.
    if (view.tile_index[d] >= 0) {
      const int taken = static_cast<int>(out.ranges_.size());
      if (taken == dense.size()) {
        return absl::InternalError(absl::StrCat(
            "output '", selection.text, "': the array has too few dimensions"));
      }
      range.count = dense[taken];
      if (index.kind != Kind::kAll) {
        const int64_t step = index.step > 0 ? index.step : view.step[d];
        range = {.first = (index.first - view.lower[d]) / view.step[d],
                 .count = (index.last - index.first) / step + 1,
                 .step = step / view.step[d]};
        if (range.count == 1) range.step = 1;
      }
      out.ranges_.push_back(range);
    }
    if (index.kind != Kind::kOne) out.shape_.push_back(range.count);
  }
  // As many along each index are all there are.
  out.is_whole_ = out.shape_ == dense;
  return out;
}

std::vector<SelectionCut::Range> SelectionCut::RangesIn(
    const IndexVector& first, const Shape& extents) const {
  std::vector<Range> out;
  for (size_t d = 0; d < ranges_.size(); ++d) {
    const auto i = static_cast<int>(d);
    const Range& range = ranges_[d];
    // Numbers of taken elements, from the first one in the box on.
    const int64_t begin =
        std::max<int64_t>(0, CeilDiv(first[i] - range.first, range.step));
    const int64_t end = std::min(
        range.count, CeilDiv(first[i] + extents[i] - range.first, range.step));
    out.push_back({.first = range.first + begin * range.step - first[i],
                   .count = std::max<int64_t>(0, end - begin),
                   .step = range.step});
  }
  return out;
}

IndexVector SelectionCut::PlaceOf(const IndexVector& first) const {
  IndexVector out = first;
  for (int d = 0; d < out.size(); ++d) {
    const Range& range = ranges_[d];
    out[d] = std::max<int64_t>(0, CeilDiv(first[d] - range.first, range.step));
  }
  return out;
}

int64_t SelectionCut::CountIn(const IndexVector& first,
                              const Shape& extents) const {
  int64_t out = 1;
  for (const Range& range : RangesIn(first, extents)) out *= range.count;
  return out;
}

void SelectionCut::Copy(const IndexVector& first, const Value& piece,
                        char* out) const {
  const std::vector<Range> ranges = RangesIn(first, piece.shape());
  const int64_t bytes = ElementBytes(piece.type());
  const auto* from = static_cast<const char*>(piece.data());
  const int rank = piece.shape().size();
  const int64_t row = rank == 0 ? 1 : ranges.back().count;
  const int64_t step = rank == 0 ? 1 : ranges.back().step;
  int64_t rows = row == 0 ? 0 : 1;
  for (int d = 0; d + 1 < rank; ++d) {
    rows *= ranges[d].count;
  }
  for (int64_t r = 0; r < rows; ++r) {
    int64_t offset = rank == 0 ? 0 : ranges.back().first;
    int64_t rest = r;
    int64_t stride = rank == 0 ? 1 : piece.shape()[rank - 1];
    for (int d = rank - 2; d >= 0; --d) {
      const Range& range = ranges[d];
      offset += (range.first + rest % range.count * range.step) * stride;
      rest /= range.count;
      stride *= piece.shape()[d];
    }
    CopyRow(from + offset * bytes, {.step = step, .count = row, .bytes = bytes},
            out + r * row * bytes);
  }
}

absl::StatusOr<Value> ExtractSelection(const Selection& selection,
                                       const ResultView& view,
                                       const Value& dense) {
  DOGGED_ASSIGN_OR_RETURN(const SelectionCut cut,
                          SelectionCut::Of(selection, view, dense.shape()));
  if (cut.IsWhole()) return dense;
  Value out = Value::Allocate(dense.type(), cut.shape());
  IndexVector first = dense.shape();
  for (int d = 0; d < first.size(); ++d) first[d] = 0;
  cut.Copy(first, dense, static_cast<char*>(out.mutable_data()));
  out.SealLazily();
  return out;
}

}  // namespace dogged
