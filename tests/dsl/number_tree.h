// Expressions of the language as a tree of this test's own: its text, and its
// value by the rules of LANGUAGE.md, with no code of the compiler. Plain data.
#ifndef DOGGED_TESTS_DSL_NUMBER_TREE_H_
#define DOGGED_TESTS_DSL_NUMBER_TREE_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dogged::dsl {

using Number = std::variant<double, float, int64_t>;
enum class Kind : uint8_t { kDouble = 0, kFloat = 1, kInteger = 2 };

inline double AsReal(const Number& n) {
  return std::visit([](auto x) { return static_cast<double>(x); }, n);
}
inline bool IsNan(const Number& n) { return std::isnan(AsReal(n)); }

inline Number ConvertTo(Kind kind, const Number& n) {
  return std::visit(
      [kind](auto x) -> Number {
        if constexpr (std::is_same_v<decltype(x), int64_t>) {
          if (kind == Kind::kInteger) return x;
        }
        if (kind == Kind::kDouble) return static_cast<double>(x);
        if (kind == Kind::kFloat) return static_cast<float>(x);
        // Numbers beyond the range come from NaNs only, see Names.
        if (!(std::fabs(static_cast<double>(x)) < 9e18)) return int64_t{0};
        return static_cast<int64_t>(x);
      },
      n);
}

inline bool SameBits(const Number& a, const Number& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&b](auto x) {
        const auto y = std::get<decltype(x)>(b);
        return std::memcmp(&x, &y, sizeof x) == 0;
      },
      a);
}

inline std::string NumberText(const Number& n) {
  if (const auto* i = std::get_if<int64_t>(&n)) return absl::StrCat(*i);
  std::string out = absl::StrFormat("%.17g", AsReal(n));
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

// A node; `op` says which: "1" a literal, "x" a name, else what is printed.
struct Node {
  std::string op;
  Kind kind = Kind::kInteger;  // of its value; of a condition, kInteger
  bool is_literal = false;     // made of such alone: has the type it meets
  Number number = int64_t{0};  // a literal's
  std::string name;
  std::vector<Node> args;
};

inline Kind CommonKind(const Node& a, const Node& b) {
  if (a.kind == b.kind) return a.kind;
  if (a.kind == Kind::kInteger) return b.kind;
  if (b.kind == Kind::kInteger) return a.kind;
  const Node& wide = a.kind == Kind::kDouble ? a : b;
  return wide.is_literal ? Kind::kFloat : Kind::kDouble;
}

inline Node Literal(Number n) {
  const auto kind = static_cast<Kind>(n.index());
  return {"1", kind, true, n, "", {}};
}
inline Node Named(std::string name, Kind kind, bool is_literal = false) {
  return {"x", kind, is_literal, int64_t{0}, std::move(name), {}};
}
// Arithmetic, and min and max.
inline Node Both(std::string op, Node a, Node b) {
  const Kind kind = CommonKind(a, b);
  const bool is_literal = a.is_literal && b.is_literal;
  return {std::move(op), kind, is_literal,
          int64_t{0},    "",   {std::move(a), std::move(b)}};
}
inline Node Condition(std::string op, Node a, Node b) {
  return {std::move(op),
          Kind::kInteger,
          false,
          int64_t{0},
          "",
          {std::move(a), std::move(b)}};
}
inline Node Choice(Node condition, Node yes, Node no) {
  const Kind kind = CommonKind(yes, no);
  const bool is_literal = yes.is_literal && no.is_literal;
  return {"?",        kind,
          is_literal, int64_t{0},
          "",         {std::move(condition), std::move(yes), std::move(no)}};
}
// "neg", "abs", "sqrt", "floor", "sin"; "double", "float", "int64".
inline Node Of(std::string function, Node a) {
  Kind kind = a.kind;
  const bool converts =
      function == "double" || function == "float" || function == "int64";
  if (converts) {
    kind = function == "double"  ? Kind::kDouble
           : function == "float" ? Kind::kFloat
                                 : Kind::kInteger;
  } else if (function != "neg" && function != "abs" && kind == Kind::kInteger) {
    kind = Kind::kDouble;
  }
  const bool is_literal = a.is_literal && !converts;
  return {std::move(function), kind, is_literal,
          int64_t{0},          "",   {std::move(a)}};
}

inline std::string Text(const Node& n) {
  if (n.op == "1") return NumberText(n.number);
  if (n.op == "x") return n.name;
  if (n.op == "neg") return absl::StrCat("(-", Text(n.args[0]), ")");
  if (n.op == "?") {
    return absl::StrCat("(", Text(n.args[0]), " ? ", Text(n.args[1]), " : ",
                        Text(n.args[2]), ")");
  }
  if (n.args.size() == 1) return absl::StrCat(n.op, "(", Text(n.args[0]), ")");
  if (n.op == "min" || n.op == "max") {
    return absl::StrCat(n.op, "(", Text(n.args[0]), ", ", Text(n.args[1]), ")");
  }
  return absl::StrCat("(", Text(n.args[0]), " ", n.op, " ", Text(n.args[1]),
                      ")");
}

// Numbers that names stand for; and whether a NaN came up, of which the
// language leaves the bits open.
struct Names : std::map<std::string, Number> {
  mutable bool has_nan = false;
};

inline int64_t Wrapped(const std::string& op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a);
  const auto y = static_cast<uint64_t>(b);
  if (op == "+") return static_cast<int64_t>(x + y);
  if (op == "-") return static_cast<int64_t>(x - y);
  if (op == "*") return static_cast<int64_t>(x * y);
  if (b == 0) return 0;
  if (b == -1) return op == "/" ? static_cast<int64_t>(0 - x) : 0;
  const int64_t rest = a % b;
  const bool is_down = rest != 0 && (rest < 0) != (b < 0);
  if (op == "/") return a / b - (is_down ? 1 : 0);
  return is_down ? rest + b : rest;
}

template <typename T>
T Calculated(const std::string& op, T a, T b) {
  if (op == "min") return b < a ? b : a;
  if (op == "max") return a < b ? b : a;
  if constexpr (std::is_same_v<T, int64_t>) {
    return Wrapped(op, a, b);
  } else {
    if (op == "+") return a + b;
    if (op == "-") return a - b;
    if (op == "*") return a * b;
    return a / b;
  }
}

template <typename T>
bool Compared(const std::string& op, T a, T b) {
  if (op == "<") return a < b;
  if (op == "<=") return a <= b;
  if (op == ">") return a > b;
  if (op == ">=") return a >= b;
  if (op == "==") return a == b;
  return a != b;
}

template <typename T>
T Applied(const std::string& function, T x) {
  if (function == "abs") return std::fabs(x);
  if (function == "sqrt") return std::sqrt(x);
  if (function == "floor") return std::floor(x);
  return std::sin(x);
}

inline Number Evaluate(const Node& n, const Names& names);

inline bool Holds(const Node& n, const Names& names) {
  if (n.op == "and") {
    return Holds(n.args[0], names) && Holds(n.args[1], names);
  }
  if (n.op == "or") {
    return Holds(n.args[0], names) || Holds(n.args[1], names);
  }
  const Kind kind = CommonKind(n.args[0], n.args[1]);
  const Number a = ConvertTo(kind, Evaluate(n.args[0], names));
  const Number b = ConvertTo(kind, Evaluate(n.args[1], names));
  return std::visit(
      [&](auto x) { return Compared(n.op, x, std::get<decltype(x)>(b)); }, a);
}

inline Number EvaluateOne(const Node& n, const Names& names) {
  const Number a = Evaluate(n.args[0], names);
  if (n.op == "neg") {
    return std::visit(
        [](auto x) -> Number {
          if constexpr (std::is_same_v<decltype(x), int64_t>) {
            return Wrapped("-", 0, x);
          } else {
            return -x;
          }
        },
        a);
  }
  if (n.op == "double" || n.op == "float" || n.op == "int64") {
    return ConvertTo(n.kind, a);
  }
  if (n.kind == Kind::kInteger) {  // abs
    const int64_t x = std::get<int64_t>(a);
    return x < 0 ? Wrapped("-", 0, x) : x;
  }
  const Number x = ConvertTo(n.kind, a);
  if (n.kind == Kind::kFloat) return Applied(n.op, std::get<float>(x));
  return Applied(n.op, std::get<double>(x));
}

inline Number EvaluateNode(const Node& n, const Names& names) {
  if (n.op == "1") return n.number;
  if (n.op == "x") return names.at(n.name);
  if (n.args.size() == 1) return EvaluateOne(n, names);
  if (n.op == "?") {
    const size_t taken = Holds(n.args[0], names) ? 1 : 2;
    return ConvertTo(n.kind, Evaluate(n.args[taken], names));
  }
  const Number a = ConvertTo(n.kind, Evaluate(n.args[0], names));
  const Number b = ConvertTo(n.kind, Evaluate(n.args[1], names));
  return std::visit(
      [&](auto x) -> Number {
        return Calculated(n.op, x, std::get<decltype(x)>(b));
      },
      a);
}

inline Number Evaluate(const Node& n, const Names& names) {
  const Number out = EvaluateNode(n, names);
  names.has_nan = names.has_nan || IsNan(out);
  return out;
}

}  // namespace dogged::dsl

#endif  // DOGGED_TESTS_DSL_NUMBER_TREE_H_
