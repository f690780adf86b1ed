#include "apps/dogged/report/output_parts.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/strings/str_cat.h"
#include "apps/dogged/report/declared_shapes.h"
#include "apps/dogged/report/output_labels.h"
#include "apps/output/npy_header.h"
#include "apps/output/selection_cut.h"
#include "apps/output/zarr.h"
#include "dsl/dense_view.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

using Range = SelectionCut::Range;

// Chunks of a store that are as blocks have so many bytes.
constexpr int64_t kBlockBytesMin = 256 << 10;
constexpr int64_t kBlockBytesMax = 64 << 20;

// Bytes from one element to the next, by dimension, of an array of `shape`.
IndexVector StridesOf(const Shape& shape, int64_t element_bytes) {
  IndexVector out = shape;
  int64_t stride = element_bytes;
  for (int d = out.size() - 1; d >= 0; --d) {
    out[d] = stride;
    stride *= shape[d];
  }
  return out;
}

// A label's part of an output: its box in the value, and where that begins in
// the array.
struct Piece {
  FilePart part;
  IndexVector begin;
};

// The chunks of an output, with dimensions for indices that are one number,
// too, of which the array has none.
struct Chunks {
  Shape shape;                // of each
  std::vector<bool> is_kept;  // by dimension: the array has it

  IndexVector Kept(const IndexVector& all) const {
    IndexVector out;
    for (int d = 0; d < all.size(); ++d) {
      if (is_kept[d]) out.push_back(all[d]);
    }
    return out;
  }
};

// `taken` is the array with all dimensions: those that `shape` has not are 1.
std::vector<bool> KeptOf(const Shape& taken, const Shape& shape) {
  std::vector<bool> out;
  int next = 0;
  for (const int64_t extent : taken) {
    const bool is_kept = next < shape.size() && shape[next] == extent;
    out.push_back(is_kept);
    if (is_kept) ++next;
  }
  return out;
}

// Adds what of `piece` stands in chunk number `at`.
void AddInChunk(const Piece& piece, const IndexVector& at, const Chunks& chunks,
                OutputParts& out) {
  FilePart part = piece.part;
  part.stride = StridesOf(chunks.shape, part.element_bytes);
  part.offset = 0;
  for (int d = 0; d < at.size(); ++d) {
    const int64_t low = at[d] * chunks.shape[d];
    const int64_t begin = std::max(piece.begin[d], low);
    const int64_t end =
        std::min(piece.begin[d] + piece.part.count[d], low + chunks.shape[d]);
    part.first[d] += begin - piece.begin[d];
    part.count[d] = end - begin;
    part.offset += (begin - low) * part.stride[d];
  }
  out.parts.push_back(std::move(part));
  out.chunks.push_back(ChunkName(chunks.Kept(at)));
}

void AddToChunks(const Piece& piece, const Chunks& chunks, OutputParts& out) {
  IndexVector first = piece.begin;
  IndexVector last = piece.begin;
  for (int d = 0; d < first.size(); ++d) {
    first[d] = piece.begin[d] / chunks.shape[d];
    last[d] = (piece.begin[d] + piece.part.count[d] - 1) / chunks.shape[d];
  }
  IndexVector at = first;
  while (true) {
    AddInChunk(piece, at, chunks, out);
    int d = at.size() - 1;
    while (d >= 0 && ++at[d] > last[d]) {
      at[d] = first[d];
      --d;
    }
    if (d < 0) return;
  }
}

// Into a file of an array of shape `taken`.
void AddToFile(const Piece& piece, const Shape& taken, OutputParts& out) {
  FilePart part = piece.part;
  part.stride = StridesOf(taken, part.element_bytes);
  part.offset = std::ssize(out.header);
  for (int d = 0; d < part.stride.size(); ++d) {
    part.offset += piece.begin[d] * part.stride[d];
  }
  out.parts.push_back(std::move(part));
}

// Parts of labels that `ranges` take.
std::vector<Piece> PiecesOf(const dsl::DenseView& dense,
                            const std::vector<Range>& ranges) {
  std::vector<Piece> out;
  for (size_t i = 0; i < dense.labels().size(); ++i) {
    const dsl::DenseView::Box box = dense.PlaceOf(i);
    Piece piece{.part = {.label = dense.labels()[i],
                         .extents = box.extents,
                         .element_bytes = ElementBytes(dense.type())},
                .begin = {}};
    bool is_empty = false;
    for (size_t d = 0; d < ranges.size(); ++d) {
      const int at = static_cast<int>(d);
      const int64_t range_end = ranges[d].first + ranges[d].count;
      const int64_t begin = std::max(ranges[d].first, box.first[at]);
      const int64_t end = std::min(range_end, box.first[at] + box.extents[at]);
      is_empty = is_empty || end <= begin;
      piece.part.first.push_back(begin - box.first[at]);
      piece.part.count.push_back(end - begin);
      piece.begin.push_back(begin - ranges[d].first);
    }
    if (!is_empty) out.push_back(std::move(piece));
  }
  return out;
}

}  // namespace

Shape ChunkOf(const std::vector<PlacedBlock>& blocks, ElementType type,
              const Shape& shape) {
  const Shape rows = ChunkShape(type, shape);
  if (blocks.empty()) return rows;
  Shape out = blocks.front().extents;
  for (const PlacedBlock& block : blocks) {
    for (int d = 0; d < out.size(); ++d) {
      out[d] = std::max(out[d], block.extents[d]);
    }
  }
  const int64_t bytes = ElementCount(out) * ElementBytes(type);
  if (bytes < kBlockBytesMin || bytes > kBlockBytesMax) return rows;
  for (const PlacedBlock& block : blocks) {
    for (int d = 0; d < out.size(); ++d) {
      const int64_t expected = std::min(out[d], shape[d] - block.first[d]);
      if (block.first[d] % out[d] != 0 || block.extents[d] != expected) {
        return rows;
      }
    }
  }
  return out;
}

absl::StatusOr<OutputParts> PartsOf(const Output& output,
                                    const Relations& relations) {
  const Program& program = relations.program();
  const ResultView& view = program.views[output.labels.view];
  const Selection selection = WithNumbers(output, view);
  if (!IsArrayFormat(selection.format)) {
    return absl::FailedPreconditionError(
        absl::StrCat(selection.path, " is no .npy file or .zarr store"));
  }
  if (IsTurned(output, selection, view)) {
    return absl::FailedPreconditionError(
        "--time-first: values of agents have time last");
  }
  const DeclaredShapes shapes(relations);
  const bool has_blocks = output.labels.has_blocks;
  const auto shape_of = [&shapes](const Label& label) {
    return shapes.Of(label);
  };
  DOGGED_ASSIGN_OR_RETURN(
      const dsl::DenseView dense,
      dsl::DenseView::Of(program, has_blocks ? Narrowed(view, selection) : view,
                         dsl::ShapeLookup(shape_of)));
  const Selection all{.text = selection.text,
                      .array = selection.array,
                      .indices = {},
                      .path = selection.path};
  DOGGED_ASSIGN_OR_RETURN(
      const SelectionCut cut,
      SelectionCut::Of(has_blocks ? all : selection, view, dense.shape()));
  // A part of a value is a box.
  if (std::any_of(cut.ranges().begin(), cut.ranges().end(),
                  [](const Range& range) { return range.step > 1; })) {
    return absl::FailedPreconditionError(
        absl::StrCat("labels of ", selection.text,
                     " are a step apart, and others lie between them"));
  }
  OutputParts out{.written = {.path = selection.path,
                              .array = selection.array,
                              .labels = LabelsText(selection, view),
                              .shape = cut.shape(),
                              .type = dense.type()},
                  .parts = {},
                  .header = {},
                  .chunks = {},
                  .chunk = {},
                  .description = {}};
  const std::vector<Piece> pieces = PiecesOf(dense, cut.ranges());
  Shape taken;
  for (const Range& range : cut.ranges()) taken.push_back(range.count);
  if (selection.format == OutputFormat::kNpy) {
    out.header = EncodeNpyHeader(dense.type(), cut.shape());
    out.data_bytes = ElementCount(cut.shape()) * ElementBytes(dense.type());
    for (const Piece& piece : pieces) AddToFile(piece, taken, out);
    return out;
  }
  out.description = DescriptionOf(output, selection, view, out.written);
  std::vector<PlacedBlock> blocks;
  for (const Piece& piece : pieces) {
    blocks.push_back({.first = piece.begin, .extents = piece.part.count});
  }
  const Chunks chunks{.shape = ChunkOf(blocks, dense.type(), taken),
                      .is_kept = KeptOf(taken, cut.shape())};
  out.chunk = chunks.Kept(chunks.shape);
  for (const Piece& piece : pieces) AddToChunks(piece, chunks, out);
  return out;
}

}  // namespace dogged
