#include "dsl/dense_view.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/check.h"
#include "runtime/base/status.h"
#include "runtime/graph/affine.h"

namespace dogged::dsl {
namespace {

const Array& ArrayOf(const Program& program, const ResultView& view) {
  const ResultSet& set = program.results[view.result_set];
  return program.arrays[set.array];
}

// A dense array in memory, and what it is a box of.
struct Target {
  const IndexVector& first;
  const IndexVector& extents;
  Value& array;
};

// Copies the part of a block, of `extents` from `first` on, that the target
// has.
void CopyBlock(const Value& block, const IndexVector& first,
               const IndexVector& extents, const Target& target) {
  DOGGED_CHECK(block.type() == target.array.type())
      << "a block of " << ElementName(block.type()) << " in an array of "
      << ElementName(target.array.type());
  const int rank = first.size();
  IndexVector begin = first;  // of what both have
  IndexVector end = first;
  for (int d = 0; d < rank; ++d) {
    begin[d] = std::max(first[d], target.first[d]);
    end[d] =
        std::min(first[d] + extents[d], target.first[d] + target.extents[d]);
    if (begin[d] >= end[d]) return;
  }
  auto* const to = static_cast<char*>(target.array.mutable_data());
  const auto* const from = static_cast<const char*>(block.data());
  const int64_t bytes = ElementBytes(block.type());
  const int last = rank - 1;
  const int64_t row = last < 0 ? 1 : end[last] - begin[last];
  IndexVector at = begin;
  while (true) {
    int64_t source = 0;
    int64_t offset = 0;
    for (int d = 0; d < rank; ++d) {
      source = source * extents[d] + at[d] - first[d];
      offset = offset * target.extents[d] + at[d] - target.first[d];
    }
    std::memcpy(to + offset * bytes, from + source * bytes, row * bytes);
    int d = last - 1;
    while (d >= 0 && at[d] + 1 == end[d]) {
      at[d] = begin[d];
      --d;
    }
    if (d < 0) return;
    ++at[d];
  }
}

}  // namespace

bool HasTiles(const ResultView& view) {
  return view.held.has_value() ||
         std::any_of(view.extent.begin(), view.extent.end(),
                     [](int64_t extent) { return extent > 1; });
}

std::vector<Label> LabelsOf(const Program& program, const ResultView& view) {
  const ResultSet& set = program.results[view.result_set];
  std::vector<Label> labels;
  const bool has_user_indices = ArrayOf(program, view).name == view.array;
  set.domain.ForEach([&](const IndexVector& point) {
    const IndexVector index = Apply(set.map, point);
    bool is_inside = true;
    for (int d = 0; has_user_indices && d < index.size(); ++d) {
      is_inside = is_inside && index[d] >= view.lower[d] &&
                  index[d] <= view.upper[d] &&
                  (index[d] - view.lower[d]) % view.step[d] == 0;
    }
    if (is_inside) labels.push_back({.array = set.array, .index = index});
    return true;
  });
  std::sort(labels.begin(), labels.end());
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  return labels;
}

DenseView::DenseView(const Program& program, const ResultView& view)
    : program_(program),
      view_(view),
      labels_(LabelsOf(program, view)),
      // A tile one wide has an entry of its own in the shape, a user label not.
      is_tiled_(HasTiles(view) || (!labels_.empty() &&
                                   ArrayOf(program, view).name != view.array)),
      type_(ArrayOf(program, view).element) {}

absl::StatusOr<DenseView> DenseView::Of(const Program& program,
                                        const ResultView& view,
                                        ResultLookup lookup) {
  const auto shape_of = [lookup](const Label& label) -> absl::StatusOr<Shape> {
    DOGGED_ASSIGN_OR_RETURN(const Value value, lookup(label));
    return value.shape();
  };
  return Of(program, view, ShapeLookup(shape_of));
}

absl::StatusOr<DenseView> DenseView::Of(const Program& program,
                                        const ResultView& view,
                                        ShapeLookup shapes) {
  DenseView out(program, view);
  if (!out.is_tiled_) DOGGED_RETURN_IF_ERROR(out.NoteBlocks(shapes));
  out.SetShape();
  return out;
}

absl::Status DenseView::NoteBlocks(ShapeLookup shapes) {
  for (size_t i = 0; i < labels_.size(); ++i) {
    DOGGED_ASSIGN_OR_RETURN(const Shape shape, shapes(labels_[i]));
    if (!shape.empty()) shapes_.resize(labels_.size());
    if (!shapes_.empty()) shapes_[i] = shape;
    for (int d = 0; d < shape.size(); ++d) {
      if (full_.size() <= d) full_.push_back(0);
      full_[d] = std::max(full_[d], shape[d]);
    }
  }
  const auto varying =
      std::count_if(view_.tile_index.begin(), view_.tile_index.end(),
                    [](int32_t index) { return index >= 0; });
  is_product_ = full_.size() == varying;
  return absl::OkStatus();
}

void DenseView::SetShape() {
  if (shapes_.empty()) {
    for (size_t d = 0; d < view_.lower.size(); ++d) {
      if (view_.tile_index[d] >= 0) shape_.push_back(view_.Count(d));
    }
    return;
  }
  for (size_t i = 0; i < labels_.size(); ++i) {
    const Box place = PlaceBlock(i);
    for (int d = 0; d < place.first.size(); ++d) {
      if (shape_.size() <= d) shape_.push_back(0);
      shape_[d] = std::max(shape_[d], place.first[d] + place.extents[d]);
    }
  }
}

int64_t DenseView::bytes() const {
  return ElementCount(shape_) * ElementBytes(type_);
}

DenseView::Box DenseView::PlaceOf(size_t i) const {
  return is_tiled_ ? PlaceTile(labels_[i]) : PlaceBlock(i);
}

DenseView::Box DenseView::PlaceTile(const Label& label) const {
  Box out;
  for (size_t d = 0; d < view_.lower.size(); ++d) {
    if (view_.tile_index[d] < 0) continue;
    const int64_t begin =
        view_.origin[d] + label.index[view_.tile_index[d]] * view_.extent[d];
    const int64_t end = std::min(begin + view_.extent[d] - 1, view_.upper[d]);
    const int64_t first = CeilDiv(
        std::max(begin, view_.lower[d]) - view_.lower[d], view_.step[d]);
    const int64_t last = FloorDiv(end - view_.lower[d], view_.step[d]);
    out.first.push_back(first);
    out.extents.push_back(std::max<int64_t>(0, last - first + 1));
  }
  return out;
}

// Each value is one label of the user's.
DenseView::Box DenseView::PlaceBlock(size_t i) const {
  const Shape shape = shapes_.empty() ? Shape() : shapes_[i];
  Box out;
  for (size_t d = 0; d < view_.lower.size(); ++d) {
    if (view_.tile_index[d] < 0) continue;
    const int64_t position =
        (labels_[i].index[view_.tile_index[d]] - view_.lower[d]) /
        view_.step[d];
    const int v = out.first.size();
    out.first.push_back(is_product_ ? position * full_[v] : position);
    out.extents.push_back(is_product_ ? shape[v] : 1);
  }
  for (int d = 0; !is_product_ && d < shape.size(); ++d) {
    out.first.push_back(0);
    out.extents.push_back(shape[d]);
  }
  return out;
}

absl::StatusOr<Value> DenseView::Assemble(const Box& box,
                                          ResultLookup lookup) const {
  Value out = Value::Allocate(type_, box.extents);
  std::memset(out.mutable_data(), 0, out.bytes());
  const auto touches = [&](const Box& place) {
    for (int d = 0; d < place.first.size(); ++d) {
      if (place.first[d] + place.extents[d] <= box.first[d] ||
          place.first[d] >= box.first[d] + box.extents[d]) {
        return false;
      }
    }
    return true;
  };
  for (size_t i = 0; i < labels_.size(); ++i) {
    const Box place = PlaceOf(i);
    if (!touches(place)) continue;
    DOGGED_ASSIGN_OR_RETURN(const Value value, lookup(labels_[i]));
    if (value.element_count() != ElementCount(place.extents)) {
      return absl::InternalError(absl::StrCat(
          "result ", program_.get().LabelText(labels_[i]), " has shape ",
          value.shape().ToString(), ", expected ", place.extents.ToString()));
    }
    CopyBlock(value, place.first, place.extents, {box.first, box.extents, out});
  }
  out.SealLazily();
  return out;
}

absl::StatusOr<Value> DenseView::Assemble(ResultLookup lookup) const {
  Box all{.first = shape_, .extents = shape_};
  for (int d = 0; d < shape_.size(); ++d) all.first[d] = 0;
  return Assemble(all, lookup);
}

int64_t DenseView::RowsTogether(int d) const {
  if (!is_tiled_) return is_product_ ? full_[d] : 1;
  int next = 0;
  for (size_t i = 0; i < view_.lower.size(); ++i) {
    if (view_.tile_index[i] < 0) continue;
    if (next++ == d) {
      return std::max<int64_t>(1, view_.extent[i] / view_.step[i]);
    }
  }
  return 1;
}

absl::Status DenseView::ForEachPiece(
    int64_t bytes_max, ResultLookup lookup,
    absl::FunctionRef<absl::Status(const DensePiece&)> visit) const {
  Box box{.first = shape_, .extents = shape_};
  for (int d = 0; d < shape_.size(); ++d) box.first[d] = 0;
  // A piece is some rows along `split`, of one place along those before.
  int split = -1;
  int64_t row = bytes();
  while (row > bytes_max && split + 1 < shape_.size()) {
    ++split;
    row /= shape_[split];
    box.extents[split] = 1;
  }
  int64_t rows = 1;
  if (split >= 0) {
    rows = std::max<int64_t>(1, bytes_max / row);
    // Whole tiles: their values are looked up once then.
    const int64_t together = RowsTogether(split);
    if (rows > together) rows -= rows % together;
  }
  while (true) {
    if (split >= 0) {
      box.extents[split] = std::min(rows, shape_[split] - box.first[split]);
    }
    DOGGED_ASSIGN_OR_RETURN(Value value, Assemble(box, lookup));
    DOGGED_RETURN_IF_ERROR(
        visit({.first = box.first, .value = std::move(value)}));
    int d = split;
    if (d >= 0) box.first[d] += box.extents[d];
    while (d >= 0 && box.first[d] >= shape_[d]) {
      box.first[d] = 0;
      if (--d >= 0) ++box.first[d];
    }
    if (d < 0) return absl::OkStatus();
  }
}

absl::StatusOr<Value> AssembleView(const Program& program,
                                   const ResultView& view,
                                   ResultLookup lookup) {
  DOGGED_ASSIGN_OR_RETURN(const DenseView dense,
                          DenseView::Of(program, view, lookup));
  return dense.Assemble(lookup);
}

}  // namespace dogged::dsl
