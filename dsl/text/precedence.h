// How tightly operators bind, for the parser and the printer: a higher number
// binds tighter.
#ifndef DOGGED_DSL_TEXT_PRECEDENCE_H_
#define DOGGED_DSL_TEXT_PRECEDENCE_H_

namespace dogged::dsl::precedence {

inline constexpr int kConditional = 0;
inline constexpr int kOr = 1;
inline constexpr int kAnd = 2;
inline constexpr int kComparison = 3;
inline constexpr int kSum = 4;
inline constexpr int kProduct = 5;
inline constexpr int kUnary = 6;
inline constexpr int kPrimary = 7;

}  // namespace dogged::dsl::precedence

#endif  // DOGGED_DSL_TEXT_PRECEDENCE_H_
