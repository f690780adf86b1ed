#include "dsl/chunks/lower_chunks.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "dsl/chunks/chunk_cells.h"
#include "dsl/chunks/chunk_choice.h"
#include "dsl/chunks/result_parts.h"
#include "dsl/chunks/ring_copies.h"
#include "dsl/chunks/row_order.h"
#include "dsl/ir/chunk_body.h"
#include "dsl/ir/substitute.h"
#include "dsl/kernels/reduce_kernel.h"
#include "dsl/lower/deferral.h"
#include "dsl/lower/lower_points.h"
#include "dsl/lower/lower_reductions.h"
#include "runtime/base/check.h"
#include "runtime/base/division.h"
#include "runtime/base/status.h"

namespace dogged::dsl {
namespace {

// Blocks of an array at most: enough that workers have about the same to do. A
// chunk may read all of them, so that reads grow as their square.
constexpr int64_t kBlocksPerWorker = 8;
constexpr int64_t kBlocksLeast = 16;
constexpr int64_t kBlocksMost = 64;
// Rows at a step that count, at most: there is enough to do by them alone.
constexpr int64_t kRowsMost = int64_t{1} << 20;
// Arrays count for the number of blocks if they have a step of this part of the
// largest one's.
constexpr int64_t kLargeArrays = 64;
// Points of a row, at least, where there are many.
constexpr int64_t kRowLeast = 16;
// Elements of a load that are looked up to find which blocks a class reads, at
// most: a second or two.
constexpr int64_t kReadsMax = int64_t{1} << 26;
// Numbers that a chunk of a reduction reads for each point, at most.
constexpr int64_t kTermsMax = 4096;
// Rows that a leaf of a reduction along them reads.
constexpr int64_t kLeafRows = 16;

absl::Status Unlike(absl::string_view what) {
  return absl::UnimplementedError(what);
}

// Makes the program of one choice.
class ChunkMaker {
 public:
  ChunkMaker(const PointProgram& points, const ChunkChoice& choice,
             const std::vector<Ring>& rings, int32_t shift,
             const TargetSize& target)
      : points_(points),
        choice_(choice),
        rings_(rings),
        shift_(shift),
        target_(target) {}

  absl::StatusOr<Program> Make();

 private:
  int64_t Size() const { return int64_t{1} << shift_; }
  // The label that begins the first block of an array.
  int64_t FirstOf(int32_t array) const {
    return points_.arrays[array].box.lower[choice_.array_index[array]];
  }
  // How many chunks or blocks the numbers from `first` to `last` make.
  int64_t ChunkCount(int64_t first, int64_t last) const {
    return CeilDiv(last - first + 1, Size());
  }
  void AddArray(size_t a);
  // The affinity blocks of an array whose chunks fill `box`. Leaves of a
  // reduction have the home of the rows that they read.
  std::vector<int64_t> HomesOf(const Box& box, int32_t version) const;
  absl::Status AddClass(const PointClass& c, int32_t dim);
  absl::Status AddCell(const ChunkCell& cell);
  // The round in which a cell's tasks come, in a loop.
  absl::StatusOr<AffineExpr> TimeOf(const ChunkCell& cell) const;
  absl::Status AddReduction(size_t r);
  // With a number for each point of a row along index `dim`, of a few terms.
  absl::Status AddEach(const PointReduction& reduction, int32_t dim);
  // With a partial result of each few rows along index `dim` of `over`.
  absl::Status AddAlong(const PointReduction& reduction, int32_t dim);
  // The affinity block of what a reduction reads, along index `d` of `over`.
  int64_t AffinityAt(const PointReduction& reduction, int d) const;
  // Adds `out` with kernel `spec`, for tasks of time `time`.
  void AddTasks(TaskClass out, KernelSpec spec, const AffineExpr& time);
  // The class in chunks along `dim`, without what it reads.
  TaskClass TasksOf(const PointClass& c, int32_t dim) const;
  // The body of its chunks, as a piece of a cell if it is one; their uses are
  // added to `out`.
  absl::StatusOr<ChunkBody> BodyOf(const PointClass& c, int32_t dim,
                                   const ChunkCell* cell, TaskClass& out) const;
  KernelSpec InputOf(const PointClass& c, int32_t dim) const;
  // The uses of one group, where its loads find what they read.
  absl::Status AddUses(const ChunkBody& body, int32_t group, const Use& like,
                       TaskClass& out) const;
  void AddResult(const PointResult& result);

  const PointProgram& points_;
  const ChunkChoice& choice_;
  const std::vector<Ring>& rings_;  // by array
  const int32_t shift_;
  const TargetSize target_;
  Program program_;
};

std::vector<int64_t> ChunkMaker::HomesOf(const Box& box,
                                         int32_t version) const {
  std::vector<int64_t> out = SlabsOf(box, version, target_);
  for (int d = 0; d < box.size(); ++d) {
    if (out[d] >= box.upper[d] - box.lower[d] + 1) {
      // Arrays with one block along it, and with none, lie together.
      out[d] = 0;
    } else if (out[d] > kLeafRows) {
      out[d] -= out[d] % kLeafRows;
    }
  }
  return out;
}

void ChunkMaker::AddArray(size_t a) {
  const PointArray& point = points_.arrays[a];
  const int32_t i = choice_.array_index[a];
  const int32_t version = VersionIndexOf(points_, static_cast<int32_t>(a));
  Array array{.name = i < 0 ? point.name : NameInBlocks(point.name),
              .rank = point.rank,
              .element = point.element,
              .affinity_block = {},
              .affinity_group = 0,
              .version_index = version};
  if (i < 0) {
    array.affinity_block.assign(point.rank, 1);
    if (version >= 0) array.affinity_block[version] = 0;
  } else {
    Box box = point.box;
    box.upper[i] = ChunkCount(box.lower[i], box.upper[i]) - 1;
    box.lower[i] = 0;
    array.affinity_block = HomesOf(box, version);
  }
  program_.arrays.push_back(std::move(array));
}

// Adds to the guards of a piece's uses that the chunk has points of it.
void RequirePoints(const ChunkBody& body, int64_t chunks,
                   std::vector<Use>& uses, size_t first_use) {
  const int64_t first = (body.first - body.origin) >> body.shift;
  const int64_t last = (body.last - body.origin) >> body.shift;
  std::vector<Constraint> bounds;
  if (first > 0) {
    bounds.push_back({.expr = AffineExpr::Index(body.dim, -first)});
  }
  if (last < chunks - 1) {
    bounds.push_back(
        {.expr = AffineExpr::Constant(last) - AffineExpr::Index(body.dim)});
  }
  for (size_t u = first_use; u < uses.size() && !bounds.empty(); ++u) {
    uses[u].guard.Require(bounds);
  }
}

// The code with its indices as a chunk has them: `dim` last.
CodeBlock WithLast(CodeBlock code, int32_t dim, int32_t rank) {
  for (IrNode& node : code.nodes) {
    if (dim < 0 || node.op != IrOp::kIndex || node.integer < dim) continue;
    node.integer = node.integer == dim ? rank - 1 : node.integer - 1;
  }
  for (IrLoad& load : code.loads) load.step = Step::kUnit;
  for (IrStore& store : code.stores) store.step = Step::kUnit;
  return code;
}

// Loads of two uses lie in the same blocks, but for the index `i` along which
// these go.
bool ShareBlocks(const Use& a, const Use& b, int32_t i) {
  if (a.array != b.array || a.guard != b.guard) return false;
  for (size_t n = 0; n < a.map.size(); ++n) {
    if (static_cast<int32_t>(n) != i && a.map[n] != b.map[n]) return false;
  }
  return true;
}

// Adds to `dims` the indices of a task that decide which blocks a load reads.
void AddDims(const ChunkLoad& load, std::vector<int32_t>& dims) {
  for (int d = 0; d < kMaxIndices; ++d) {
    if (load.at.coefficients[d] != 0) dims.push_back(d);
  }
  if (load.table != nullptr) {
    dims.insert(dims.end(), load.table->dims.begin(), load.table->dims.end());
  }
  std::sort(dims.begin(), dims.end());
  dims.erase(std::unique(dims.begin(), dims.end()), dims.end());
}

absl::StatusOr<ChunkBody> ChunkMaker::BodyOf(const PointClass& c, int32_t dim,
                                             const ChunkCell* cell,
                                             TaskClass& out) const {
  ChunkBody body;
  body.rank = c.domain.size();
  body.dim = dim;
  body.shift = shift_;
  body.code = WithLast(c.code.code, dim, body.rank);
  if (dim >= 0) {
    body.first = c.domain.dimensions[dim].Lower({});
    body.last = c.domain.dimensions[dim].Upper({});
    body.origin = body.first;
    body.end = body.last;
  }
  for (size_t s = 0; s < c.code.code.stores.size(); ++s) {
    body.outputs.push_back(static_cast<int32_t>(s));
  }
  if (cell != nullptr) {
    body.origin = cell->box.lower[dim];
    body.end = cell->box.upper[dim];
    body.outputs.clear();
    for (const Create& create : c.creates) {
      const auto at = std::lower_bound(cell->arrays.begin(), cell->arrays.end(),
                                       create.array);
      body.outputs.push_back(static_cast<int32_t>(at - cell->arrays.begin()));
    }
  }
  const size_t first_use = out.uses.size();
  const int64_t chunks = dim < 0 ? 1 : ChunkCount(body.origin, body.end);
  std::vector<int> leaders;  // by group: one of its uses
  for (size_t u = 0; u < c.uses.size(); ++u) {
    const Use& use = c.uses[u];
    const int32_t i = choice_.array_index[use.array];
    ChunkLoad& load = body.loads.emplace_back();
    for (size_t n = 0; n < use.map.size(); ++n) {
      if (static_cast<int32_t>(n) == i) continue;
      if (use.IsGathered(n) ||
          (dim >= 0 && use.map[n].coefficients[dim] != 0)) {
        return Unlike(absl::StrCat("task ", c.name, " reads ",
                                   points_.arrays[use.array].name,
                                   " at places that differ by an index which "
                                   "its blocks don't go along"));
      }
    }
    if (i >= 0) {
      load.at = use.map[i] - AffineExpr::Constant(FirstOf(use.array));
      if (use.IsGathered(static_cast<size_t>(i))) load.table = use.gather;
      const Ring& ring = rings_[use.array];
      load.ring_length = ring.length;
      if (ring.index >= 0) load.ring_first = ring.lower - FirstOf(use.array);
    }
    const auto leader = std::find_if(
        leaders.begin(), leaders.end(),
        [&](int other) { return ShareBlocks(c.uses[other], use, i); });
    load.group = static_cast<int32_t>(leader - leaders.begin());
    if (leader == leaders.end()) {
      leaders.push_back(static_cast<int>(u));
      body.groups.emplace_back();
    }
    AddDims(load, body.groups[load.group].places.dims);
  }
  const Box hull = HullOf(c.domain);
  for (size_t g = 0; g < body.groups.size(); ++g) {
    ChunkGroup& group = body.groups[g];
    for (const int32_t d : group.places.dims) {
      const bool is_chunk = d == dim;
      const int64_t lower = is_chunk ? 0 : hull.lower[d];
      const int64_t upper = is_chunk ? chunks - 1 : hull.upper[d];
      group.places.lower.push_back(lower);
      group.places.extents.push_back(std::max<int64_t>(0, upper - lower + 1));
    }
    if (body.PlaceCount() > kReadsMax >> shift_) {
      return Unlike(
          absl::StrCat("what task ", c.name, " reads is too much to list"));
    }
    group.first_use = static_cast<int32_t>(out.uses.size());
    DOGGED_RETURN_IF_ERROR(
        AddUses(body, static_cast<int32_t>(g), c.uses[leaders[g]], out));
    group.use_count = static_cast<int32_t>(out.uses.size()) - group.first_use;
  }
  if (dim >= 0) RequirePoints(body, chunks, out.uses, first_use);
  return body;
}

absl::Status ChunkMaker::AddUses(const ChunkBody& body, int32_t group,
                                 const Use& like, TaskClass& out) const {
  const int32_t i = choice_.array_index[like.array];
  Use use{.array = like.array, .map = like.map, .guard = like.guard};
  if (i < 0) {
    out.uses.push_back(std::move(use));
    return absl::OkStatus();
  }
  const Gather& box = body.groups[group].places;
  const int64_t places = box.PlaceCount();
  std::vector<std::vector<int64_t>> blocks(static_cast<size_t>(places));
  size_t most = 1;
  IndexVector task;
  while (task.size() < body.rank) task.push_back(0);
  for (int64_t place = 0; place < places; ++place) {
    const IndexVector at = box.At(place);
    for (size_t d = 0; d < box.dims.size(); ++d) {
      task[box.dims[d]] = at[static_cast<int>(d)];
    }
    std::vector<int64_t>& found = blocks[place];
    // No task is there.
    if (!body.FindBlocks(group, task, found, nullptr)) found.clear();
    most = std::max(most, found.size());
  }
  if (static_cast<int64_t>(most) * places > Gather::kPlacesMax) {
    return Unlike(absl::StrCat("task ", out.name, " reads too many blocks"));
  }
  for (size_t m = 0; m < most; ++m) {
    Use& one = out.uses.emplace_back(use);
    one.map[i] = AffineExpr();
    auto gather = std::make_shared<Gather>(box);
    Gather::Table& table = gather->tables.emplace_back();
    table.position = i;
    for (const std::vector<int64_t>& found : blocks) {
      table.values.push_back(
          found.empty() ? Gather::kNone : found[std::min(m, found.size() - 1)]);
    }
    // Most blocks are those of the task's own chunk.
    const auto& values = table.values;
    const bool is_chunk = box.dims.size() == 1 && box.dims[0] == body.dim;
    bool is_affine = is_chunk || box.dims.empty();
    for (size_t p = 0; is_affine && p < values.size(); ++p) {
      is_affine = values[p] != Gather::kNone &&
                  values[p] - static_cast<int64_t>(p) == values[0];
    }
    if (is_affine && is_chunk) {
      one.map[i] = AffineExpr::Index(body.dim, values[0]);
    } else if (is_affine) {
      one.map[i] = AffineExpr::Constant(values[0]);
    } else {
      one.gather = std::move(gather);
    }
  }
  return absl::OkStatus();
}

// A block of the file for each chunk.
KernelSpec ChunkMaker::InputOf(const PointClass& c, int32_t dim) const {
  InputBody body = c.input;
  if (dim >= 0) {
    const int64_t first = c.domain.dimensions[dim].Lower({});
    const int64_t last = c.domain.dimensions[dim].Upper({});
    body.shapes = ShapeCode();
    body.shapes.code.index_count = std::max(1, c.domain.size());
    body.shapes.ranks = {static_cast<int32_t>(body.axis.size())};
    CodeBuilder builder(body.shapes.code);
    for (int f = 0; f < body.box.size(); ++f) {
      const bool is_chunk = body.axis[f] == dim;
      int32_t node = builder.Integer(1);
      if (is_chunk) {
        const int32_t left =
            builder.Binary(IrOp::kSubtract, builder.Integer(last - first + 1),
                           builder.Binary(IrOp::kMultiply, builder.Index(dim),
                                          builder.Integer(Size())));
        node = builder.Binary(IrOp::kMin, left, builder.Integer(Size()));
        body.box.lower[f] = 0;
        body.box.upper[f] = ChunkCount(first, last) - 1;
      }
      body.block.push_back(is_chunk ? Size() : 1);
      body.shapes.code.stores.push_back(
          {.element = ElementType::kInt64, .step = Step::kNone, .node = node});
    }
  }
  return {.name = c.name, .kind = "input", .body = body.Encode()};
}

TaskClass ChunkMaker::TasksOf(const PointClass& c, int32_t dim) const {
  TaskClass out{.name = c.name,
                .domain = c.domain,
                .creates = c.creates,
                .uses = {},
                .kernel = 0,
                .priority = c.priority.value_or(AffineExpr())};
  if (dim >= 0) {
    Dimension& dimension = out.domain.dimensions[dim];
    const int64_t chunks = ChunkCount(dimension.Lower({}), dimension.Upper({}));
    dimension.lower = {{.expr = AffineExpr::Constant(0)}};
    dimension.upper = {{.expr = AffineExpr::Constant(chunks - 1)}};
    for (Create& create : out.creates) {
      create.map[choice_.array_index[create.array]] = AffineExpr::Index(dim);
    }
  }
  const Array& array = program_.arrays[c.creates.front().array];
  if (!c.priority.has_value() && array.version_index >= 0) {
    out.priority = c.creates.front().map[array.version_index] * -1;
  }
  return out;
}

void ChunkMaker::AddTasks(TaskClass out, KernelSpec spec,
                          const AffineExpr& time) {
  out.kernel = static_cast<int32_t>(program_.kernels.size());
  program_.kernels.push_back(std::move(spec));
  program_.classes.push_back(std::move(out));
  if (program_.repeat) program_.repeat->class_time.push_back(time);
}

absl::Status ChunkMaker::AddClass(const PointClass& c, int32_t dim) {
  TaskClass out = TasksOf(c, dim);
  if (c.body == PointClass::Body::kInput) {
    AddTasks(std::move(out), InputOf(c, dim), c.time);
    return absl::OkStatus();
  }
  ChunkPieces body;
  DOGGED_ASSIGN_OR_RETURN(body.pieces.emplace_back(),
                          BodyOf(c, dim, nullptr, out));
  AddTasks(std::move(out),
           {.name = c.name, .kind = "chunk", .body = body.Encode()}, c.time);
  return absl::OkStatus();
}

absl::StatusOr<AffineExpr> ChunkMaker::TimeOf(const ChunkCell& cell) const {
  AffineExpr out = cell.pieces.front().time;
  if (!points_.repeat) return out;
  for (const PointClass& piece : cell.pieces) {
    if (piece.time == out) continue;
    // Labels that are there from the first round on may come in a later one,
    // with those beside them, unless they are a result of the first.
    const bool is_result = std::any_of(
        points_.results.begin(), points_.results.end(),
        [&](const PointResult& result) {
          return result.time.time.IsConstant() &&
                 std::binary_search(cell.arrays.begin(), cell.arrays.end(),
                                    result.array);
        });
    if (is_result || (!piece.time.IsConstant() && !out.IsConstant())) {
      return Unlike(absl::StrCat("tasks ", cell.pieces.front().name, " and ",
                                 piece.name,
                                 " make parts of blocks in unlike rounds"));
    }
    if (!out.IsConstant()) continue;
    const bool is_later =
        !piece.time.IsConstant() || piece.time.constant > out.constant;
    if (is_later) out = piece.time;
  }
  return out;
}

absl::Status ChunkMaker::AddCell(const ChunkCell& cell) {
  const PointClass& first = cell.pieces.front();
  PointClass whole = first;
  whole.creates.clear();
  for (const int32_t array : cell.arrays) {
    AffineMap map;
    for (int n = 0; n < cell.box.size(); ++n) {
      map.push_back(AffineExpr::Index(n));
    }
    whole.creates.push_back({.array = array, .map = std::move(map)});
  }
  Dimension& dimension = whole.domain.dimensions[cell.dim];
  dimension.lower = {{.expr = AffineExpr::Constant(cell.box.lower[cell.dim])}};
  dimension.upper = {{.expr = AffineExpr::Constant(cell.box.upper[cell.dim])}};
  TaskClass out = TasksOf(whole, cell.dim);
  DOGGED_ASSIGN_OR_RETURN(const AffineExpr time, TimeOf(cell));
  ChunkPieces body;
  for (const PointClass& piece : cell.pieces) {
    // Names of the parts, if they are not the same.
    if (!absl::StrContains(out.name, piece.name)) {
      absl::StrAppend(&out.name, ", ", piece.name);
    }
    DOGGED_ASSIGN_OR_RETURN(body.pieces.emplace_back(),
                            BodyOf(piece, cell.dim, &cell, out));
  }
  const std::string name = out.name;
  AddTasks(std::move(out),
           {.name = name, .kind = "chunk", .body = body.Encode()}, time);
  return absl::OkStatus();
}

// The operands of a reduction, of what types, without code.
CodeBlock TermsOf(ElementType term, size_t terms, ElementType made, int rank) {
  CodeBlock out;
  out.index_count = std::max(1, rank);
  out.loads.resize(terms, {.element = term});
  CodeBuilder builder(out);
  const int32_t node = IrTypeOf(made) == IrType::kInt64
                           ? builder.Integer(0)
                           : builder.Real(0, IrTypeOf(made));
  out.stores = {{.element = made, .node = node}};
  return out;
}

absl::Status ChunkMaker::AddEach(const PointReduction& reduction, int32_t dim) {
  const ElementType element = points_.arrays[reduction.source].element;
  PointClass c{.name = reduction.name,
               .domain = reduction.domain,
               .time = reduction.time,
               .creates = {{.array = reduction.array, .map = reduction.map}},
               .uses = {}};
  const int outer = reduction.domain.size();
  const Box hull = HullOf(reduction.over);
  Domain terms;
  int64_t count = 1;
  for (int d = outer; d < hull.size(); ++d) {
    count *= std::max<int64_t>(0, hull.upper[d] - hull.lower[d] + 1);
    if (count > kTermsMax) {
      return Unlike(absl::StrCat(reduction.name, " has more than ", kTermsMax,
                                 " terms for each point"));
    }
    terms.dimensions.push_back(
        {.name = reduction.over.dimensions[d].name,
         .lower = {{.expr = AffineExpr::Constant(hull.lower[d])}},
         .upper = {{.expr = AffineExpr::Constant(hull.upper[d])}}});
  }
  if (count == 0) return Unlike(absl::StrCat(reduction.name, " has no terms"));
  terms.ForEach([&](const IndexVector& term) {
    std::vector<AffineExpr> at;
    for (int d = 0; d < outer; ++d) at.push_back(AffineExpr::Index(d));
    for (const int64_t value : term) at.push_back(AffineExpr::Constant(value));
    Use& use = c.uses.emplace_back();
    use.array = reduction.source;
    use.guard = Membership(reduction.over, -1, at);
    for (const AffineExpr& expr : reduction.source_map) {
      use.map.push_back(Substitute(expr, at));
    }
    return true;
  });
  c.code.code = TermsOf(element, c.uses.size(), element, outer);
  TaskClass out = TasksOf(c, dim);
  ChunkReduction body{.kind = reduction.kind, .element = element};
  DOGGED_ASSIGN_OR_RETURN(body.chunk, BodyOf(c, dim, nullptr, out));
  AddTasks(std::move(out),
           {.name = c.name, .kind = "chunk-reduce", .body = body.Encode()},
           c.time);
  return absl::OkStatus();
}

int64_t ChunkMaker::AffinityAt(const PointReduction& reduction, int d) const {
  const Array& source = program_.arrays[reduction.source];
  for (size_t n = 0; n < reduction.source_map.size(); ++n) {
    if (reduction.source_map[n].LastIndex() == d) {
      return source.affinity_block[n];
    }
  }
  return 1;
}

absl::Status ChunkMaker::AddAlong(const PointReduction& reduction,
                                  int32_t dim) {
  const ElementType element = points_.arrays[reduction.source].element;
  const Domain& over = reduction.over;
  const int outer = reduction.domain.size();
  const Box hull = HullOf(over);
  if (hull.IsEmpty()) return Unlike(absl::StrCat(reduction.name, " is empty"));
  PointClass c{.name = reduction.name,
               .domain = reduction.domain,
               .creates = {},
               .uses = {}};
  std::vector<AffineExpr> at;
  for (int d = 0; d < outer; ++d) at.push_back(AffineExpr::Index(d));
  // A leaf reads several rows, those that differ by the last index.
  const int across = over.size() - 1 == dim ? dim - 1 : over.size() - 1;
  ChunkLeaves leaves;
  for (int d = outer; d < over.size(); ++d) {
    const int64_t extent = hull.upper[d] - hull.lower[d] + 1;
    const int64_t each = d == dim ? Size() : d == across ? kLeafRows : 1;
    const int64_t count = CeilDiv(extent, each);
    // Points along `dim`, and else leaves, count from 0 on.
    const int64_t first = d == dim ? hull.lower[d] : 0;
    const int64_t last = d == dim ? hull.upper[d] : count - 1;
    at.push_back(d == dim ? AffineExpr::Index(d)
                          : AffineExpr::Index(d) * each +
                                AffineExpr::Constant(hull.lower[d]));
    c.domain.dimensions.push_back(
        {.name = over.dimensions[d].name,
         .lower = {{.expr = AffineExpr::Constant(first)}},
         .upper = {{.expr = AffineExpr::Constant(last)}}});
    leaves.extents.push_back(count);
    leaves.affinity.push_back(d == dim
                                  ? AffinityAt(reduction, d)
                                  : CeilDiv(AffinityAt(reduction, d), each));
  }
  const int64_t rows = across >= outer ? kLeafRows : 1;
  for (int64_t k = 0; k < rows; ++k) {
    std::vector<AffineExpr> row = at;
    if (rows > 1) row[across].constant += k;
    Use& use = c.uses.emplace_back();
    use.array = reduction.source;
    use.guard = Membership(over, rows > 1 ? across : -1, row);
    for (const AffineExpr& expr : reduction.source_map) {
      use.map.push_back(Substitute(expr, row));
    }
  }
  c.code.code = TermsOf(element, c.uses.size(),
                        PartialElement(reduction.kind, element), over.size());
  TaskClass out;
  out.name = c.name;
  ChunkReduction body{
      .kind = reduction.kind, .is_along = true, .element = element};
  DOGGED_ASSIGN_OR_RETURN(body.chunk, BodyOf(c, dim, nullptr, out));
  leaves.uses = std::move(out.uses);
  leaves.kernel = {.name = "", .kind = "chunk-reduce", .body = body.Encode()};
  AddChunkReduction(reduction, points_, std::move(leaves), program_);
  return absl::OkStatus();
}

absl::Status ChunkMaker::AddReduction(size_t r) {
  const PointReduction& reduction = points_.reductions[r];
  const int32_t source = choice_.array_index[reduction.source];
  const int32_t made = choice_.array_index[reduction.array];
  const int32_t dim = choice_.reduction_index[r];
  if (source >= 0 && dim < 0) {
    return Unlike(absl::StrCat(reduction.name, " reads ",
                               points_.arrays[reduction.source].name,
                               " at places that differ by an index which its "
                               "blocks don't go along"));
  }
  // Blocks are made by chunks, not by a root.
  DOGGED_CHECK(made < 0 || (source >= 0 && dim < reduction.domain.size()))
      << "a reduction of points makes a block";
  if (source < 0) {
    AddPointReduction(reduction, points_, reduction.domain, program_);
  } else if (dim >= reduction.domain.size()) {
    DOGGED_RETURN_IF_ERROR(AddAlong(reduction, dim));
  } else if (made >= 0) {
    return AddEach(reduction, dim);
  } else {
    return Unlike(absl::StrCat(reduction.name, " makes a part of ",
                               points_.arrays[reduction.array].name));
  }
  // All classes of the tree have the reduction's indices first.
  if (program_.repeat) {
    program_.repeat->class_time.resize(program_.classes.size(), reduction.time);
  }
  return absl::OkStatus();
}

void ChunkMaker::AddResult(const PointResult& result) {
  const PointArray& array = points_.arrays[result.array];
  const int32_t i = choice_.array_index[result.array];
  ResultView view = ViewOfPoints(points_, result,
                                 static_cast<int32_t>(program_.results.size()));
  ResultSet set{
      .array = result.array, .domain = result.domain, .map = result.map};
  if (i >= 0) {
    const int e = WholeAlong(points_, choice_, result);
    DOGGED_CHECK(e >= 0) << "a result of parts of blocks";
    view.origin[i] = array.box.lower[i];
    view.extent[i] = Size();
    Dimension& dimension = set.domain.dimensions[e];
    dimension.lower = {{.expr = AffineExpr::Constant(0)}};
    dimension.upper = {
        {.expr = AffineExpr::Constant(
             ChunkCount(array.box.lower[i], array.box.upper[i]) - 1)}};
    set.map[i] = AffineExpr::Index(e);
  }
  program_.results.push_back(std::move(set));
  program_.views.push_back(std::move(view));
  if (program_.repeat) program_.repeat->result_time.push_back(result.time);
}

absl::StatusOr<Program> ChunkMaker::Make() {
  program_.name = points_.name;
  program_.every_task_needed = points_.every_task_needed;
  program_.repeat = points_.repeat;
  for (size_t a = 0; a < points_.arrays.size(); ++a) AddArray(a);
  for (size_t k = 0; k < points_.classes.size(); ++k) {
    if (choice_.class_index[k] == ChunkChoice::kInCells) continue;
    DOGGED_RETURN_IF_ERROR(
        AddClass(points_.classes[k], choice_.class_index[k]));
  }
  DOGGED_ASSIGN_OR_RETURN(const std::vector<ChunkCell> cells,
                          MakeCells(points_, choice_));
  if (!cells.empty() && !RowsAreInOrder(points_, choice_, cells)) {
    return Unlike(absl::StrCat("rows of ",
                               points_.arrays[cells[0].arrays[0]].name,
                               " may wait for themselves"));
  }
  for (const ChunkCell& cell : cells) DOGGED_RETURN_IF_ERROR(AddCell(cell));
  for (size_t r = 0; r < points_.reductions.size(); ++r) {
    DOGGED_RETURN_IF_ERROR(AddReduction(r));
  }
  for (const PointResult& result : points_.results) AddResult(result);
  if (program_.repeat) DeferTasks(program_);
  DOGGED_RETURN_IF_ERROR(program_.Validate());
  return std::move(program_);
}

absl::Status CheckKind(const PointProgram& points) {
  for (const PointArray& array : points.arrays) {
    if (array.block_rank > 0)
      return Unlike("it has values of several elements");
    if (!array.place.empty()) return Unlike("it says where values are");
  }
  for (const PointClass& c : points.classes) {
    if (c.body == PointClass::Body::kNative) return Unlike("it calls kernels");
    if (!c.input_at.empty()) return Unlike("it reads a part of a file");
    if (c.body == PointClass::Body::kCode && !c.code.reads.empty()) {
      return Unlike("it reads a file by points");
    }
  }
  return absl::OkStatus();
}

// How many rows a step of each large array has, at least, of which the chunks
// are; in `labels`, what a step of the largest one has in all.
int64_t RowsBeside(const PointProgram& points, const ChunkChoice& choice,
                   int64_t& labels) {
  std::vector<std::pair<int64_t, int64_t>> steps;  // labels and rows
  labels = 0;
  for (size_t a = 0; a < points.arrays.size(); ++a) {
    const int32_t i = choice.array_index[a];
    if (i < 0) continue;
    const Box& box = points.arrays[a].box;
    const int version = VersionIndexOf(points, static_cast<int32_t>(a));
    int64_t rows = 1;
    for (int n = 0; n < box.size(); ++n) {
      if (n == i || n == version) continue;
      rows = std::min(rows * (box.upper[n] - box.lower[n] + 1), kRowsMost);
    }
    steps.emplace_back(rows * (box.upper[i] - box.lower[i] + 1), rows);
    labels = std::max(labels, steps.back().first);
  }
  int64_t out = kRowsMost;
  for (const auto& [all, rows] : steps) {
    if (all >= labels / kLargeArrays) out = std::min(out, rows);
  }
  return out;
}

// The program without tasks that no result needs, if those are known exactly:
// then it runs forward, without a search. Inputs stay as their files are.
std::optional<PointProgram> NeededOnly(const PointProgram& points) {
  const auto is_known = [](const auto& c) { return c.needed.has_value(); };
  if (points.every_task_needed ||
      !std::all_of(points.classes.begin(), points.classes.end(), is_known) ||
      !std::all_of(points.reductions.begin(), points.reductions.end(),
                   is_known)) {
    return std::nullopt;
  }
  PointProgram out = points;
  out.every_task_needed = true;
  for (PointClass& c : out.classes) {
    if (c.body != PointClass::Body::kInput) c.domain = *c.needed;
  }
  std::erase_if(out.classes,
                [](const PointClass& c) { return HullOf(c.domain).IsEmpty(); });
  for (PointReduction& reduction : out.reductions) {
    // The indices under `over` stay.
    reduction.domain = *reduction.needed;
  }
  return out;
}

absl::StatusOr<Program> LowerTo(const PointProgram& given,
                                std::vector<Ring> rings,
                                const TargetSize& target, int64_t points_min,
                                std::string& how) {
  const PointProgram points = WithCommonBoxes(WithoutCopies(given, rings));
  DOGGED_ASSIGN_OR_RETURN(ChunkChoice choice, ChooseChunks(points));
  for (size_t a = 0; a < rings.size(); ++a) {
    if (rings[a].index < 0 || rings[a].index == choice.array_index[a]) continue;
    return Unlike(
        absl::StrCat(points.arrays[a].name, " is a ring along another index"));
  }
  const PointProgram whole = WithResultParts(points, choice);
  rings.resize(whole.arrays.size());
  int64_t labels = 0;  // at a step, of the largest array
  const int64_t beside = RowsBeside(points, choice, labels);
  if (labels < 2 * points_min) return Unlike("it is small");
  if (choice.longest < std::min(kRowLeast, points_min)) {
    return Unlike(
        choice.missed.empty()
            ? "its rows are short"
            : absl::StrCat("its rows are short, for ", choice.missed));
  }
  const int64_t blocks_max = std::max<int64_t>(
      1, std::clamp(kBlocksPerWorker * target.agents * target.workers,
                    kBlocksLeast, kBlocksMost) /
             beside);
  int32_t shift = 0;
  while ((int64_t{1} << shift) < points_min ||
         CeilDiv(choice.longest, int64_t{1} << shift) > blocks_max) {
    ++shift;
  }
  DOGGED_ASSIGN_OR_RETURN(
      Program program, ChunkMaker(whole, choice, rings, shift, target).Make());
  how = absl::StrCat("chunks of ", int64_t{1} << shift, " points");
  return program;
}

}  // namespace

absl::StatusOr<Program> LowerChunks(const PointProgram& points,
                                    const TargetSize& target,
                                    int64_t points_min, std::string& how) {
  DOGGED_RETURN_IF_ERROR(CheckKind(points));
  const std::optional<PointProgram> needed = NeededOnly(points);
  absl::StatusOr<Program> out = absl::UnimplementedError("");
  for (const PointProgram* one : {needed ? &*needed : nullptr, &points}) {
    if (one == nullptr) continue;
    const std::vector<Ring> rings = FindRings(*one);
    const bool has_rings =
        std::any_of(rings.begin(), rings.end(),
                    [](const Ring& ring) { return ring.index >= 0; });
    if (has_rings) {
      out = LowerTo(*one, rings, target, points_min, how);
      if (!absl::IsUnimplemented(out.status())) return out;
    }
    const std::vector<Ring> none(points.arrays.size());
    out = LowerTo(*one, none, target, points_min, how);
    if (!absl::IsUnimplemented(out.status())) return out;
  }
  return out;
}

}  // namespace dogged::dsl
