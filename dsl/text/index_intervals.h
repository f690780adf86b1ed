// IndexIntervals: between which numbers the expressions of a program as written
// lie, its parameters known and its indices within their ranges: for words
// about indices that lie elsewhere. Not thread-safe.
#ifndef DOGGED_DSL_TEXT_INDEX_INTERVALS_H_
#define DOGGED_DSL_TEXT_INDEX_INTERVALS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dsl/text/ast.h"

namespace dogged::dsl {

__extension__ using WideInteger = __int128;
// Numbers beyond are not followed: sums of two, and products, are no overflow.
inline constexpr WideInteger kIntervalMax = WideInteger{1} << 62;

// Both ends included; none of its ends is beyond kIntervalMax.
struct Interval {
  WideInteger first = 0;
  WideInteger last = 0;

  bool IsEmpty() const { return first > last; }
  bool Meets(const Interval& other) const {
    return first <= other.last && last >= other.first;
  }
  std::string ToString() const;  // "0:299", or "5"
};

class IndexIntervals {
 public:
  // `parameters`, the integer ones, outlive this.
  explicit IndexIntervals(const std::map<std::string, int64_t>& parameters)
      : parameters_(parameters) {}

  // Of a task, or what else has indices; those before are forgotten.
  void Enter(const std::vector<ast::Dimension>& dimensions);
  // By name; of those whose ranges are followed.
  const std::map<std::string, Interval>& ranges() const { return ranges_; }
  // Each of the indices is followed, and has a value.
  bool IsWhole() const { return is_whole_; }
  // Around the values of `expr`; none if it is not followed.
  std::optional<Interval> Of(const ast::Expr& expr) const;
  // "; SX = 500, N = 300", of the names in `expr`; empty if there are none.
  std::string ParametersIn(const std::vector<const ast::Expr*>& exprs) const;

  // `a * b`, or a number beyond kIntervalMax.
  static WideInteger Product(WideInteger a, WideInteger b);
  // a / b, rounded down.
  static WideInteger FloorQuotient(WideInteger a, WideInteger b);

 private:
  std::optional<Interval> Combined(const ast::Expr& expr,
                                   const std::vector<Interval>& args) const;
  void NameParameters(const ast::Expr& expr,
                      std::set<std::string>& names) const;

  const std::map<std::string, int64_t>& parameters_;
  std::map<std::string, Interval> ranges_;
  bool is_whole_ = true;
};

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_TEXT_INDEX_INTERVALS_H_
