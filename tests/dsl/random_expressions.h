// Random expressions of the language, see number_tree.h.
#ifndef DOGGED_TESTS_DSL_RANDOM_EXPRESSIONS_H_
#define DOGGED_TESTS_DSL_RANDOM_EXPRESSIONS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/random.h"
#include "tests/dsl/number_tree.h"

namespace dogged::dsl {

// The names that an expression may use.
struct NameScope {
  std::vector<std::string> integers;
  std::vector<std::pair<std::string, Kind>> reals;
  std::map<std::string, Kind> literals;  // names that hold a constant
  void Add(const std::string& name, Kind kind, bool is_literal = false) {
    if (kind == Kind::kInteger) {
      integers.push_back(name);
    } else {
      reals.emplace_back(name, kind);
    }
    if (is_literal) literals[name] = kind;
  }
  Node Get(const std::string& name, Kind kind) const {
    return Named(name, kind, literals.count(name) > 0);
  }
};

// Expressions divide by anything but the literal 0, and leave 32 bits and 64.
class Expressions {
 public:
  explicit Expressions(Rng& rng) : rng_(rng) {}

  Node Integer(const NameScope& scope, int depth) {
    const int64_t kind = depth <= 0 ? rng_.Below(2) : rng_.Below(14);
    const auto part = [&] { return Integer(scope, depth - 1); };
    static constexpr const char* kOps[] = {"+", "-", "*", "/", "%"};
    switch (kind) {
      case 0: {
        static constexpr int64_t kLiterals[] = {
            0, 1, 2, 3, 7, 100, 65536, 46341, 2147483647, 4294967296};
        Node literal = Literal(kLiterals[rng_.Below(10)]);
        return rng_.Chance(0.2) ? Of("neg", std::move(literal)) : literal;
      }
      case 1:
        return scope.Get(Any(scope.integers), Kind::kInteger);
      case 2:
        return Of(rng_.Chance(0.5) ? "neg" : "abs", part());
      case 3:
        return Both(rng_.Chance(0.5) ? "min" : "max", part(), part());
      case 4:
        return Choice(Comparison(scope, depth - 1), part(), part());
      case 5:
        if (!scope.reals.empty()) {
          Node real = Real(scope, depth - 1);
          return Of("int64",
                    Both("min", Both("max", std::move(real), Literal(-1000.0)),
                         Literal(1000.5)));
        }
        [[fallthrough]];
      default: {
        const char* op = kOps[rng_.Below(5)];
        Node divisor = part();
        // A division by the literal 0 is an error.
        if (divisor.op == "1" && (*op == '/' || *op == '%')) {
          divisor = scope.Get(Any(scope.integers), Kind::kInteger);
        }
        return Both(op, part(), std::move(divisor));
      }
    }
  }

  // A node of any kind, real more often.
  Node Real(const NameScope& scope, int depth) {
    const int64_t kind = depth <= 0 ? rng_.Below(4) : rng_.Below(12);
    const auto part = [&] { return Real(scope, depth - 1); };
    switch (kind) {
      case 0:
        return Constant(std::min(depth, 2));
      case 1:
      case 2:
        if (!scope.reals.empty()) {
          const auto& [name, real] =
              scope.reals[rng_.Below(std::ssize(scope.reals))];
          return Scaled(scope, scope.Get(name, real));
        }
        [[fallthrough]];
      case 3:
        return Integer(scope, std::min(depth, 1));
      case 4:
        return Of(rng_.Chance(0.5) ? "neg" : "abs", part());
      case 5:
        return Both(rng_.Chance(0.5) ? "min" : "max", part(), part());
      case 6:
        return Choice(Comparison(scope, depth - 1), part(), part());
      case 7: {
        static constexpr const char* kFunctions[] = {"floor", "sin", "sqrt"};
        return Of(kFunctions[rng_.Below(3)], Of("abs", part()));
      }
      case 8:
        return Of(rng_.Chance(0.5) ? "float" : "double", part());
      case 9: {
        // A division by the literal 0 is an error, among integers.
        Node divisor = Of(rng_.Chance(0.5) ? "float" : "double", part());
        if (rng_.Chance(0.7)) {
          divisor = Both("+", Of("abs", std::move(divisor)), Literal(1.5));
        }
        return Both("/", part(), std::move(divisor));
      }
      default: {
        static constexpr const char* kOps[] = {"+", "-", "*"};
        return Both(kOps[rng_.Below(3)], part(), part());
      }
    }
  }

  // A real value, often times a name that holds a constant.
  Node Scaled(const NameScope& scope, Node value) {
    if (value.kind == Kind::kInteger || scope.literals.empty() ||
        rng_.Chance(0.2)) {
      return value;
    }
    const auto& [name, kind] = *scope.literals.begin();
    return Both("*", std::move(value), scope.Get(name, kind));
  }

  // A node of literals alone, mostly a single one.
  Node Constant(int depth) {
    if (depth <= 0 || rng_.Chance(0.6)) {
      static constexpr double kLiterals[] = {0.1,  0.25, 1.5, 3.0,
                                             1e-3, 0.7,  0.0, 100.0};
      if (rng_.Chance(0.2)) return Literal(1 + rng_.Below(9));
      return Literal(kLiterals[rng_.Below(8)]);
    }
    const auto part = [&] { return Constant(depth - 1); };
    switch (rng_.Below(4)) {
      case 0:
        return Of(rng_.Chance(0.5) ? "neg" : "abs", part());
      case 1:
        return Of("sqrt", Of("abs", part()));
      case 2:
        return Both("/", part(), Literal(3.0));
      default: {
        static constexpr const char* kOps[] = {"+", "-", "*", "min", "max"};
        return Both(kOps[rng_.Below(5)], part(), part());
      }
    }
  }

  Node Comparison(const NameScope& scope, int depth) {
    static constexpr const char* kOps[] = {"<", "<=", ">", ">=", "==", "!="};
    if (depth > 0 && rng_.Chance(0.2)) {
      return Condition(rng_.Chance(0.5) ? "and" : "or",
                       Comparison(scope, depth - 1),
                       Comparison(scope, depth - 1));
    }
    const auto side = [&] {
      return rng_.Chance(0.5) ? Real(scope, depth) : Integer(scope, depth);
    };
    return Condition(kOps[rng_.Below(6)], side(), side());
  }

  Node OfKind(Kind kind, const NameScope& scope, int depth) {
    return kind == Kind::kInteger ? Integer(scope, depth) : Real(scope, depth);
  }

  const std::string& Any(const std::vector<std::string>& names) {
    return names[rng_.Below(std::ssize(names))];
  }

 private:
  Rng& rng_;
};

}  // namespace dogged::dsl

#endif  // DOGGED_TESTS_DSL_RANDOM_EXPRESSIONS_H_
