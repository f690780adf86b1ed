// Random trees of the language from a seed: syntactically right, with names
// that mean nothing.
#ifndef DOGGED_TESTS_DSL_RANDOM_PROGRAM_H_
#define DOGGED_TESTS_DSL_RANDOM_PROGRAM_H_

#include <string>
#include <utility>

#include "dsl/text/ast.h"
#include "runtime/base/random.h"

namespace dogged::dsl {

class RandomProgram {
 public:
  explicit RandomProgram(uint64_t seed) : rng_(seed) {}

  ast::Program Make() {
    ast::Program out;
    for (int i = Below(3); i > 0; --i) out.parameters.push_back(Parameter());
    for (int i = Below(3); i > 0; --i) out.arrays.push_back(Array());
    for (int i = Below(2); i > 0; --i) out.inputs.push_back(Input());
    for (int i = Below(2); i > 0; --i) out.kernels.push_back(Kernel());
    for (int i = Below(3); i > 0; --i) out.boundaries.push_back(Boundary());
    for (int i = Below(4); i > 0; --i) out.tasks.push_back(Task());
    for (int i = Below(3); i > 0; --i) out.results.push_back(Result());
    return out;
  }

  ast::Expr Expr(int depth) {
    ast::Expr out;
    const int kind = Below(depth > 0 ? 8 : 3);
    switch (kind) {
      case 0:
        out.integer = Below(1000);
        return out;
      case 1:
        out.kind = ast::Expr::Kind::kReal;
        out.real = Below(1 << 20) * (Below(2) == 0 ? 1e-7 : 3.14159e11);
        return out;
      case 2:
        out.kind = ast::Expr::Kind::kName;
        out.text = Name().text;
        return out;
      case 3:
        out.kind = ast::Expr::Kind::kUnary;
        out.op = Below(2) == 0 ? ast::Op::kNegate : ast::Op::kNot;
        out.args.push_back(Expr(depth - 1));
        return out;
      case 4:
        out.kind = ast::Expr::Kind::kConditional;
        for (int i = 0; i < 3; ++i) out.args.push_back(Expr(depth - 1));
        return out;
      case 5:
        out.kind = ast::Expr::Kind::kFunction;
        out.text = Name().text;
        for (int i = Below(3); i > 0; --i) out.args.push_back(Expr(depth - 1));
        return out;
      case 6:
        out.kind = ast::Expr::Kind::kConvert;
        out.type = TypeOf(Element());
        out.args.push_back(Expr(depth - 1));
        return out;
      default:
        out.kind = ast::Expr::Kind::kBinary;
        out.op =
            static_cast<ast::Op>(static_cast<int>(ast::Op::kAdd) + Below(13));
        out.args.push_back(Expr(depth - 1));
        out.args.push_back(Expr(depth - 1));
        return out;
    }
  }

 private:
  int Below(int limit) {
    return static_cast<int>(rng_.Below(static_cast<uint64_t>(limit)));
  }
  ast::Name Name() {
    static constexpr const char* kNames[] = {"a", "phi", "x", "t", "N_1", "q2"};
    return {kNames[Below(6)], {}};
  }
  ElementType Element() { return static_cast<ElementType>(Below(3)); }
  ast::Range Range() {
    return {
        .lower = Expr(2), .upper = Expr(2), .step = 1 + Below(3), .range = {}};
  }
  ast::Dimension Dimension() { return {.name = Name(), .range = Range()}; }
  ast::Ref Ref(bool slices) {
    ast::Ref out;
    out.array = Name();
    for (int i = Below(4); i > 0; --i) {
      const bool slice = slices && Below(2) == 0;
      out.index.push_back(slice ? ast::Expr() : Expr(2));
      out.is_slice.push_back(slice);
    }
    return out;
  }
  std::optional<ast::Expr> Maybe() {
    if (Below(2) == 0) return std::nullopt;
    return Expr(2);
  }
  ast::Parameter Parameter() {
    return {
        .name = Name(), .element = Element(), .value = Maybe(), .range = {}};
  }
  ast::Array Array() {
    ast::Array out;
    out.name = Name();
    out.element = Element();
    for (int i = Below(3); i > 0; --i) {
      out.indices.push_back(Dimension());
      if (Below(2) == 0) out.indices.back().name = {};
    }
    for (int i = Below(3); i > 0; --i) out.block.push_back(Expr(2));
    for (int64_t i = Below(3); i > 0; --i) out.place.push_back(Expr(2));
    return out;
  }
  ast::Call Call() {
    ast::Call out;
    out.kernel = Name();
    for (int i = Below(4); i > 0; --i) out.args.push_back(Expr(2));
    return out;
  }
  ast::Input Input() {
    ast::Input out;
    out.ref = Ref(false);
    for (int i = Below(3); i > 0; --i) out.dimensions.push_back(Dimension());
    if (Below(2) == 0) out.else_call = Call();
    if (!out.else_call) out.else_value = Maybe();
    return out;
  }
  ast::Kernel Kernel() {
    ast::Kernel out;
    out.name = Name();
    for (int i = 1 + Below(3); i > 0; --i) {
      out.formals.push_back(
          {.kind = static_cast<ast::Formal::Kind>(Below(3)), .name = Name()});
    }
    if (Below(3) == 0) out.library = "lib.so";
    return out;
  }
  ast::Boundary Boundary() {
    ast::Boundary out;
    out.ref = Ref(false);
    if (Below(4) == 0) {
      out.periodic.text = "x";
    } else {
      out.value = Expr(3);
    }
    out.where = Maybe();
    return out;
  }
  ast::Result Result() {
    ast::Result out;
    out.ref = Ref(true);
    for (int i = Below(3); i > 0; --i) out.dimensions.push_back(Dimension());
    out.where = Maybe();
    if (Below(3) == 0) out.file = "out.npy";
    return out;
  }
  ast::Task Task() {
    ast::Task out;
    out.name = Name();
    for (int i = 1 + Below(2); i > 0; --i) {
      out.creates.push_back({.ref = Ref(false), .name = Name()});
    }
    for (int i = Below(3); i > 0; --i) out.dimensions.push_back(Dimension());
    out.where = Maybe();
    for (int i = Below(3); i > 0; --i) {
      out.uses.push_back({.ref = Ref(false),
                          .name = Name(),
                          .where = Maybe(),
                          .else_value = Maybe()});
    }
    if (Below(3) == 0) {
      out.call = Call();
    } else {
      for (int i = Below(3); i > 0; --i) {
        out.code.push_back({.target = Name(), .value = Expr(4), .range = {}});
      }
    }
    out.cost = Maybe();
    out.priority = Maybe();
    return out;
  }

  Rng rng_;
};

}  // namespace dogged::dsl

#endif  // DOGGED_TESTS_DSL_RANDOM_PROGRAM_H_
