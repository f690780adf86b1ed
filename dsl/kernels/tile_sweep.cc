#include "dsl/kernels/tile_sweep.h"

#include <algorithm>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "runtime/base/check.h"
#include "runtime/graph/affine.h"

namespace dogged::dsl {
namespace {

// How far the load's address lies ahead along the first dimension of space.
int64_t ShiftOf(const TileLoad& load) {
  for (size_t e = 0; e < load.coordinates.size(); ++e) {
    if (load.coordinates[e] == 1) return load.shifts[e];
  }
  return 0;
}

bool Stores(const TilePiece& piece, int32_t field) {
  return std::find(piece.stores.begin(), piece.stores.end(), field) !=
         piece.stores.end();
}

}  // namespace

int64_t SweepOrder::LagMax(int64_t time_steps) const {
  int64_t offset = 0;
  for (const int64_t o : offsets) offset = std::max(offset, o);
  return (time_steps - 1) * step + offset;
}

// With lag(l, p) = l * step + offsets[p], a slice of p at time step l is
// computed after all that it reads (makers m, k time steps before, ahead by
// `shift`):
//   lag(l, p) >= lag(l - k, m) + shift,
// and after all that read what it overwrites (readers q of the same field, at
// one of the time steps between, ahead by `shift`):
//   lag(l, p) >= lag(l', q) - shift.
SweepOrder FindSweepOrder(const TilePlan& plan) {
  SweepOrder out;
  out.offsets.assign(plan.pieces.size(), 0);
  const auto is_swept = [&plan](const TilePiece& piece) {
    return !piece.is_static && !plan.IsAhead(piece);
  };
  // Pieces stand after those that they read at the same time step.
  for (size_t p = 0; p < plan.pieces.size(); ++p) {
    const TilePiece& piece = plan.pieces[p];
    if (!is_swept(piece)) continue;
    for (size_t l = 0; l < piece.loads.size(); ++l) {
      if (piece.loads[l].lag > 0 || piece.loads[l].is_input) continue;
      for (const int32_t m : piece.makers[l]) {
        if (!is_swept(plan.pieces[m])) continue;
        out.offsets[p] =
            std::max(out.offsets[p], out.offsets[m] + ShiftOf(piece.loads[l]));
      }
    }
  }
  const auto at_least = [&out](int64_t distance, int64_t time_steps) {
    out.step = std::max(out.step, CeilDiv(distance, time_steps));
  };
  for (size_t q = 0; q < plan.pieces.size(); ++q) {
    const TilePiece& reader = plan.pieces[q];
    if (!is_swept(reader)) continue;
    for (size_t l = 0; l < reader.loads.size(); ++l) {
      const TileLoad& load = reader.loads[l];
      if (load.is_input) continue;
      const TileField& field = plan.fields[load.source];
      if (field.is_static || plan.IsAhead(field)) continue;
      const int64_t shift = ShiftOf(load);
      out.ahead = std::max(out.ahead, shift);
      out.behind = std::max(out.behind, -shift);
      for (size_t p = 0; p < plan.pieces.size(); ++p) {
        if (!Stores(plan.pieces[p], load.source)) continue;
        if (load.lag > 0) {
          at_least(out.offsets[p] - out.offsets[q] + shift, load.lag);
        }
        at_least(out.offsets[q] - out.offsets[p] - shift,
                 field.carried + 1 - load.lag);
      }
    }
    for (const int32_t store : reader.stores) {
      for (size_t p = 0; p < plan.pieces.size(); ++p) {
        if (Stores(plan.pieces[p], store)) {
          at_least(out.offsets[q] - out.offsets[p], 1);
        }
      }
    }
  }
  return out;
}

Box TileSweep::PieceBox(size_t p, int64_t time_step,
                        int64_t time_steps_to_go) const {
  const TilePiece& piece = plan_.pieces[p];
  const auto row =
      piece.is_static ? size_t{0} : static_cast<size_t>(time_steps_to_go);
  const Box tile = plan_.Tile(tile_);
  Box box;
  box.lower.push_back(time_step);
  box.upper.push_back(time_step);
  for (int d = 0; d < plan_.dim_count(); ++d) {
    box.lower.push_back(tile.lower[d] - program_.halos.below[p][row][d]);
    box.upper.push_back(tile.upper[d] + program_.halos.above[p][row][d]);
  }
  const bool is_gathered = plan_.IsGathered(piece);
  for (const int32_t store : piece.stores) {
    const TileField& field = plan_.fields[store];
    const Box& window = fields_[store].At(time_step).box;
    for (int d = is_gathered ? -1 : 0; d < plan_.dim_count(); ++d) {
      const auto entry = std::find(field.dims.begin(), field.dims.end(), d) -
                         field.dims.begin();
      const bool is_own = entry < static_cast<ptrdiff_t>(field.dims.size());
      const auto e = static_cast<int>(entry);
      // A field without this dimension has one point in it.
      if (!is_own) {
        box.lower[d + 1] = box.upper[d + 1] = 0;
      } else if (is_gathered) {
        box.lower[d + 1] = window.lower[e];
        box.upper[d + 1] = window.upper[e];
      } else {
        box.lower[d + 1] = std::max(box.lower[d + 1], window.lower[e]);
        box.upper[d + 1] = std::min(box.upper[d + 1], window.upper[e]);
      }
    }
  }
  if (!piece.time_steps.Holds({time_step})) box.upper[0] = box.lower[0] - 1;
  for (const AffineExpr& expr : piece.at_least) {
    // A gathered coefficient's coordinate 0 is no time step, and `time_step` is
    // 0.
    const int64_t rest = expr.constant + expr.coefficients[0] * time_step;
    int c = is_gathered ? 0 : 1;
    while (c < box.size() && expr.coefficients[c] == 0) {
      ++c;
    }
    if (c == box.size()) {
      if (rest < 0) box.upper[0] = box.lower[0] - 1;
      continue;
    }
    const int64_t factor = expr.coefficients[c];
    if (factor > 0) {
      box.lower[c] = std::max(box.lower[c], CeilDiv(-rest, factor));
    } else {
      box.upper[c] = std::min(box.upper[c], FloorDiv(rest, -factor));
    }
  }
  return box;
}

TileSweep::Operand TileSweep::Place(const Window& window, int64_t element_bytes,
                                    absl::Span<const int32_t> coordinates,
                                    absl::Span<const int64_t> shifts,
                                    Part& part) {
  const size_t begin = part.strides.size();
  part.strides.resize(begin + static_cast<size_t>(part.box.size()), 0);
  Operand out{.data = window.data};
  for (size_t e = 0; e < coordinates.size(); ++e) {
    const auto c = coordinates[e];
    const auto d = static_cast<int>(e);
    part.strides[begin + static_cast<size_t>(c)] = window.strides[d];
    const int64_t at = (shifts.empty() ? 0 : shifts[e]) - window.box.lower[d] +
                       part.box.lower[c];
    const int64_t bytes = window.strides[d] * element_bytes;
    if (c == 1) {
      out.step = bytes;
      out.planes = window.planes;
    }
    // Planes that take turns are counted.
    if (c == 1 && out.planes != Window::kAll) {
      out.plane = at;
    } else {
      out.data += at * bytes;
    }
  }
  return out;
}

TileSweep::Operand TileSweep::PlaceAt(const Window& window,
                                      int64_t element_bytes,
                                      absl::Span<const AffineExpr> at,
                                      Part& part) {
  const size_t begin = part.strides.size();
  part.strides.resize(begin + static_cast<size_t>(part.box.size()), 0);
  int64_t first = 0;
  for (size_t e = 0; e < at.size(); ++e) {
    const auto d = static_cast<int>(e);
    for (int c = 0; c < part.box.size(); ++c) {
      part.strides[begin + static_cast<size_t>(c)] +=
          at[e].coefficients[c] * window.strides[d];
    }
    first += (at[e].Evaluate(part.box.lower) - window.box.lower[d]) *
             window.strides[d];
  }
  return {.data = window.data + first * element_bytes,
          .step = part.strides[begin + 1] * element_bytes};
}

void TileSweep::AddPart(size_t p, int64_t time_step, int64_t time_steps_to_go,
                        int64_t lag) {
  const TilePiece& piece = plan_.pieces[p];
  Part part;
  part.box = PieceBox(p, time_step, time_steps_to_go);
  if (part.box.IsEmpty()) return;
  part.function = program_.functions[p].get();
  part.lag = lag;
  std::vector<int32_t> coordinates;
  for (const int32_t store : piece.stores) {
    const TileField& field = plan_.fields[store];
    coordinates.clear();
    for (const int32_t d : field.dims) coordinates.push_back(d + 1);
    const int64_t bytes = ElementBytes(field.element);
    part.stores.push_back(
        Place(fields_[store].At(time_step), bytes, coordinates, {}, part));
  }
  for (const TileLoad& load : piece.loads) {
    const int64_t s = load.source;
    const Window& window =
        load.is_input ? inputs_[s] : fields_[s].At(time_step - load.lag);
    const int64_t bytes = ElementBytes(load.is_input ? plan_.inputs[s].element
                                                     : plan_.fields[s].element);
    part.loads.push_back(
        load.is_input || plan_.IsGathered(load)
            ? PlaceAt(window, bytes, load.at, part)
            : Place(window, bytes, load.coordinates, load.shifts, part));
  }
  parts_.push_back(std::move(part));
}

void TileSweep::RunSlice(const Part& part, int64_t first, int64_t last) {
  first = std::max(first, part.box.lower[1]);
  last = std::min(last, part.box.upper[1]);
  if (first > last) return;
  absl::InlinedVector<void*, 4> stores(part.stores.size());
  absl::InlinedVector<const void*, 12> loads(part.loads.size());
  IndexVector lower = part.box.lower;
  IndexVector count = part.box.Extents();
  while (first <= last) {
    // As far as no operand comes back to its first plane.
    int64_t planes = last - first + 1;
    const auto place = [&](const Operand& operand) {
      int64_t plane = operand.plane + first - part.box.lower[1];
      if (operand.planes != Window::kAll) {
        plane %= operand.planes;
        planes = std::min(planes, operand.planes - plane);
      }
      return operand.data + plane * operand.step;
    };
    std::transform(part.stores.begin(), part.stores.end(), stores.begin(),
                   place);
    std::transform(part.loads.begin(), part.loads.end(), loads.begin(), place);
    lower[1] = first;
    count[1] = planes;
    part.function->Run({.lower = lower.begin(),
                        .count = count.begin(),
                        .stores = stores.data(),
                        .loads = loads.data(),
                        .strides = part.strides.data()});
    first += planes;
  }
}

void TileSweep::RunStatic(std::optional<int32_t> stage) {
  for (size_t p = 0; p < plan_.pieces.size(); ++p) {
    const TilePiece& piece = plan_.pieces[p];
    parts_.clear();
    if (!piece.is_static ||
        (!plan_.IsGathered(piece) && plan_.StageOf(piece) != stage)) {
      continue;
    }
    AddPart(p, 0, 0, 0);
    for (const Part& part : parts_) {
      RunSlice(part, part.box.lower[1], part.box.upper[1]);
    }
  }
}

void TileSweep::RunAhead(int64_t first, int64_t last, int64_t block_last) {
  for (int64_t time_step = first; time_step <= last; ++time_step) {
    for (size_t p = 0; p < plan_.pieces.size(); ++p) {
      parts_.clear();
      if (!plan_.IsAhead(plan_.pieces[p])) continue;
      AddPart(p, time_step, block_last - time_step, 0);
      for (const Part& part : parts_) {
        RunSlice(part, part.box.lower[1], part.box.upper[1]);
      }
    }
  }
}

bool TileSweep::GoesBySlabs() const {
  const Box space = plan_.Tile(tile_);
  return program_.order.step <= space.upper[0] - space.lower[0];
}

int64_t TileSweep::SlabOf(int64_t row) const {
  return std::max<int64_t>(1, plan_.slab_points / row);
}

void TileSweep::RunTimeSteps(int64_t first, int64_t last, int64_t block_last,
                             absl::FunctionRef<void(int64_t)> need,
                             absl::FunctionRef<void(int64_t)> made) {
  const SweepOrder& order = program_.order;
  if (last > first && !GoesBySlabs()) {
    const auto none_made = [](int64_t) {};
    for (int64_t time_step = first; time_step < last; ++time_step) {
      RunTimeSteps(time_step, time_step, block_last, need, none_made);
    }
    return RunTimeSteps(last, last, block_last, need, made);
  }
  RunAhead(first, last, block_last);
  parts_.clear();
  for (int64_t time_step = first; time_step <= last; ++time_step) {
    for (size_t p = 0; p < plan_.pieces.size(); ++p) {
      const TilePiece& piece = plan_.pieces[p];
      if (piece.is_static || plan_.IsAhead(piece)) continue;
      AddPart(p, time_step, block_last - time_step,
              (time_step - first) * order.step + order.offsets[p]);
    }
  }
  if (parts_.empty()) return;
  int64_t begin = INT64_MAX;
  int64_t end = INT64_MIN;
  int64_t row = 1;  // points of a slice that is one thick
  for (const Part& part : parts_) {
    begin = std::min(begin, part.box.lower[1] + part.lag);
    end = std::max(end, part.box.upper[1] + part.lag);
    const IndexVector extents = part.box.Extents();
    row = std::max(row, part.box.Count() / extents[1]);
  }
  const int64_t time_steps = last - first + 1;
  const int64_t lag_max = order.LagMax(time_steps);
  int64_t slab = SlabOf(row);
  for (const FieldTimeSteps& field : fields_) {
    for (const Window& window : field.ring) {
      if (window.planes == Window::kAll) continue;
      slab = std::min(slab, window.planes - order.Span(time_steps, 0));
    }
  }
  DOGGED_CHECK(slab > 0) << "windows have too few planes for " << time_steps;
  for (int64_t at = begin; at <= end; at += slab) {
    need(at + slab - 1 + order.ahead);
    for (const Part& part : parts_) {
      RunSlice(part, at - part.lag, at + slab - 1 - part.lag);
    }
    made(at + slab - 1 - lag_max);
  }
}

}  // namespace dogged::dsl
