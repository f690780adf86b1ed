#include "dsl/lower/deferral.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/graph/index_range.h"
#include "runtime/graph/point_count.h"

namespace dogged::dsl {
namespace {

// Readers of an array's labels, both tasks and results.
struct Readers {
  bool are_there = false;
  // By entry of a label: the least of time - label[entry] over their times.
  std::vector<int64_t> delays;
};

// By array.
std::vector<Readers> ReadersIn(const Program& program) {
  std::vector<Readers> out;
  for (const Array& array : program.arrays) {
    out.push_back({.delays = std::vector<int64_t>(array.rank, INT64_MAX)});
  }
  const auto add = [&out](const Domain& domain, int32_t array,
                          const AffineMap& map, const AffineExpr& time) {
    Readers& readers = out[array];
    readers.are_there = true;
    for (size_t entry = 0; entry < map.size(); ++entry) {
      const IndexRange range = RangesOf(domain, {time - map[entry]}).front();
      readers.delays[entry] = std::min(readers.delays[entry], range.lower);
    }
  };
  for (size_t c = 0; c < program.classes.size(); ++c) {
    const TaskClass& reader = program.classes[c];
    if (CountPoints(reader.domain) == 0) continue;
    for (const Use& use : reader.uses) {
      add(reader.domain, use.array, use.map, program.repeat->class_time[c]);
    }
  }
  for (size_t r = 0; r < program.results.size(); ++r) {
    const ResultSet& result = program.results[r];
    if (CountPoints(result.domain) == 0) continue;
    add(result.domain, result.array, result.map,
        program.repeat->result_time[r].time);
  }
  return out;
}

// Lower bound, less index d of the task, of the times at which its outputs are
// read; none if that index does not tell.
std::optional<int64_t> DelayOf(const TaskClass& task, int d,
                               const std::vector<Readers>& readers) {
  std::optional<int64_t> least;
  for (const Create& create : task.creates) {
    const Readers& of_it = readers[create.array];
    if (!of_it.are_there) continue;
    std::optional<int64_t> latest;
    for (size_t entry = 0; entry < create.map.size(); ++entry) {
      const AffineExpr rest = create.map[entry] - AffineExpr::Index(d);
      if (!rest.IsConstant()) continue;
      const int64_t delay = rest.constant + of_it.delays[entry];
      latest = std::max(latest.value_or(delay), delay);
    }
    if (!latest) return std::nullopt;
    least = std::min(least.value_or(*latest), *latest);
  }
  return least;
}

// Defers `task`, if it can be. `time` is its own.
bool Defer(const TaskClass& task, const std::vector<Readers>& readers,
           AffineExpr& time) {
  bool is_deferred = false;
  for (int d = 0; d < task.domain.size(); ++d) {
    const std::optional<int64_t> delay = DelayOf(task, d, readers);
    if (!delay) continue;
    const AffineExpr later =
        AffineExpr::Index(d) + AffineExpr::Constant(*delay);
    const std::vector<IndexRange> ranges =
        RangesOf(task.domain, {later, time, later - time});
    // A constant time is before the second round: an earlier one is none other.
    const bool is_later = ranges[0].upper > ranges[1].upper &&
                          (time.IsConstant() || ranges[2].lower >= 0);
    if (!is_later) continue;
    time = later;
    is_deferred = true;
  }
  return is_deferred;
}

}  // namespace

void DeferTasks(Program& program) {
  // What tables give tells no time.
  if (program.HasGathers()) return;
  // Readers may be deferred in turn, hence several passes. Their number is
  // bounded, for tasks that only they themselves read, and that nobody needs,
  // would be deferred without end.
  bool is_deferred = true;
  for (size_t pass = 0; is_deferred && pass <= program.classes.size(); ++pass) {
    is_deferred = false;
    const std::vector<Readers> readers = ReadersIn(program);
    for (size_t c = 0; c < program.classes.size(); ++c) {
      is_deferred |=
          Defer(program.classes[c], readers, program.repeat->class_time[c]);
    }
  }
}

}  // namespace dogged::dsl
