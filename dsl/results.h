// Results: from the values of result labels to the dense arrays that the user
// asked for, under the program's own names, and the digest that does not depend
// on tiles.
#ifndef DOGGED_DSL_RESULTS_H_
#define DOGGED_DSL_RESULTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "runtime/base/hash.h"
#include "runtime/base/value.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/program.h"
#include "runtime/graph/relations.h"

namespace dogged::dsl {

// The value of a result label, or why there is none.
using ResultLookup =
    absl::FunctionRef<absl::StatusOr<Value>(const Label& label)>;

// The view as one dense array, C order, sealed. Its dimensions are the user's
// indices that vary; blocks of as many dimensions multiply them, blocks of
// other rank come behind. Zero where the program has no label. A view of labels
// that are the user's own may be narrower than the program's.
absl::StatusOr<Value> AssembleView(const Program& program,
                                   const ResultView& view, ResultLookup lookup);

// XXH3-128 over all results: view by view, user labels in lexicographic
// order, elements of a block in row-major order, little-endian.
absl::StatusOr<Digest> ResultDigest(const Program& program,
                                    ResultLookup lookup);

// The views of one program. The last view that was assembled is kept, and most
// programs have no other: a large table has many pages, and is asked for more
// than once. Not thread-safe.
class ResultViews {
 public:
  // Both outlive it.
  ResultViews(const Program& program, ResultLookup lookup)
      : program_(program), lookup_(lookup) {}

  const Program& program() const { return program_; }
  ResultLookup lookup() const { return lookup_; }
  // AssembleView() of program().views[view].
  absl::StatusOr<Value> Assembled(size_t view);
  // Calls visit(label, value) for all of a view, in the order of the user's
  // labels: once with its Assembled(), and no label, where labels of the user's
  // lie in tiles; else for each label. So memory is taken only for the former.
  absl::Status ForEachValue(
      size_t view,
      absl::FunctionRef<void(const Label* label, const Value& value)> visit);
  // ResultDigest().
  absl::StatusOr<Digest> DigestOfAll();
  // Frees the view that is kept.
  void Forget() { last_ = Value(); }

 private:
  const Program& program_;
  const ResultLookup lookup_;
  size_t last_view_ = 0;
  Value last_;  // none: nothing is kept
};

// Takes how many tasks a serial run has run, of how many; 0 while nobody knows.
using SerialProgress = std::function<void(int64_t done, int64_t needed)>;

// Runs the tasks that results need, one after another in this thread, depth
// first, and gives each result to `deliver`, sealed; a loop round by round. The
// oracle of --check and of tests. Returns where a loop has ended; 0 without
// one. Says after each task how far it is, if there is a `progress`.
absl::StatusOr<int64_t> RunSerially(
    const Relations& relations, const KernelTable& kernels,
    absl::FunctionRef<absl::Status(const Label&, const Value&)> deliver,
    const SerialProgress& progress = nullptr);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_RESULTS_H_
