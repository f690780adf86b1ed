// The points that a task class has: nested affine bounds and a guard. Never
// enumerated unless asked. Plain values; thread-safe.
#ifndef DOGGED_RUNTIME_GRAPH_DOMAIN_H_
#define DOGGED_RUNTIME_GRAPH_DOMAIN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "runtime/base/codec.h"
#include "runtime/graph/affine.h"

namespace dogged {

// expr >= 0, expr == 0, or expr divisible by `modulus`.
struct Constraint {
  enum class Kind : uint8_t { kAtLeastZero = 0, kZero = 1, kDivisible = 2 };
  AffineExpr expr;
  Kind kind = Kind::kAtLeastZero;
  int64_t modulus = 1;

  bool Holds(const IndexVector& index) const;
  friend bool operator==(const Constraint&, const Constraint&) = default;
};

// A condition on an index: true if all constraints of one alternative hold.
// No alternative at all means always true.
struct Guard {
  std::vector<std::vector<Constraint>> any_of;

  bool IsAlways() const { return any_of.empty(); }
  bool Holds(const IndexVector& index) const;
  // Holds only where each of `constraints` does, too.
  void Require(const std::vector<Constraint>& constraints);
  friend bool operator==(const Guard&, const Guard&) = default;
  void Encode(Encoder& out) const;
  static Guard Decode(Decoder& in);
};

// Dimension: an index with max(lower) <= index <= min(upper). Bounds mention
// only indices further out.
struct Dimension {
  std::string name;
  std::vector<AffineBound> lower;
  std::vector<AffineBound> upper;

  // The first and last value, given the indices further out in `index`.
  int64_t Lower(const IndexVector& index) const;
  int64_t Upper(const IndexVector& index) const;
  // Its bounds are the same number, whatever the other indices are.
  bool IsNumber() const;
  friend bool operator==(const Dimension&, const Dimension&) = default;
};

struct Domain {
  std::vector<Dimension> dimensions;
  Guard guard;

  // A box: dimension d runs from lower[d] to upper[d], both included.
  struct Range {
    std::string name;
    int64_t lower;
    int64_t upper;
  };
  static Domain Box(const std::vector<Range>& ranges);

  int size() const { return static_cast<int>(dimensions.size()); }
  bool Contains(const IndexVector& index) const;
  // Narrows the bounds of its innermost index by `c`. False, and nothing is
  // changed, if it mentions none and fails: no point is left. Divisibility is
  // no bound, and left out.
  bool Narrow(const Constraint& c);
  // The bounds as constraints, without bounds that are numbers, which a box
  // around the domain implies. Only index `with_numbers`, if any, keeps these.
  std::vector<Constraint> BoundConstraints(int with_numbers = -1) const;
  // The number of points; exact. Saturates at INT64_MAX. See CountPoints().
  int64_t Count() const;
  // Calls `visit` for each point in lexicographic order until it returns
  // false. Returns false if it was stopped.
  bool ForEach(absl::FunctionRef<bool(const IndexVector&)> visit) const;
  // The next point after `previous` in lexicographic order; the first point if
  // `previous` is none; none at the end. Lets a caller enumerate lazily.
  std::optional<IndexVector> Next(
      const std::optional<IndexVector>& previous) const;

  friend bool operator==(const Domain&, const Domain&) = default;
  void Encode(Encoder& out) const;
  static Domain Decode(Decoder& in);
};

// Goes through the points of a domain in runs, along the innermost index that
// is not a single number, as far as there is no guard. Not thread-safe.
class DomainCursor {
 public:
  // Begins behind the point `last`, which is one of the domain, if there is
  // one.
  explicit DomainCursor(Domain domain,
                        const std::optional<IndexVector>& last = std::nullopt);
  // How many of up to `max` points come next: first(), and those with a larger
  // index along(). 0 at the end.
  int64_t NextRun(int64_t max);
  const IndexVector& first() const { return first_; }
  // -1 if the domain has no index.
  int along() const { return along_; }

 private:
  const Domain domain_;
  int along_ = -1;
  std::optional<IndexVector> last_;  // that was given out
  int64_t upper_ = 0;  // of the index along_, for the outer ones of last_
  IndexVector first_;
};

}  // namespace dogged

#endif  // DOGGED_RUNTIME_GRAPH_DOMAIN_H_
