#include "dsl/kernels/tile_inputs.h"

#include <algorithm>
#include <utility>

namespace dogged::dsl {
namespace {

bool LoadsInputs(const TilePiece& piece) {
  return std::any_of(piece.loads.begin(), piece.loads.end(),
                     [](const TileLoad& load) { return load.is_input; });
}

// A task of that role runs a static piece.
bool RunsStatic(const TilePlan& plan, const TilePiece& piece,
                const TileRole& role) {
  if (plan.IsGathered(piece)) return true;
  return role.kind == TileRole::Kind::kStatic &&
         plan.StageOf(piece) == role.stage;
}

void AddInputs(const TilePiece& piece, const Box& points,
               std::vector<Box>& boxes) {
  if (points.IsEmpty()) return;
  for (const TileLoad& load : piece.loads) {
    if (!load.is_input) continue;
    Box& box = boxes[load.source];
    const bool is_first = box.lower.size() < static_cast<int>(load.at.size());
    for (size_t e = 0; e < load.at.size(); ++e) {
      const auto [least, greatest] = RangeOver(load.at[e], points);
      if (is_first) {
        box.lower.push_back(least);
        box.upper.push_back(greatest);
        continue;
      }
      const auto d = static_cast<int>(e);
      box.lower[d] = std::min(box.lower[d], least);
      box.upper[d] = std::max(box.upper[d], greatest);
    }
  }
}

int64_t Padded(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// True if nothing of an input is read: no task has come by with points.
bool IsUnread(const TileInput& input, const Box& box) {
  return box.size() < input.box.size();
}

int64_t CopiedBytes(const TileProgram& program, size_t i, const Box& box) {
  const TileInput& input = program.plan.inputs[i];
  if (!program.inputs[i].whole().IsNone() || IsUnread(input, box)) return 0;
  return Padded(box.Count() * ElementBytes(input.element));
}

}  // namespace

bool ReadsInputs(const TileProgram& program, const TileRole& role) {
  const TilePlan& plan = program.plan;
  return std::any_of(
      plan.pieces.begin(), plan.pieces.end(), [&](const TilePiece& piece) {
        if (!LoadsInputs(piece)) return false;
        return piece.is_static ? RunsStatic(plan, piece, role)
                               : role.kind != TileRole::Kind::kStatic;
      });
}

std::vector<Box> InputBoxes(const TileProgram& program, const TileRole& role,
                            const TileSweep& sweep, int64_t first,
                            int64_t last) {
  const TilePlan& plan = program.plan;
  std::vector<Box> out(plan.inputs.size());
  for (size_t p = 0; p < plan.pieces.size(); ++p) {
    const TilePiece& piece = plan.pieces[p];
    if (!LoadsInputs(piece)) continue;
    if (piece.is_static) {
      if (RunsStatic(plan, piece, role)) {
        AddInputs(piece, sweep.PieceBox(p, 0, 0), out);
      }
      continue;
    }
    if (role.kind == TileRole::Kind::kStatic) continue;
    for (int64_t time_step = first; time_step <= last; ++time_step) {
      AddInputs(piece, sweep.PieceBox(p, time_step, last - time_step), out);
    }
  }
  return out;
}

int64_t InputBytes(const TileProgram& program, const std::vector<Box>& boxes) {
  int64_t bytes = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    bytes += CopiedBytes(program, i, boxes[i]);
  }
  return bytes;
}

DenseBox InArray(const TileInput& input, const Box& box) {
  DenseBox out;
  if (IsUnread(input, box)) return out;
  for (int d = 0; d < box.size(); ++d) {
    out.first.push_back(box.lower[d] - input.box.lower[d]);
  }
  out.extents = box.Extents();
  return out;
}

absl::StatusOr<Value> PlaceInputs(const TileProgram& program,
                                  const std::vector<Box>& boxes,
                                  std::vector<Window>& windows) {
  Value copies;
  char* memory = nullptr;
  if (const int64_t bytes = InputBytes(program, boxes); bytes > 0) {
    copies = Value::Allocate(ElementType::kInt64, {bytes / 8});
    memory = static_cast<char*>(copies.mutable_data());
  }
  for (size_t i = 0; i < boxes.size(); ++i) {
    const TileInput& input = program.plan.inputs[i];
    const InputArray& array = program.inputs[i];
    const Box& box = boxes[i];
    if (!array.whole().IsNone()) {
      // Inputs are only read from.
      windows.push_back(
          DenseWindow(const_cast<void*>(array.whole().data()), input.box));
      continue;
    }
    if (IsUnread(input, box)) {
      windows.emplace_back();
      continue;
    }
    if (box.IsEmpty() || Intersect(box, input.box) != box) {
      return absl::InvalidArgumentError(
          "the job's plan of tiles reads beyond an input");
    }
    const absl::Status read = array.Read(InArray(input, box), memory);
    if (!read.ok()) return read;
    windows.push_back(DenseWindow(memory, box));
    memory += CopiedBytes(program, i, box);
  }
  return copies;
}

}  // namespace dogged::dsl
