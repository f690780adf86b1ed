// UseInverse: which points of a class require a given label by one of its uses.
// Immutable, thread-safe; the domain and the use must outlive it.
//
// An affine use is an InverseMap. For one with tables the places are looked up
// by what the label's indices are there, as far as the place alone tells; the
// rest of the task is the inverse of an affine map again.
#ifndef DOGGED_RUNTIME_GRAPH_USE_INVERSE_H_
#define DOGGED_RUNTIME_GRAPH_USE_INVERSE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "runtime/graph/domain.h"
#include "runtime/graph/inverse_map.h"
#include "runtime/graph/program.h"

namespace dogged {

class UseInverse {
 public:
  UseInverse(const Use& use, const Domain& domain);

  // At most one task requires a label by this use.
  bool IsInjective() const { return is_injective_; }
  // Calls `visit` for each task, part by part, until it returns false; then
  // returns false itself.
  bool ForEach(const IndexVector& label,
               absl::FunctionRef<bool(const IndexVector&)> visit) const;
  // How many tasks that are; takes no longer for many of one part.
  int64_t Count(const IndexVector& label) const;

  // The tasks as domains: of an affine use one, else one for each place.
  int64_t PartCount(const IndexVector& label) const;
  Domain PartOf(const IndexVector& label, int64_t part) const;
  // The part that has the task `point`, which requires the label.
  int64_t PartWith(const IndexVector& label, const IndexVector& point) const;

  // True if the sum of the label's entries and the places' fits an index.
  static bool Fits(const Use& use, const Domain& domain);

 private:
  struct Ends {
    int64_t begin = 0;
    int64_t end = 0;
  };
  Ends PlacesFor(const IndexVector& label) const;
  // As `inverse_` takes it: what the affine part has to be, then the place.
  IndexVector ImageAt(const IndexVector& label, int64_t place) const;

  const Use* use_;
  bool is_injective_ = false;
  // By whether the place alone tells the entry of a label.
  std::vector<int> told_;
  std::vector<int> open_;
  InverseMap inverse_;
  absl::flat_hash_map<IndexVector, Ends> ends_;  // of places_, by told entries
  std::vector<int32_t> places_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_USE_INVERSE_H_
