// Results: from the values of result labels to the dense arrays that the user
// asked for, under the program's own names, and the digest that does not depend
// on tiles.
#ifndef DOGGED_DSL_RESULTS_H_
#define DOGGED_DSL_RESULTS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "dsl/dense_view.h"
#include "runtime/base/hash.h"
#include "runtime/base/value.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/program.h"
#include "runtime/graph/relations.h"

namespace dogged::dsl {

// XXH3-128 over all results: view by view, user labels in lexicographic
// order, elements of a block in row-major order, little-endian.
absl::StatusOr<Digest> ResultDigest(const Program& program,
                                    ResultLookup lookup);

// The views of one program. The last view that was assembled is kept, and most
// programs have no other: a large table has many pages, and is asked for more
// than once. Not thread-safe.
class ResultViews {
 public:
  // Both outlive it. Views of more than `bytes_max` go by pieces of a fourth of
  // that, or of some MB.
  ResultViews(const Program& program, ResultLookup lookup,
              int64_t bytes_max = std::numeric_limits<int64_t>::max())
      : program_(program), lookup_(lookup), bytes_max_(bytes_max) {}

  const Program& program() const { return program_; }
  ResultLookup lookup() const { return lookup_; }
  // program().views[view]; until another one is asked for. Errors: as
  // DenseView::Of().
  absl::StatusOr<const DenseView*> Dense(size_t view);
  // Pieces of a large view have so many bytes at most.
  int64_t piece_bytes() const;
  // All of program().views[view], however large it is. Errors: as
  // DenseView::Assemble().
  absl::StatusOr<Value> Assembled(size_t view);
  // Calls visit() for the pieces of program().views[view], one if that is not
  // large. Errors: as DenseView::ForEachPiece().
  absl::Status ForEachPiece(
      size_t view, absl::FunctionRef<absl::Status(const DensePiece&)> visit);
  // Calls visit(label, piece) for all of a view, in the order of the user's
  // labels: for each of its pieces, and no label, where labels of the user's
  // lie in tiles; else for each label. So memory is taken only for the former.
  absl::Status ForEachValue(
      size_t view,
      absl::FunctionRef<void(const Label* label, const DensePiece& piece)>
          visit);
  // ResultDigest(). Calls visit(view, label, piece) on the way, as
  // ForEachValue() does.
  absl::StatusOr<Digest> DigestOfAll(
      absl::FunctionRef<void(size_t view, const Label* label,
                             const DensePiece& piece)>
          visit = [](size_t, const Label*, const DensePiece&) {});
  // Frees the view that is kept.
  void Forget() { last_ = Value(); }

 private:
  const Program& program_;
  const ResultLookup lookup_;
  const int64_t bytes_max_;
  size_t last_view_ = 0;
  std::unique_ptr<DenseView> dense_;  // of it; null: there was none
  Value last_;                        // all of it; none: nothing is kept
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
