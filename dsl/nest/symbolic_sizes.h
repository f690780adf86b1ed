// SymbolicSizes: sets and maps of a nest in which large numbers, the sizes of
// the program, are parameters again. A schedule of those is found in a tenth of
// the time, whatever the sizes, and holds for all of them: distances that grow
// with a size are told from those that are the same everywhere, and linear
// programs have small coefficients. Part of an isl adapter.
// Thread-safety: none.
#ifndef DOGGED_DSL_NEST_SYMBOLIC_SIZES_H_
#define DOGGED_DSL_NEST_SYMBOLIC_SIZES_H_

#include <isl/cpp.h>

#include <cstdint>
#include <vector>

namespace dogged::dsl {

class SymbolicSizes {
 public:
  // Sizes are taken from the constants of all of `maps`.
  SymbolicSizes(isl::ctx context, const std::vector<isl::map>& maps);

  // A set of more than `set`, or a map of more than `map`: with the values of
  // the sizes, it is that. Conditions with divisions keep their numbers.
  isl::map Of(const isl::map& map) const;
  isl::set Of(const isl::set& set) const;
  // Sizes are as many as numbers allow that are far apart, in order.
  isl::set Context() const;
  // With numbers again.
  isl::map Numbered(const isl::map& map) const;

  bool IsEmpty() const { return values_.empty(); }

 private:
  struct Form {
    size_t size = 0;
    int64_t factor = 0;  // of that size; 0 for a number
    int64_t rest = 0;
  };
  // `constant` as a size and a small number.
  Form FormOf(int64_t constant) const;
  isl::basic_map PieceOf(const isl::basic_map& piece) const;

  isl::ctx context_;
  std::vector<int64_t> values_;  // of sizes, ascending
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_NEST_SYMBOLIC_SIZES_H_
