#include "dsl/tiling/program_split.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "dsl/lower/lower_reductions.h"
#include "dsl/tiling/masked_reductions.h"
#include "dsl/tiling/stencil_arrays.h"
#include "runtime/base/status.h"
#include "runtime/graph/index_range.h"

namespace dogged::dsl {
namespace {

// Whether it reads one label, the same everywhere.
bool IsNumber(const Use& use) {
  return std::all_of(use.map.begin(), use.map.end(),
                     [](const AffineExpr& expr) { return expr.IsConstant(); });
}

// Arrays that can be made before any time step: none of their sources has time.
std::vector<bool> EarlyArrays(const PointProgram& points,
                              const StencilArrays& arrays) {
  std::vector<bool> out = arrays.has_time;
  out.flip();
  if (points.repeat) out[points.repeat->array] = false;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    const auto follow = [&](int32_t made, int32_t read) {
      if (!out[made] || out[read]) {
        return;
      }
      out[made] = false;
      has_changed = true;
    };
    for (const PointReduction& r : points.reductions) follow(r.array, r.source);
    for (const PointClass& c : points.classes) {
      for (const Create& create : c.creates) {
        for (const Use& use : c.uses) follow(create.array, use.array);
      }
    }
  }
  return out;
}

// Arrays that no tile can make: those of reductions and of a loop's condition;
// those without time whose tasks read an array with time; and all whose tasks
// read such an array. Only tasks of arrays with time, and of `held` ones, may
// read the `early` ones of these, as inputs.
std::vector<bool> LateArrays(const PointProgram& points,
                             const StencilArrays& arrays,
                             const std::vector<bool>& early,
                             const std::vector<bool>& held) {
  std::vector<bool> is_late(points.arrays.size(), false);
  const auto has_time = [&arrays](const auto& ref) {
    return arrays.has_time[ref.array];
  };
  for (const PointReduction& reduction : points.reductions) {
    is_late[reduction.array] = true;
  }
  if (points.repeat) is_late[points.repeat->array] = true;
  for (const PointClass& c : points.classes) {
    const bool is_narrow = !has_time(c.creates.front()) &&
                           std::any_of(c.uses.begin(), c.uses.end(), has_time);
    if (is_narrow) is_late[c.creates.front().array] = true;
  }
  const auto creates_late = [&is_late](const PointClass& c) {
    return std::any_of(
        c.creates.begin(), c.creates.end(),
        [&is_late](const Create& create) { return is_late[create.array]; });
  };
  const auto waits = [&](const PointClass& c) {
    const bool can_be_inputs =
        has_time(c.creates.front()) || held[c.creates.front().array];
    return std::any_of(c.uses.begin(), c.uses.end(), [&](const Use& use) {
      const int64_t a = use.array;
      return is_late[a] && !(can_be_inputs && early[a]);
    });
  };
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const PointClass& c : points.classes) {
      if (!waits(c) && !creates_late(c)) continue;
      for (const Create& create : c.creates) {
        if (is_late[create.array]) continue;
        is_late[create.array] = true;
        has_changed = true;
      }
    }
  }
  return is_late;
}

// Early arrays of which tasks with time read more than single labels, and the
// arrays that those are made of.
std::vector<bool> HeldArrays(const PointProgram& points,
                             const StencilArrays& arrays,
                             const std::vector<bool>& early,
                             const std::vector<bool>& late) {
  std::vector<bool> out(points.arrays.size(), false);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const PointClass& c : points.classes) {
      const int64_t made = c.creates.front().array;
      const bool has_time = arrays.has_time[made] && !late[made];
      if (!has_time && !out[made]) continue;
      for (const Use& use : c.uses) {
        const int64_t a = use.array;
        if (IsNumber(use) || !early[a] || out[a]) continue;
        out[a] = has_changed = true;
      }
    }
  }
  return out;
}

// Coefficients that tiles compute for themselves and give to nobody: arrays of
// fewer indices than space, or more, or of time, the last index of their
// readers; and arrays that no tile can give, for their labels follow one
// another.
std::vector<bool> OwnCoefficients(const PointProgram& points,
                                  const StencilArrays& arrays,
                                  const std::vector<bool>& late) {
  const int32_t full = arrays.rank;
  const auto is_like_space = [&points, full](size_t array) {
    return points.arrays[array].rank + 1 == full;
  };
  std::vector<bool> out(points.arrays.size(), false);
  for (size_t a = 0; a < out.size(); ++a) {
    out[a] = !late[a] && !arrays.has_time[a] && !is_like_space(a);
  }
  const auto follows_time = [&](const PointClass& c, const Use& use) {
    const Create& create = c.creates.front();
    const int64_t made = create.array;
    if (!arrays.has_time[made]) {
      return points.arrays[made].rank + 1 >= full && out[made];
    }
    const int t = create.map.back().LastIndex();
    return t >= 0 && std::any_of(use.map.begin(), use.map.end(),
                                 [t](const AffineExpr& expr) {
                                   return expr.coefficients[t] != 0;
                                 });
  };
  const auto follows_itself = [](const PointClass& c, const Use& use) {
    return !IsNumber(use) && std::any_of(c.creates.begin(), c.creates.end(),
                                         [&use](const Create& create) {
                                           return create.array == use.array;
                                         });
  };
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (const PointClass& c : points.classes) {
      for (const Use& use : c.uses) {
        const int64_t a = use.array;
        if (late[a] || out[a] || !is_like_space(a)) continue;
        if (late[c.creates.front().array]) continue;
        if (!follows_time(c, use) && !follows_itself(c, use)) continue;
        out[a] = has_changed = true;
      }
    }
  }
  return out;
}

// Adds early arrays of which a reduction or a task behind the tiles wants more
// than tiles give: parts of space, or labels that vary along it.
void AddOtherThanScalars(const PointProgram& points,
                         const std::vector<bool>& early,
                         const std::vector<bool>& late,
                         std::vector<bool>& own) {
  const auto want = [&](int32_t array) {
    own[array] = own[array] || (early[array] && !late[array]);
  };
  for (const PointReduction& r : points.reductions) {
    const bool is_whole =
        r.domain.size() == 0 && TilesFor(r, points.repeat).ok();
    if (!is_whole) want(r.source);
  }
  for (const PointClass& c : points.classes) {
    if (!late[c.creates.front().array]) continue;
    for (const Use& use : c.uses) {
      if (!IsNumber(use)) want(use.array);
    }
  }
}

// The values of `expr` at which a use of `c` reads; a few more perhaps, but
// none that its array lacks.
IndexRange ReadAt(const PointClass& c, const Use& use, const AffineExpr& expr,
                  int64_t lower, int64_t upper) {
  Domain domain = c.domain;
  if (use.guard.any_of.size() == 1) {
    for (const Constraint& constraint : use.guard.any_of.front()) {
      domain.Narrow(constraint);
    }
  }
  IndexRange out = RangesOf(domain, {expr}).front();
  const int64_t behind = std::max<int64_t>(0, lower - out.lower);
  out.lower += CeilDiv(behind, out.step) * out.step;
  out.upper = std::min(out.upper, upper);
  if (out.lower <= out.upper) out.upper -= (out.upper - out.lower) % out.step;
  return out;
}

// A new array for the point of space that `use` of `c` reads, and the reduction
// that makes it. Its index, if there is one, is the one that varies there.
std::optional<PointReduction> MakePointRead(const PointClass& c, const Use& use,
                                            PointProgram& points) {
  const PointArray source = points.arrays[use.array];
  PointReduction point_read{
      .name = absl::StrCat("what ", c.name, " reads of ", source.name),
      .kind = ReduceKind::kMax,
      .array = static_cast<int32_t>(points.arrays.size()),
      .domain = {},
      .time = c.time,
      .needed = std::nullopt,
      .map = {},
      .source = use.array,
      .over = {},
      .source_map = use.map};
  PointArray array{.name = absl::StrCat(source.name, "'at", point_read.array),
                   .element = source.element,
                   .box = {},
                   .place = {}};
  for (size_t i = 0; i < use.map.size(); ++i) {
    const AffineExpr& expr = use.map[i];
    const int d = expr.LastIndex();
    if (d < 0) continue;
    if (expr != AffineExpr::Index(d, expr.constant) || array.rank > 0 ||
        source.box.size() != source.rank) {
      return std::nullopt;
    }
    const auto at = static_cast<int>(i);
    const IndexRange range =
        ReadAt(c, use, expr, source.box.lower[at], source.box.upper[at]);
    array.rank = 1;
    array.box = {{range.lower}, {range.upper}};
    point_read.domain = Domain::Box(
        {{.name = "t", .lower = range.lower, .upper = range.upper}});
    if (range.step > 1) {
      point_read.domain.guard.any_of = {
          {{.expr = AffineExpr::Index(0, -range.lower),
            .kind = Constraint::Kind::kDivisible,
            .modulus = range.step}}};
    }
    point_read.map = {AffineExpr::Index(0)};
    point_read.source_map[i] = AffineExpr::Index(0);
    const int64_t per_step = std::exchange(point_read.time.coefficients[d], 0);
    if (!point_read.time.IsConstant()) return std::nullopt;
    point_read.time =
        point_read.time + AffineExpr::Index(0, -expr.constant) * per_step;
  }
  // A label that all tasks read must be there when the first task reads it.
  if (array.rank == 0) {
    point_read.time =
        AffineExpr::Constant(RangesOf(c.domain, {c.time}).front().lower);
  }
  point_read.over = point_read.domain;
  points.arrays.push_back(std::move(array));
  return point_read;
}

// Lets `c` read point reads in place of arrays that the tiled part alone makes.
absl::Status AddPointReads(const std::vector<bool>& is_behind,
                           PointProgram& points, PointClass& c,
                           std::vector<PointReduction>& point_reads) {
  for (Use& use : c.uses) {
    const auto source = static_cast<size_t>(use.array);
    if (source >= is_behind.size() || is_behind[source]) continue;
    std::optional<PointReduction> point_read = MakePointRead(c, use, points);
    if (!point_read) {
      return absl::UnimplementedError(absl::StrCat(
          "task ", c.name, ", which can't be part of a tile, reads ",
          points.arrays[source].name, " at more than one point of space"));
    }
    AffineMap at;
    for (size_t i = 0; i < use.map.size(); ++i) {
      if (!point_read->source_map[i].IsConstant()) at.push_back(use.map[i]);
    }
    use.array = point_read->array;
    use.map = std::move(at);
    point_reads.push_back(*std::move(point_read));
  }
  return absl::OkStatus();
}

// Gives the tiled part the arrays of the pointwise part, with masked arrays
// over whose boxes reductions go.
void MaskAll(ProgramSplit& parts) {
  for (PointReduction& reduction : parts.bridges) {
    auto masked = MaskPoints(reduction, parts.pointwise);
    if (masked) parts.tiled.classes.push_back(*std::move(masked));
  }
  parts.tiled.arrays = parts.pointwise.arrays;
}

// Adds the tasks of the tiled part that make `wanted`, and all that these read,
// but for `late` arrays, which stand there anyway.
void CopyTasks(const PointProgram& points, const std::vector<bool>& late,
               std::vector<bool> wanted, ProgramSplit& parts) {
  std::vector<bool> is_result(points.arrays.size(), false);
  for (const PointResult& result : points.results) {
    const int64_t a = result.array;
    if (result.is_whole_box && result.box == points.arrays[a].box) {
      is_result[a] = true;
    }
  }
  std::vector<bool> is_done(points.classes.size(), false);
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (size_t k = 0; k < is_done.size(); ++k) {
      const PointClass& c = points.classes[k];
      const bool is_wanted =
          std::any_of(c.creates.begin(), c.creates.end(), [&](const auto& to) {
            const int64_t a = to.array;
            return wanted[a] && !late[a];
          });
      if (is_done[k] || !is_wanted) continue;
      for (const Use& use : c.uses) {
        wanted[use.array] = true;
      }
      for (const Create& create : c.creates) {
        parts.has_spare |= !is_result[create.array];
      }
      parts.pointwise.classes.push_back(c);
      is_done[k] = has_changed = true;
    }
  }
}

// By array: how often, on the way to it, an array is made of all tiles of
// another.
absl::StatusOr<std::vector<int32_t>> StagesOf(const ProgramSplit& parts) {
  const std::vector<PointArray>& arrays = parts.pointwise.arrays;
  std::vector<int32_t> out(arrays.size(), 0);
  bool has_changed = true;
  int32_t highest = 0;
  const auto follow = [&](int32_t made, int32_t read, int32_t more) {
    const int32_t stage = out[read] + more;
    int32_t& own = out[made];
    if (own >= stage) return;
    own = stage;
    highest = std::max(highest, stage);
    has_changed = true;
  };
  while (has_changed && highest <= kStagesMax) {
    has_changed = false;
    for (const auto* part : {&parts.tiled, &parts.pointwise}) {
      for (const PointClass& c : part->classes) {
        for (const Create& create : c.creates) {
          for (const Use& use : c.uses) follow(create.array, use.array, 0);
        }
      }
      for (const PointReduction& r : part->reductions) {
        follow(r.array, r.source, 0);
      }
    }
    for (const PointReduction& r : parts.bridges) {
      follow(r.array, r.source, 1);
    }
  }
  if (highest <= kStagesMax) return out;
  return absl::UnimplementedError(
      "some array is made of what all tiles hold of itself");
}

// A stencil that waits for all tiles of an array is behind the tiles as a
// whole.
absl::Status CheckStencil(const StencilArrays& arrays,
                          const ProgramSplit& parts) {
  const auto makes_field = [&arrays](const PointClass& c) {
    return arrays.has_time[c.creates.front().array];
  };
  const std::vector<PointClass>& tiled = parts.tiled.classes;
  if (std::any_of(tiled.begin(), tiled.end(), makes_field)) {
    return absl::OkStatus();
  }
  for (const PointClass& c : parts.pointwise.classes) {
    if (!makes_field(c)) continue;
    for (const Use& use : c.uses) {
      const auto a = static_cast<size_t>(use.array);
      if (a < arrays.has_time.size() && arrays.has_time[a]) continue;
      return absl::UnimplementedError(absl::StrCat(
          "task ", c.name, " reads ", parts.pointwise.arrays[a].name,
          ", which is made of what all tiles hold"));
    }
  }
  return absl::OkStatus();
}

// Tiles read their inputs for points that no result needs, too: what makes
// these is needed as a whole.
void NeedInputsOfTiles(ProgramSplit& parts) {
  const auto is_input = [&parts](const auto& made) {
    return parts.tiled.arrays[made.array].is_scalar_input;
  };
  for (PointReduction& reduction : parts.pointwise.reductions) {
    if (is_input(reduction)) reduction.needed.reset();
  }
  for (PointClass& c : parts.pointwise.classes) {
    if (absl::c_any_of(c.creates, is_input)) c.needed.reset();
  }
}

}  // namespace

absl::StatusOr<ProgramSplit> Split(const PointProgram& points) {
  const StencilArrays arrays = FindStencilArrays(points);
  const std::vector<bool> early = EarlyArrays(points, arrays);
  std::vector<bool> late =
      LateArrays(points, arrays, early, std::vector<bool>(early.size(), false));
  late = LateArrays(points, arrays, early,
                    HeldArrays(points, arrays, early, late));
  std::vector<bool> own = OwnCoefficients(points, arrays, late);
  AddOtherThanScalars(points, early, late, own);
  const auto is_late = [&late](int32_t array) { return late[array]; };
  std::vector<bool> copied(late.size(), false);
  const auto is_copied = [&](int32_t array) {
    if (own[array]) copied[array] = true;
    return own[array];
  };
  std::vector<bool> is_behind = late;
  for (size_t a = 0; a < own.size(); ++a) {
    if (own[a]) is_behind[a] = true;
  }
  ProgramSplit out{.tiled = points,
                   .pointwise = points,
                   .bridges = {},
                   .tiled_results = {},
                   .pointwise_results = {},
                   .has_spare = false};
  for (PointProgram* part : {&out.tiled, &out.pointwise}) {
    part->classes.clear();
    part->reductions.clear();
    part->results.clear();
  }
  for (const PointReduction& reduction : points.reductions) {
    const bool is_pointwise =
        is_late(reduction.source) || is_copied(reduction.source);
    (is_pointwise ? out.pointwise.reductions : out.bridges)
        .push_back(reduction);
  }
  for (const PointClass& c : points.classes) {
    if (!is_late(c.creates.front().array)) {
      out.tiled.classes.push_back(c);
      continue;
    }
    PointClass& behind = out.pointwise.classes.emplace_back(c);
    for (const Use& use : behind.uses) is_copied(use.array);
    DOGGED_RETURN_IF_ERROR(
        AddPointReads(is_behind, out.pointwise, behind, out.bridges));
  }
  MaskAll(out);
  DOGGED_ASSIGN_OR_RETURN(const std::vector<int32_t> stages, StagesOf(out));
  for (const PointClass& c : out.tiled.classes) {
    for (const Use& use : c.uses) {
      if (!is_late(use.array)) continue;
      const int64_t a = use.array;
      out.tiled.arrays[a].is_scalar_input = true;
      out.tiled.arrays[a].stage = stages[a];
    }
  }
  DOGGED_RETURN_IF_ERROR(CheckStencil(arrays, out));
  for (size_t r = 0; r < points.results.size(); ++r) {
    const int32_t array = points.results[r].array;
    const bool is_pointwise = is_late(array) || is_copied(array);
    (is_pointwise ? out.pointwise : out.tiled)
        .results.push_back(points.results[r]);
    (is_pointwise ? out.pointwise_results : out.tiled_results).push_back(r);
  }
  CopyTasks(points, late, std::move(copied), out);
  NeedInputsOfTiles(out);
  return out;
}

}  // namespace dogged::dsl
