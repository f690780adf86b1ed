#include "dsl/lower/footprint.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "dsl/ir/chunk_body.h"
#include "dsl/lower/static_values.h"
#include "runtime/base/check.h"
#include "runtime/graph/domain.h"
#include "runtime/graph/use_order.h"

namespace dogged::dsl {
namespace {

// Versions of a row that are in use together: one is read while the next one is
// made.
constexpr double kVersionsInUse = 2;

// Bytes beside its numbers of a label that tasks to come read, of a result, and
// of a task that has begun and waits for an input. Measured, all in all 0.7 to
// 1.6 of the memory of products, factorisations, shortest paths, triangular
// solves and sweeps.
constexpr double kBesideLabel = 160;
constexpr double kBesideResult = 440;
constexpr double kBesideTask = 200;
// The same of agents, 0.5 to 1.6 of what two of them took: of a result, and of
// each label, until digests of old ones go.
constexpr double kBesideResultOfAgents = 1700;
constexpr double kBesideLabelOfAgents = 200;
constexpr double kLabelsOfAgentsMax = 1 << 20;

// Bytes of a place of a table. A chunk has its number, that number in the job,
// and where the element stands: measured, 13 for neighbours, 34 in no order.
// By points it stands among the readers of its label, too: measured, 75 to 120.
constexpr double kTablePlace = 22;
constexpr double kTablePlaceOfPoints = 95;

double BytesOf(const PointArray& array) {
  return static_cast<double>(array.elements) *
         static_cast<double>(ElementBytes(array.element));
}

// Points of `domain` at which `version` is `value`.
double CountAt(const Domain& domain, const AffineExpr& version, int64_t value) {
  Domain at = domain;
  const Constraint is_value{.expr = version - AffineExpr::Constant(value),
                            .kind = Constraint::Kind::kZero};
  return at.Narrow(is_value) ? static_cast<double>(at.Count()) : 0;
}

// The labels that all that `points` makes of an array have at one version.
double CountAt(const PointProgram& points, int32_t array, int32_t version,
               int64_t value) {
  double count = 0;
  for (const PointClass& c : points.classes) {
    for (const Create& create : c.creates) {
      if (create.array != array) continue;
      count += CountAt(c.domain, create.map[version], value);
    }
  }
  for (const PointReduction& reduction : points.reductions) {
    if (reduction.array != array) continue;
    count += CountAt(reduction.domain, reduction.map[version], value);
  }
  return count;
}

// A task class, or a reduction, makes labels `made_map` of array `made` from
// labels `read_map` of array `read`, at the points of `domain`.
struct Flow {
  int32_t made = 0;
  const AffineMap& made_map;
  int32_t read = 0;
  AffineMap read_map;
  const Domain& domain;
};

std::vector<Flow> FlowsOf(const PointProgram& points) {
  std::vector<Flow> out;
  for (const PointClass& c : points.classes) {
    for (const Create& create : c.creates) {
      for (const Use& use : c.uses) {
        out.push_back({create.array, create.map, use.array,
                       MapWithoutTables(use), c.domain});
      }
    }
  }
  for (const PointReduction& r : points.reductions) {
    out.push_back({r.array, r.map, r.source, r.source_map, r.over});
  }
  return out;
}

// Arrays that each array is made of, in the end.
std::vector<std::set<int32_t>> SourcesOf(const std::vector<Flow>& flows,
                                         size_t array_count) {
  std::vector<std::set<int32_t>> out(array_count);
  for (size_t before = 1, after = 0; before != after;) {
    before = after;
    after = 0;
    for (const Flow& flow : flows) {
      std::set<int32_t>& sources = out[flow.made];
      sources.insert(flow.read);
      const auto& more = out[flow.read];
      if (&more != &sources) sources.insert(more.begin(), more.end());
    }
    for (const auto& sources : out) after += sources.size();
  }
  return out;
}

// The index of each array along which a run goes, -1 where there is none. An
// array that reads itself has the index along which its versions follow one
// another, or all of them; arrays that are made of each other have indices
// along which they go together; an array made of such ones has the same.
class TimeIndices {
 public:
  explicit TimeIndices(const PointProgram& points)
      : points_(points),
        flows_(FlowsOf(points)),
        sources_(SourcesOf(flows_, points.arrays.size())),
        index_(points.arrays.size(), -1) {
    for (size_t a = 0; a < index_.size(); ++a) {
      if (index_[a] < 0) OrderCircle(static_cast<int32_t>(a));
    }
    for (size_t a = 0; a < index_.size(); ++a) {
      if (index_[a] < 0) {
        index_[a] = VersionIndexOf(points, static_cast<int32_t>(a));
      }
      if (index_[a] < 0) index_[a] = OwnTimeIndex(static_cast<int32_t>(a));
    }
    for (size_t round = 0; round < index_.size(); ++round) {
      for (const Flow& flow : flows_) Follow(flow);
    }
  }
  int32_t Of(size_t array) const { return index_[array]; }

  // Labels of `array`, at most, that wait for an array that goes along another
  // index: nothing holds the one back until the other has come so far.
  double HeldLabels(int32_t array) const {
    double out = 0;
    for (const Flow& flow : flows_) {
      if (flow.read != array || AreMadeOfEachOther(flow.made, array)) continue;
      const int32_t made = index_[flow.made];
      const int32_t read = index_[array];
      if (made < 0 || read < 0) continue;
      const bool keeps_step =
          flow.read_map[read].IsConstant() ||
          (flow.made_map[made] - flow.read_map[read]).IsConstant();
      if (keeps_step) continue;
      out = std::max(out, static_cast<double>(flow.domain.Count()));
    }
    return out;
  }

 private:
  using Chosen = std::map<int32_t, int32_t>;  // index by array

  bool AreMadeOfEachOther(int32_t a, int32_t b) const {
    return sources_[a].contains(b) && sources_[b].contains(a);
  }

  // Gives the arrays that are made of `first`, as it is of them, indices along
  // which none reads a later label, and some an earlier one. None if there are
  // no such indices, or no other arrays.
  void OrderCircle(int32_t first) {
    std::vector<const Flow*> circle;
    bool has_others = false;
    for (const Flow& flow : flows_) {
      if (!AreMadeOfEachOther(flow.made, first) ||
          !AreMadeOfEachOther(flow.read, first)) {
        continue;
      }
      circle.push_back(&flow);
      has_others |= flow.made != first;
    }
    if (!has_others) return;
    for (int32_t i = points_.arrays[first].rank - 1; i >= 0; --i) {
      Chosen chosen = {{first, i}};
      while (ChooseMore(circle, chosen)) {
      }
      if (!IsOrder(circle, chosen)) continue;
      for (const auto& [array, index] : chosen) index_[array] = index;
      return;
    }
  }

  // The index of `map` that is `form` but for a number; -1 if there is none.
  static int32_t IndexLike(const AffineMap& map, const AffineExpr& form) {
    if (form.IsConstant()) return -1;
    for (auto i = static_cast<int32_t>(map.size()) - 1; i >= 0; --i) {
      if ((map[i] - form).IsConstant()) return i;
    }
    return -1;
  }

  // Follows one flow from an array that has its index to one that has none.
  static bool ChooseMore(const std::vector<const Flow*>& circle,
                         Chosen& chosen) {
    for (const Flow* const flow : circle) {
      const auto made = chosen.find(flow->made);
      const auto read = chosen.find(flow->read);
      if ((made == chosen.end()) == (read == chosen.end())) continue;
      const bool is_made = made != chosen.end();
      const int32_t index =
          is_made ? IndexLike(flow->read_map, flow->made_map[made->second])
                  : IndexLike(flow->made_map, flow->read_map[read->second]);
      if (index < 0) continue;
      chosen[is_made ? flow->read : flow->made] = index;
      return true;
    }
    return false;
  }

  static bool IsOrder(const std::vector<const Flow*>& circle,
                      const Chosen& chosen) {
    bool looks_back = false;
    for (const Flow* const flow : circle) {
      const auto made = chosen.find(flow->made);
      const auto read = chosen.find(flow->read);
      if (made == chosen.end() || read == chosen.end()) return false;
      const AffineExpr step =
          flow->made_map[made->second] - flow->read_map[read->second];
      if (!step.IsConstant() || step.constant < 0) return false;
      looks_back |= step.constant > 0;
    }
    return looks_back;
  }

  // The index at which no task that makes the array reads a later label, and
  // some read an earlier one: where tasks take turns, the second one reads
  // labels of the first.
  int32_t OwnTimeIndex(int32_t array) const {
    for (int32_t i = points_.arrays[array].rank - 1; i >= 0; --i) {
      bool looks_back = false;
      bool looks_ahead = false;
      for (const Flow& flow : flows_) {
        if (flow.made != array || flow.read != array) continue;
        const AffineExpr step = flow.made_map[i] - flow.read_map[i];
        looks_back |= step.IsConstant() && step.constant > 0;
        looks_ahead |= !step.IsConstant() || step.constant < 0;
      }
      if (looks_back && !looks_ahead) return i;
    }
    return -1;
  }

  void Follow(const Flow& flow) {
    const int32_t time = index_[flow.read];
    int32_t& out = index_[flow.made];
    if (time < 0 || out >= 0) return;
    for (size_t v = 0; v < flow.made_map.size(); ++v) {
      const AffineExpr apart = flow.made_map[v] - flow.read_map[time];
      if (!flow.made_map[v].IsConstant() && apart.IsConstant()) {
        out = static_cast<int32_t>(v);
      }
    }
  }

  const PointProgram& points_;
  const std::vector<Flow> flows_;
  const std::vector<std::set<int32_t>> sources_;
  std::vector<int32_t> index_;
};

// Rows at the version that has most, of a few versions: rows may begin or end
// with versions.
double RowsOf(const PointProgram& points, int32_t array, int32_t version) {
  const Box& box = points.arrays[array].box;
  if (version >= box.size()) return 0;
  const int64_t lower = box.lower[version];
  const int64_t upper = box.upper[version];
  double out = 0;
  for (const int64_t value :
       std::set<int64_t>{lower, std::min(lower + 1, upper),
                         lower + (upper - lower) / 2, upper}) {
    out = std::max(out, CountAt(points, array, version, value));
  }
  return out;
}

bool ReadsItself(const PointProgram& points, int32_t array) {
  for (const PointClass& c : points.classes) {
    const auto is_it = [array](const auto& ref) { return ref.array == array; };
    if (std::any_of(c.creates.begin(), c.creates.end(), is_it) &&
        std::any_of(c.uses.begin(), c.uses.end(), is_it)) {
      return true;
    }
  }
  return false;
}

// All labels that are made of an array.
double AllOf(const PointProgram& points, int32_t array) {
  double out = 0;
  for (const PointClass& c : points.classes) {
    for (const Create& create : c.creates) {
      if (create.array == array) out += static_cast<double>(c.domain.Count());
    }
  }
  for (const PointReduction& r : points.reductions) {
    if (r.array == array) out += static_cast<double>(r.domain.Count());
  }
  return out;
}

double LabelCount(const PointProgram& points, const PointResult& result) {
  // In a loop the domain has the results of all rounds that there may be.
  if (!points.repeat) return static_cast<double>(result.domain.Count());
  const Box box = LastBox(result);
  double out = 1;
  for (int d = 0; d < box.size(); ++d) {
    out *= static_cast<double>(CeilDiv(
        std::max<int64_t>(0, box.upper[d] - box.lower[d] + 1), result.step[d]));
  }
  return out;
}

// Labels that are wanted twice are there once.
bool IsPartOfAnother(const PointProgram& points, const PointResult& result) {
  return std::any_of(points.results.begin(), points.results.end(),
                     [&result](const PointResult& other) {
                       if (&other == &result || other.array != result.array ||
                           !other.is_whole_box ||
                           !(Intersect(other.box, result.box) == result.box)) {
                         return false;
                       }
                       return !(other.box == result.box) || &other < &result;
                     });
}

// Memory of a run by points in one process beside the numbers: an InputTable
// (runtime/exec/input_table.h) and its tasks.
class PointTables {
 public:
  PointTables(const PointProgram& points, const TimeIndices& times)
      : points_(points),
        times_(times),
        sources_(SourcesOf(FlowsOf(points), points.arrays.size())) {
    for (const PointClass& c : points.classes) {
      orders_.push_back(OrderOfUses(c.domain, c.uses));
      const UseOrder& order = orders_.back();
      for (size_t i = 1; i < order.uses.size(); ++i) {
        are_looked_up_.insert(c.uses[order.uses[i]].array);
      }
    }
    for (const PointReduction& r : points.reductions) {
      are_looked_up_.insert(r.source);
    }
  }

  // Whether some task looks labels of `array` up: those that only begin tasks
  // are not kept.
  bool AreLookedUp(int32_t array) const {
    return are_looked_up_.contains(array);
  }

  // Tasks that have begun and wait for a further input.
  double WaitingTasks() const {
    double out = 0;
    for (size_t i = 0; i < points_.classes.size(); ++i) {
      const PointClass& c = points_.classes[i];
      if (c.uses.size() < 2 || c.creates.empty()) continue;
      const auto tasks = static_cast<double>(c.domain.Count());
      const Use& first = c.uses[orders_[i].uses.front()];
      const int32_t version = times_.Of(first.array);
      // Labels that follow one another begin tasks that do: each chain of them
      // waits at one.
      out += version < 0 || IsSharedRead(c.domain, first) ||
                     MayRunAhead(c, first.array)
                 ? tasks
                 : std::min(tasks, RowsOf(points_, first.array, version));
    }
    return out;
  }

 private:
  // Whether nothing holds `first` back until the other arrays that `c` reads
  // have come as far, nor those that it makes.
  bool MayRunAhead(const PointClass& c, int32_t first) const {
    const int32_t made = c.creates.front().array;
    if (first == made || sources_[first].contains(made)) return false;
    if (sources_[made].contains(made)) return true;
    return std::any_of(
        c.uses.begin(), c.uses.end(), [this, first](const Use& use) {
          return use.array != first && !sources_[use.array].contains(first);
        });
  }

  const PointProgram& points_;
  const TimeIndices& times_;
  const std::vector<std::set<int32_t>> sources_;
  std::vector<UseOrder> orders_;  // by class
  std::set<int32_t> are_looked_up_;
};

double TablePlaces(const Gather* gather) {
  if (gather == nullptr) return 0;
  return static_cast<double>(gather->PlaceCount()) *
         static_cast<double>(gather->tables.size());
}

double TablePlaces(const PointProgram& points) {
  double out = 0;
  for (const PointClass& c : points.classes) {
    for (const Use& use : c.uses) out += TablePlaces(use.gather.get());
  }
  return out;
}

// Each piece of a chunk has tables of its own.
double TablePlacesOfChunks(const Program& program) {
  double out = 0;
  for (const KernelSpec& spec : program.kernels) {
    if (spec.kind != "chunk") continue;
    const auto body = ChunkPieces::Decode(spec.body);
    DOGGED_CHECK(body.ok()) << spec.name << ": " << body.status();
    for (const ChunkBody& piece : body->pieces) {
      for (const ChunkLoad& load : piece.loads) {
        out += TablePlaces(load.table.get());
      }
    }
  }
  return out;
}

// With `beside` as by points.
Footprint ValuesOf(const PointProgram& points) {
  Footprint out;
  std::set<int32_t> are_results;  // all of their labels
  for (const PointResult& result : points.results) {
    const int64_t array = result.array;
    if (result.box == points.arrays[array].box) {
      are_results.insert(result.array);
    }
    if (IsPartOfAnother(points, result)) continue;
    const double labels = LabelCount(points, result);
    out.results += labels * BytesOf(points.arrays[array]);
    out.beside += labels * kBesideResult;
    out.beside_on_agents += labels * kBesideResultOfAgents;
  }
  std::set<int32_t> are_inputs;
  for (const PointClass& c : points.classes) {
    if (c.body != PointClass::Body::kInput) continue;
    const int32_t array = c.creates.front().array;
    are_inputs.insert(array);
    out.inputs +=
        static_cast<double>(c.domain.Count()) * BytesOf(points.arrays[array]);
  }
  double made = 0;
  const TimeIndices times(points);
  const PointTables tables(points, times);
  for (size_t i = 0; i < points.arrays.size(); ++i) {
    const auto array = static_cast<int32_t>(i);
    const int32_t version = times.Of(i);
    const bool is_there_anyhow =
        are_inputs.contains(array) || are_results.contains(array);
    if (!are_inputs.contains(array)) made += AllOf(points, array);
    double labels = 0;
    // Tasks that wait stand for what a step that is being made has not yet.
    double kept = 0;
    if (version >= 0) {
      const double rows = RowsOf(points, array, version);
      labels = kVersionsInUse * rows;
      kept = rows;
      const double held = is_there_anyhow ? 0 : times.HeldLabels(array);
      if (held > labels) {
        labels = std::min(held, AllOf(points, array));
        kept = labels;
      }
    } else if (is_there_anyhow) {
      continue;
    } else if (ReadsItself(points, array)) {
      out.unknown = points.arrays[i].name;
    } else {
      labels = AllOf(points, array);
      kept = labels;
    }
    out.in_use += labels * BytesOf(points.arrays[i]);
    if (tables.AreLookedUp(array)) out.beside += kept * kBesideLabel;
  }
  out.beside += tables.WaitingTasks() * kBesideTask;
  out.beside_on_agents +=
      std::min(made, kLabelsOfAgentsMax) * kBesideLabelOfAgents;
  return out;
}

}  // namespace

bool IsSharedRead(const Domain& domain, const Use& use) {
  if (use.gather != nullptr) return true;
  const AffineMap& map = use.map;
  for (int d = 0; d < domain.size(); ++d) {
    const bool is_told = std::any_of(
        map.begin(), map.end(),
        [d](const AffineExpr& index) { return index.coefficients[d] != 0; });
    if (!is_told) return true;
  }
  return false;
}

Footprint FootprintOf(const PointProgram& points, const Program& program) {
  // Nests compute formulas that are seldom read where they are read.
  const bool is_nest =
      std::any_of(program.kernels.begin(), program.kernels.end(),
                  [](const KernelSpec& spec) { return spec.kind == "nest"; });
  Footprint out = ValuesOf(points);
  if (is_nest) {
    const auto inputs = out.inputs;
    out = ValuesOf(WithSeldomReadValues(points));
    out.inputs = inputs;
  }
  out.beside = 0;
  out.beside_on_agents = 0;
  out.tables = TablePlacesOfChunks(program) * kTablePlace;
  return out;
}

Footprint PointFootprintOf(const PointProgram& points) {
  const PointProgram run = WithStaticValues(points);
  Footprint out = ValuesOf(run);
  out.inputs = ValuesOf(points).inputs;
  out.tables = TablePlaces(run) * kTablePlaceOfPoints;
  return out;
}

}  // namespace dogged::dsl
