// Programs of a Builder, for builder_text_test.py, which makes the same ones in
// Python: each text, and a line of ---.
#include <cstdio>

#include "apps/client/dogged.hpp"

namespace dogged {
namespace {

Builder Rod() {
  Builder b("rod");
  const Expr n = b.Param("N", 101);
  const Expr steps = b.Param("T");
  const Index x = b.Index("x");
  const Index t = b.Index("t");
  const Array u = b.Array("u");
  b.Boundary(u(0, t), 1);
  b.Boundary(u(n - 1, t), 0, t >= 0);
  b.Task(u(x, 0), exp(-0.1 * x), {{x, 1, n - 2}});
  b.Task(u(x, t),
         u(x, t - 1) +
             0.25 * (u(x - 1, t - 1) - 2 * u(x, t - 1) + u(x + 1, t - 1)),
         {{x, 1, n - 2}, {t, 1, steps}}, {.name = "step"});
  b.Result(u(kAll, steps));
  b.Result(u(x, t), {{x, 0, n - 1, 4}, {t, 0, steps, 2}});
  return b;
}

Builder Ring() {
  Builder b("ring");
  const Expr n = b.Param("N", 20);
  const Index x = b.Index("x");
  const Index t = b.Index("t");
  const Array h =
      b.Array("h", {{x, 0, n - 1}, {t, 0, 3}}, {.type = DOGGED_INT64});
  const Array v = b.Array("v");
  const Array w = b.Array("w");
  b.Input(v(x), {{x, 0, n - 1}}, 2.0 * x);
  b.Periodic(h(x, t), x);
  b.Task(h(x, 0), x, {{x, 0, n - 1}});
  b.Task({{h(x, t), h(x - 1, t - 1) + floor_div(x, 7)},
          {w(x, t), v(x) + 1.0 * x / n}},
         {{x, 0, n - 1}, {t, 1, 3}}, {.where = x >= 0});
  b.Result(h(kAll, 3));
  return b;
}

Builder Loop() {
  Builder b("loop");
  const Expr n = b.Param("N", 12);
  const Expr bound = b.Param("bound", 1e-5);
  const Index x = b.Index("x");
  const Index t = b.Index("t");
  const Array u = b.Array("u");
  const Array d = b.Array("d");
  const Array change = b.Array("change");
  const Array total = b.Array("total");
  const Array s = b.Array("s");
  const Expr end = b.Repeat("T", 20, 4000, 20);
  b.Input(s(x), {{x, 0, n}});
  b.Task(u(x, t),
         0.5 * (u(x - 1, t - 1).Where(x > 0, 1) +
                u(x + 1, t - 1).Where(x < n - 1, 0)),
         {{x, 0, n - 1}, {t, 1, end}});
  b.Task(d(x, t), u(x, t) - u(x, t - 1), {{x, 0, n - 1}, {t, 20, end, 20}});
  b.Reduce("normmax", change(t), d(x, t), {{x, 0, n - 1}},
           {.at = {{t, 20, end, 20}}});
  b.Reduce("sum", total(), s(x), {{x, 0, n}}, {.where = x % 2 == 0});
  b.Until(change(end) < bound);
  b.Result(u(kAll, end));
  return b;
}

Builder Formulas() {
  Builder b("formulas");
  const Expr n = b.Param("N", 11);
  const Expr c = b.Param("c", 100000.0);
  const Index x = b.Index("x");
  const Array f = b.Array("f");
  const Array g = b.Array("g");
  int at = 0;
  for (const Expr& one : std::initializer_list<Expr>{
           1 - (x - (x - 1)), -(x + 1) * 2, x - -3,
           choose(x < 3 || (!(x > 4) && x == 5), 1, 0.5),
           max(x, 3) * min(0.1, c), pow(hypot(1e16 * x, -0.0), 1e-4),
           fmod(abs(g(x)), 0.3) + (g(x) + 1.5e300) * -g(x), 2.5 / (x * 1.0 / n),
           (x % 3) * (x + n) - floor_div(x * 4, 2 + n),
           atan2(sqrt(g(x) * g(x)), +tanh(cbrt(0.00001 * x)))}) {
    b.Task(f(at++, x), one, {{x, 0, n - 1}});
  }
  return b;
}

}  // namespace
}  // namespace dogged

int main() {
  for (const auto& make :
       {dogged::Rod, dogged::Ring, dogged::Loop, dogged::Formulas}) {
    std::printf("%s---\n", make().text().c_str());
  }
}
