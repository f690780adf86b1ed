// Program: the dependency description that agents execute. Task classes over
// affine domains, never unrolled; all parameters are numbers by now. Plain
// data; made by dsl or by hand, checked by Validate(), then const.
//
// Source: [REM] "Dependency Description" (T, L, R, producer, requires,
// computes); [DAGuE] section on the symbolic representation.
#ifndef DOGGED_RUNTIME_GRAPH_PROGRAM_H_
#define DOGGED_RUNTIME_GRAPH_PROGRAM_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/codec.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/affine.h"
#include "runtime/graph/domain.h"
#include "runtime/graph/gather.h"
#include "runtime/graph/task.h"

namespace dogged {

// A family of labels with the same number of indices.
struct Array {
  std::string name;  // unique in the program
  int32_t rank = 0;  // number of indices of its labels
  ElementType element = ElementType::kDouble;
  // Labels with equal floor(index[i] / block[i]) for all i have one affinity
  // key and so one home. 0: index i does not count (a version or time index).
  // Arrays with the same `affinity_group` share their keys.
  std::vector<int64_t> affinity_block;
  int32_t affinity_group = 0;
  // The index along which a label's versions follow one another: the label
  // with v bound implies that the one with v-1 was. -1 if there is none.
  int32_t version_index = -1;
};

// A label that a task creates: array, and the label's index from the task's.
struct Create {
  int32_t array = 0;
  AffineMap map;
};

// A label that a task requires, where `guard` holds. With tables, `map` is the
// affine part of its index.
struct Use {
  int32_t array = 0;
  AffineMap map;
  Guard guard;
  std::shared_ptr<const Gather> gather = nullptr;  // null: there is no table

  // The label's index, of a task at which the guard holds.
  IndexVector IndexOf(const IndexVector& task) const;
  // Entry `position` of the index is no affine form.
  bool IsGathered(size_t position) const {
    return gather != nullptr && gather->Has(static_cast<int>(position));
  }
};

struct TaskClass {
  std::string name;
  Domain domain;
  std::vector<Create> creates;  // at least one
  std::vector<Use> uses;
  int32_t kernel = 0;  // position in Program::kernels
  // A task with a larger value is more urgent.
  AffineExpr priority;
};

// How to get a kernel; `kind` chooses the loader, `body` is its business.
struct KernelSpec {
  std::string name;
  std::string kind;
  std::string body;
};

// Labels that the program is run for.
struct ResultSet {
  int32_t array = 0;
  Domain domain;
  AffineMap map;  // domain point -> label index
};

// ResultView: results as the user names them, a box of an array of the program
// text, which may have been coalesced into tiles. Along user index d the box
// runs from lower[d] to upper[d] in steps of step[d]. If tile_index[d] >= 0, a
// result label whose index there is i holds elements origin[d] + i*extent[d] ..
// origin[d] + (i+1)*extent[d]-1; its value has a shape entry for each such d,
// in order of d. If tile_index[d] is -1, lower[d] == upper[d].
//
// Without coalescing (a label for each of the user's, value of any shape)
// `extent` is 1, and the value's own block shape follows.
struct ResultView {
  std::string array;  // the user's name
  int32_t result_set = 0;
  std::vector<int64_t> lower;
  std::vector<int64_t> upper;
  std::vector<int64_t> step;
  std::vector<int32_t> tile_index;
  std::vector<int64_t> origin;
  std::vector<int64_t> extent;
  // For a box that has elements which are no labels of the user's: the places
  // of those that are, by the indices that vary, each counted from 0 by its
  // steps. The values of labels hold zeros elsewhere.
  std::optional<Domain> held;

  // How many values index d takes.
  int64_t Count(size_t d) const {
    return upper[d] < lower[d] ? 0 : (upper[d] - lower[d]) / step[d] + 1;
  }
};

// Repeat: a loop that ends by a value. The program is described for the last
// round that there may be. Round r is the tasks whose time is not beyond first
// + r*step, and not in a round before; rounds exist one after another, as long
// as the label array(first + r*step) of the newest one is bound to 0. Labels
// that a task requires are made in its own round or before. See rounds.h.
struct Repeat {
  // Condition under which a point of a result set is a result of a program that
  // ends at `time`: its own time is `time` (`is_exact`), or not beyond.
  struct ResultTime {
    AffineExpr time;
    bool is_exact = false;
    friend bool operator==(const ResultTime&, const ResultTime&) = default;
  };
  std::string parameter;  // the user's name
  int64_t first = 0;
  int64_t last = 0;  // first + a multiple of step
  int64_t step = 1;
  int32_t array = 0;                    // of rank 1, int64: 1 ends the loop
  std::vector<AffineExpr> class_time;   // by class, of a task's index
  std::vector<ResultTime> result_time;  // by result set, of its points
};

struct Program {
  std::string name;
  std::vector<Array> arrays;
  std::vector<TaskClass> classes;
  std::vector<KernelSpec> kernels;
  std::vector<ResultSet> results;
  std::vector<ResultView> views;
  // True if the maker has proved that some result needs every task, so that
  // running forward from the leaves wastes nothing.
  bool every_task_needed = false;
  std::optional<Repeat> repeat;

  // Structural errors only (kInvalidArgument): positions out of range, maps
  // of the wrong rank, a create map that is not injective. That every label
  // has one producer is proved by dsl, symbolically.
  absl::Status Validate() const;
  // Tasks over all classes.
  int64_t TaskCount() const;
  // Labels over all result sets.
  int64_t ResultCount() const;
  std::optional<int32_t> FindArray(absl::string_view array_name) const;
  // The array of a label, the class of a task, of this program.
  const Array& ArrayOf(const Label& label) const { return arrays[label.array]; }
  const TaskClass& ClassOf(const Task& task) const {
    return classes[task.task_class];
  }
  std::string LabelText(const Label& label) const;
  std::string TaskText(const Task& task) const;

  // Some use has tables.
  bool HasGathers() const;

  // Equal programs give equal bytes. Without tables, which Job encodes behind
  // them.
  void Encode(Encoder& out) const;
  // A program that Validate() accepts, or kInvalidArgument.
  static absl::StatusOr<Program> Decode(Decoder& in);
  void EncodeGathers(Encoder& out) const;
  // Adds what EncodeGathers() wrote of this program. Errors: as Decode().
  absl::Status DecodeGathers(Decoder& in);
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_PROGRAM_H_
