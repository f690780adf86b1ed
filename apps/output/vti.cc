#include "apps/output/vti.h"

#include <bit>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "apps/output/file.h"
#include "runtime/base/status.h"

namespace dogged {
namespace {

static_assert(std::endian::native == std::endian::little,
              "values are written to .vti as they lie in memory");

absl::string_view VtkType(ElementType type) {
  switch (type) {
    case ElementType::kDouble:
      return "Float64";
    case ElementType::kFloat:
      return "Float32";
    case ElementType::kInt64:
      return "Int64";
  }
  return "";
}

// The axes x, y and z; an axis that the value has not is of one point.
struct Grid {
  double first[3] = {0, 0, 0};
  double step[3] = {1, 1, 1};
  int64_t count[3] = {1, 1, 1};
};

absl::StatusOr<Grid> GridOf(const Value& value, const IndexGrid& indices) {
  Grid grid;
  int axis = 0;
  for (int d = 0; d < value.shape().size(); ++d) {
    const int64_t count = value.shape()[d];
    if (count == 1) continue;
    if (axis == 3) {
      return absl::InvalidArgumentError(
          "an image has at most three dimensions; fix an index, or write it to "
          "an .npy file");
    }
    if (count < 1 || count > kImagePointsMax) {
      return absl::InvalidArgumentError(
          absl::StrCat("an image has 1 to ", kImagePointsMax,
                       " points along an axis, this one ", count));
    }
    grid.count[axis] = count;
    const double spacing = indices.AxisOf(d).spacing;
    grid.first[axis] = static_cast<double>(indices.FirstOf(d)) * spacing;
    grid.step[axis] = static_cast<double>(indices.StepOf(d)) * spacing;
    ++axis;
  }
  return grid;
}

// The elements with x running fastest; ours run fastest along the last axis.
template <typename Word>
void CopyByX(const Word* from, const Grid& grid, Word* to) {
  for (int64_t z = 0; z < grid.count[2]; ++z) {
    for (int64_t y = 0; y < grid.count[1]; ++y) {
      for (int64_t x = 0; x < grid.count[0]; ++x) {
        *to++ = from[(x * grid.count[1] + y) * grid.count[2] + z];
      }
    }
  }
}

std::string ByX(const Value& value, const Grid& grid) {
  std::string out(static_cast<size_t>(value.bytes()), '\0');
  // Bits are moved, whatever they mean.
  if (ElementBytes(value.type()) == 4) {
    CopyByX(static_cast<const uint32_t*>(value.data()), grid,
            reinterpret_cast<uint32_t*>(out.data()));
  } else {
    CopyByX(static_cast<const uint64_t*>(value.data()), grid,
            reinterpret_cast<uint64_t*>(out.data()));
  }
  return out;
}

std::string Triple(const double (&of)[3]) {
  return absl::StrCat(ShortestText(of[0]), " ", ShortestText(of[1]), " ",
                      ShortestText(of[2]));
}

std::string Header(const Value& value, const Grid& grid,
                   absl::string_view name) {
  const std::string extent =
      absl::StrFormat("0 %d 0 %d 0 %d", grid.count[0] - 1, grid.count[1] - 1,
                      grid.count[2] - 1);
  return absl::StrFormat(
      R"(<?xml version="1.0"?>
<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian"
         header_type="UInt64">
  <ImageData WholeExtent="%s" Origin="%s" Spacing="%s">
    <Piece Extent="%s">
      <PointData Scalars="%s">
        <DataArray type="%s" Name="%s" format="appended" offset="0"/>
      </PointData>
    </Piece>
  </ImageData>
  <AppendedData encoding="raw">
_)",
      extent, Triple(grid.first), Triple(grid.step), extent, name,
      VtkType(value.type()), name);
}

std::string EscapedName(absl::string_view text) {
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

}  // namespace

absl::Status WriteVti(absl::string_view path, const Value& value,
                      absl::string_view name, const IndexGrid& indices) {
  const absl::StatusOr<Grid> grid = GridOf(value, indices);
  DOGGED_RETURN_IF_ERROR(Annotate(grid.status(), path));
  const std::string header = Header(value, *grid, name);
  const auto bytes = static_cast<uint64_t>(value.bytes());
  char size[sizeof bytes];
  std::memcpy(size, &bytes, sizeof bytes);
  const bool is_line = grid->count[1] == 1;
  const std::string by_x = is_line ? std::string() : ByX(value, *grid);
  const absl::string_view pieces[] = {
      header, absl::string_view(size, sizeof size),
      is_line ? value.view() : absl::string_view(by_x),
      "\n  </AppendedData>\n</VTKFile>\n"};
  return WriteWholeFile(path, pieces);
}

std::string ImagePath(absl::string_view list_path, int64_t step) {
  return absl::StrFormat("%s_%06d.vti",
                         list_path.substr(0, list_path.rfind('.')), step);
}

absl::Status WritePvd(absl::string_view path, absl::Span<const int64_t> steps,
                      double spacing) {
  const size_t slash = path.rfind('/');
  const absl::string_view name =
      slash == absl::string_view::npos ? path : path.substr(slash + 1);
  std::string out =
      "<?xml version=\"1.0\"?>\n"
      "<VTKFile type=\"Collection\" version=\"0.1\" "
      "byte_order=\"LittleEndian\">\n"
      "  <Collection>\n";
  for (const int64_t step : steps) {
    absl::StrAppendFormat(&out,
                          "    <DataSet timestep=\"%s\" part=\"0\" "
                          "file=\"%s\"/>\n",
                          ShortestText(static_cast<double>(step) * spacing),
                          EscapedName(ImagePath(name, step)));
  }
  out += "  </Collection>\n</VTKFile>\n";
  const absl::string_view pieces[] = {out};
  return WriteWholeFile(path, pieces);
}

}  // namespace dogged
