#include "dsl/job_inputs.h"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/ir/tile_bodies.h"
#include "dsl/ir/tile_plan.h"
#include "dsl/kernels/point_kernels.h"
#include "runtime/base/status.h"
#include "runtime/graph/affine.h"
#include "runtime/graph/float_kernel.h"

namespace dogged::dsl {
namespace {

// Bounds of a chunk: smaller ones cost more messages and digests than they
// spare, larger ones come late and take memory at a time.
constexpr int64_t kChunkBytesMin = 128 << 10;
constexpr int64_t kChunkBytesMax = 512 << 10;
// Parts of a tile: a tile reads some points beyond its edge, which need not
// bring another whole tile.
constexpr int64_t kPartsOfTile = 16;

// `wanted` as it fits the array and a chunk's size: `unit` is the least that
// is read together, by dimension.
Shape ChunkShape(const Shape& array, Shape wanted, int64_t element_bytes) {
  const int rank = array.size();
  for (int d = 0; d < rank; ++d) {
    wanted[d] = std::clamp<int64_t>(wanted[d], 1, array[d]);
  }
  const auto bytes = [&] { return ElementCount(wanted) * element_bytes; };
  // Rows are copied fastest if they are long.
  for (int d = rank - 1; d >= 0; --d) {
    while (bytes() < kChunkBytesMin && wanted[d] < array[d]) {
      wanted[d] = std::min(2 * wanted[d], array[d]);
    }
  }
  for (int d = 0; d < rank; ++d) {
    while (bytes() > kChunkBytesMax && wanted[d] > 1) {
      wanted[d] = CeilDiv(wanted[d], 2);
    }
  }
  return wanted;
}

// Shape of the part that one task cuts out.
Shape WantedChunk(const InputBody& body, const Shape& array) {
  Shape out = array;
  const auto block_rank = static_cast<int>(body.block.size());
  const int indices = body.box.size();
  const bool is_product = block_rank > 0 && array.size() == indices;
  for (int d = 0; d < array.size(); ++d) {
    if (is_product) {
      out[d] = body.block[d];
    } else if (d < indices) {
      out[d] = 1;
    }
  }
  return out;
}

// Lowers the `wanted` shapes to the parts that tiles read.
void NoteTiles(const TilePlan& plan, const Job& job,
               std::vector<Shape>& wanted) {
  for (const TilePiece& piece : plan.pieces) {
    for (const TileLoad& load : piece.loads) {
      if (!load.is_input) continue;
      const TileInput& input = plan.inputs[load.source];
      const int64_t position = input.position;
      const Value& content = job.inputs[position].content;
      if (content.IsNone()) continue;  // `check` needs no files
      const Shape& array = content.shape();
      Shape& out = wanted[position];
      if (out.size() < array.size()) out = array;
      for (size_t e = 0; e < load.at.size(); ++e) {
        const auto d = static_cast<int>(e);
        for (int c = 0; c <= plan.dim_count(); ++c) {
          const int64_t factor = load.at[e].coefficients[c];
          if (factor == 0) continue;
          const int64_t width = c == 0 ? plan.depth : plan.widths[c - 1];
          const bool is_cut = c == 0 || plan.counts[c - 1] > 1;
          if (!is_cut) continue;
          out[d] =
              std::min(out[d], CeilDiv(width, kPartsOfTile) * std::abs(factor));
        }
      }
    }
  }
}

absl::Status CutInputs(const PointProgram& points, Job& job) {
  std::vector<Shape> wanted(job.inputs.size());
  for (const KernelSpec& spec : job.program.kernels) {
    if (spec.kind != "tile-plan") continue;
    DOGGED_ASSIGN_OR_RETURN(const TilePlan plan, DecodeTilePlan(spec));
    NoteTiles(plan, job, wanted);
  }
  for (const PointClass& c : points.classes) {
    if (c.body != PointClass::Body::kInput) continue;
    const int64_t position = c.input.position;
    const Value& content = job.inputs[position].content;
    if (content.IsNone()) continue;
    Shape& shape = wanted[position];
    if (shape.size() < content.shape().size()) {
      shape = WantedChunk(c.input, content.shape());
    }
  }
  for (size_t i = 0; i < job.inputs.size(); ++i) {
    const Value& content = job.inputs[i].content;
    if (content.IsNone() || content.bytes() == 0) continue;
    if (wanted[i].size() < content.shape().size()) wanted[i] = content.shape();
    wanted[i] =
        ChunkShape(content.shape(), wanted[i], ElementBytes(content.type()));
  }
  job.cuts = std::move(wanted);
  return absl::OkStatus();
}

// Help with a file of another element type. A kernel that is known by name
// takes doubles or floats, all of one type.
std::string HelpWithType(const PointProgram& points, const PointClass& input,
                         const Value& content) {
  const int32_t array = input.creates.front().array;
  const auto is_of_array = [array](const auto& label) {
    return label.array == array;
  };
  const absl::string_view held = ElementName(content.type());
  std::string out =
      absl::StrCat(": write it anew:  np.save(file, a.astype('",
                   input.input.element == ElementType::kDouble  ? "<f8"
                   : input.input.element == ElementType::kFloat ? "<f4"
                                                                : "<i8",
                   "'))");
  for (const PointClass& c : points.classes) {
    if (c.body != PointClass::Body::kNative || !c.native.library.empty()) {
      continue;
    }
    if (std::any_of(c.uses.begin(), c.uses.end(), is_of_array) ||
        std::any_of(c.creates.begin(), c.creates.end(), is_of_array)) {
      const absl::string_view kernel = WrittenName(c.native.kernel);
      const bool may_be = content.type() != ElementType::kInt64 &&
                          input.input.element != ElementType::kInt64;
      return may_be ? absl::StrCat(out, ", or declare all arrays of kernel ",
                                   kernel, " as ", held)
                    : absl::StrCat(out, "; kernel ", kernel, " takes no ", held,
                                   " there");
    }
  }
  return absl::StrCat(out, ", or declare the array as ", held,
                      ", as in  array A(i = 0:N) : ", held);
}

}  // namespace

absl::Status AddInputs(
    const PointProgram& points, const CompileOptions& options,
    absl::FunctionRef<std::string(const std::string& array, const Shape&)> help,
    Job& job, ProgramFacts& facts) {
  for (const std::string& array : points.inputs) {
    const auto it = options.inputs.find(array);
    const bool is_there = it != options.inputs.end();
    if (!is_there && !options.may_lack_inputs) {
      return absl::InvalidArgumentError(
          absl::StrCat("input ", array, " has no file"));
    }
    job.inputs.push_back(
        {.array = array, .content = is_there ? it->second : Value()});
  }
  for (const PointClass& c : points.classes) {
    if (c.body != PointClass::Body::kInput) continue;
    const JobInput& input = job.inputs[c.input.position];
    if (input.content.IsNone()) {
      facts.lacking.push_back(
          {input.array, c.input.element, WantedShape(c.input)});
      continue;
    }
    const absl::Status fits =
        MakeInputKernel(c.input, InputArray(input.content)).status();
    if (fits.ok()) continue;
    const Shape& shape = input.content.shape();
    return Annotate(
        absl::Status(
            fits.code(),
            absl::StrCat(std::string(fits.message()),
                         input.content.type() == c.input.element
                             ? help(input.array, shape)
                             : HelpWithType(points, c, input.content))),
        absl::StrCat("input ", input.array));
  }
  return CutInputs(points, job);
}

}  // namespace dogged::dsl
