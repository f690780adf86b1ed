// FieldProgram: a random program over fields: its meaning as plain data, its
// text, and the value of each of its labels, found by way of the task that
// makes it. Shares no code with the compiler.
#ifndef DOGGED_TESTS_DSL_FIELD_PROGRAM_H_
#define DOGGED_TESTS_DSL_FIELD_PROGRAM_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/random.h"
#include "tests/dsl/number_tree.h"

namespace dogged::dsl {

using Point = std::vector<int64_t>;

// Index of a reference: a name plus a number, or the number alone.
struct IndexForm {
  std::string name;  // empty: none
  int64_t offset = 0;
};

// first:last:step, as written and as numbers.
struct NamedRange {
  std::string name;
  int64_t first = 0;
  int64_t last = 0;
  std::string text;  // "0:N-1"
  int64_t step = 1;
};

// `name` op `bound`, as a place where something holds.
struct Bound {
  std::string name;
  std::string op;  // one of the six comparisons, or "even"
  int64_t bound = 0;
};

struct Reading {
  std::string name;
  std::string array;
  std::vector<IndexForm> index;
  std::vector<Bound> where;
  Node otherwise;
};

struct FieldTask {
  std::string array;
  std::vector<IndexForm> creates;
  std::vector<NamedRange> ranges;  // as written
  std::vector<Bound> where;
  std::vector<Reading> readings;
  std::vector<std::pair<std::string, Node>> locals;
  Node value;
  bool is_input = false;  // without readings and locals
};

struct FieldBoundary {
  std::string array;
  std::vector<IndexForm> index;
  std::vector<Bound> where;
  Node value;
  int periodic = -1;  // the position of that index; then no value
};

struct FieldReduction {
  std::string array;
  std::string kind;  // "sum"
  std::string source;
  std::vector<IndexForm> index;         // of what it makes
  std::vector<IndexForm> source_index;  // of what it reads
  std::vector<NamedRange> kept;
  std::vector<NamedRange> over;
  std::vector<Bound> where;
};

struct FieldResult {
  std::string array;
  std::string text;  // behind "result "
  std::vector<IndexForm> index;
  std::vector<NamedRange> ranges;
  std::vector<Bound> where;
  bool has_gaps = false;  // a condition leaves out some of its labels
};

struct FieldArray {
  std::string name;
  Kind kind = Kind::kDouble;
  // All labels that there are; ranges are named x, y, t or as reductions do.
  std::vector<NamedRange> ranges;
  bool is_declared = true;
};

class FieldProgram {
 public:
  explicit FieldProgram(uint64_t seed);

  std::string Text() const;
  const std::vector<FieldArray>& arrays() const { return arrays_; }
  const std::vector<FieldResult>& results() const { return results_; }
  // How many indices of space the fields have.
  size_t space() const { return space_.size(); }
  // Whether some result names this label.
  bool IsWanted(const std::string& array, const Point& at) const;

  // The value of a label. None if nothing makes it, which is a fault of this
  // generator. NaN anywhere on the way sets has_nan().
  std::optional<Number> ValueOf(const std::string& array, const Point& at);
  bool has_nan() const { return has_nan_; }

 private:
  friend class FieldMaker;
  std::optional<Number> Find(const FieldArray& array, const Point& at);
  std::optional<Number> Run(const FieldTask& task, Names names);
  std::optional<Number> Reduce(const FieldReduction& reduction, Names names);

  std::vector<std::pair<std::string, std::string>> parameters_;  // declared
  Names values_;                                                 // of them
  std::vector<NamedRange> space_;
  std::vector<FieldArray> arrays_;
  std::vector<FieldTask> tasks_;
  std::vector<FieldBoundary> boundaries_;
  std::vector<FieldReduction> reductions_;
  std::vector<FieldResult> results_;
  std::map<std::pair<std::string, Point>, Number> known_;
  bool has_nan_ = false;
};

// Whether all of `where` holds for these names.
bool AllHold(const std::vector<Bound>& where, const Names& names);

}  // namespace dogged::dsl

#endif  // DOGGED_TESTS_DSL_FIELD_PROGRAM_H_
