// Random stencils from a seed: fields of one to three dimensions that read each
// other at random distances, as text and as loops.
#ifndef DOGGED_TESTS_DSL_RANDOM_STENCIL_H_
#define DOGGED_TESTS_DSL_RANDOM_STENCIL_H_

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/random.h"

namespace dogged::dsl {

// A random stencil program: the choice, as text and as loops.
struct RandomStencil {
  struct Read {
    int field;
    int lag;
    std::vector<int64_t> shift;
    double factor;
  };
  std::vector<int64_t> extents;
  int64_t steps = 0;
  int fields = 1;
  int order = 1;
  bool has_coefficient = false;
  std::vector<std::vector<Read>> reads;  // by field
  // More to read, in the same way for all fields: tasks, what stands under
  // `using` and behind the sum, and that sum from what was before it.
  struct Addition {
    std::string tasks;
    std::string uses;
    std::string terms;
    std::function<double(double sum, const std::vector<int64_t>& x, int64_t t)>
        value;
  };
  Addition addition;

  explicit RandomStencil(Rng rng) {
    const int64_t dims = 1 + rng.Below(3);
    for (int64_t d = 0; d < dims; ++d) {
      extents.push_back(dims == 1   ? 20 + rng.Below(120)
                        : dims == 2 ? 10 + rng.Below(20)
                                    : 9 + rng.Below(6));
    }
    steps = 1 + rng.Below(9);
    fields = static_cast<int>(1 + rng.Below(2));
    order = static_cast<int>(1 + rng.Below(2));
    has_coefficient = rng.Chance(0.5);
    const int64_t radius = 1 + rng.Below(2);
    for (int f = 0; f < fields; ++f) {
      reads.emplace_back();
      const int64_t count = 1 + rng.Below(5);
      for (int64_t r = 0; r < count; ++r) {
        Read read{.field = static_cast<int>(rng.Below(fields)),
                  .lag = static_cast<int>(1 + rng.Below(order)),
                  .shift = {},
                  .factor = rng.Unit() - 0.5};
        // A later field may read an earlier one at the same time.
        if (f == 1 && rng.Chance(0.3)) read.field = read.lag = 0;
        for (int64_t d = 0; d < dims; ++d) {
          read.shift.push_back(rng.Below(2 * radius + 1) - radius);
        }
        reads.back().push_back(read);
      }
    }
  }

  std::string Indices(const std::vector<int64_t>& shift) const {
    std::string out;
    for (size_t d = 0; d < extents.size(); ++d) {
      const int64_t s = shift.empty() ? 0 : shift[d];
      absl::StrAppend(&out, "(x", d, s < 0 ? "" : "+", s, ")");
    }
    return out;
  }
  std::string Ranges() const {
    std::string out = "  for\n";
    for (size_t d = 0; d < extents.size(); ++d) {
      absl::StrAppend(&out, "    x", d, " = 0:", extents[d] - 1, "\n");
    }
    return out;
  }

  // With `last` steps: a number, or a parameter.
  std::string Text() const { return Text(absl::StrCat(order + steps - 1)); }
  std::string Text(const std::string& last) const {
    std::string out = addition.tasks;
    for (int f = 0; f < fields; ++f) {
      for (int t = 0; t < order; ++t) {
        absl::StrAppend(&out, "task init", f, t, "\n  creates f", f,
                        Indices({}), "(", t, ") as n\n", Ranges(),
                        "  code\n    n = sin(1.0 + ", t, " + ", f);
        for (size_t d = 0; d < extents.size(); ++d) {
          absl::StrAppend(&out, " + 0.1*", d + 1, "*x", d);
        }
        absl::StrAppend(&out, ")\n  end code\nend task\n");
      }
    }
    if (has_coefficient) {
      absl::StrAppend(&out, "task coefficient\n  creates k", Indices({}),
                      " as n\n", Ranges(),
                      "  code\n    n = 0.5 + 0.25*(x0 % 3)\n",
                      "  end code\nend task\n");
    }
    for (int f = 0; f < fields; ++f) {
      absl::StrAppend(&out, "task step", f, "\n  creates f", f, Indices({}),
                      "(t) as n\n", Ranges(), "    t = ", order, ":", last,
                      "\n  using\n");
      std::string sum = "0.125";
      const auto& own = reads[f];
      for (size_t r = 0; r < own.size(); ++r) {
        absl::StrAppend(&out, "    f", own[r].field, Indices(own[r].shift),
                        "(t-", own[r].lag, ") as u", r);
        std::string where;
        for (size_t d = 0; d < extents.size(); ++d) {
          const int64_t s = own[r].shift[d];
          if (s == 0) continue;
          absl::StrAppend(
              &where, where.empty() ? "" : " and ", "x", d,
              s < 0 ? " >= " : " <= ", s < 0 ? -s : extents[d] - 1 - s);
        }
        if (!where.empty()) {
          absl::StrAppend(&out, " where ", where, " else 0.25");
        }
        absl::StrAppend(&out, "\n");
        absl::StrAppend(&sum, " + ", absl::StrFormat("(%.17g)", own[r].factor),
                        "*u", r);
      }
      absl::StrAppend(&out, addition.uses);
      absl::StrAppend(&sum, addition.terms);
      if (has_coefficient) {
        absl::StrAppend(&out, "    k", Indices({}), " as k0\n");
        sum = absl::StrCat("k0*(", sum, ")");
      }
      absl::StrAppend(&out, "  code\n    n = ", sum,
                      "\n  end code\nend task\n");
      absl::StrAppend(&out, "result f", f);
      absl::StrAppend(&out, Indices({}), "(", last, ")\n", Ranges());
    }
    return out;
  }

  // The fields at the last time step, one after another.
  std::vector<std::vector<double>> Loops() const;
};

inline std::vector<std::vector<double>> RandomStencil::Loops() const {
  size_t count = 1;
  for (const int64_t extent : extents) count *= static_cast<size_t>(extent);
  const auto last = static_cast<size_t>(order + steps);
  std::vector values(static_cast<size_t>(fields),
                     std::vector(last, std::vector<double>(count)));
  const auto read_at = [&](const Read& read, const std::vector<int64_t>& x,
                           size_t t) {
    size_t at = 0;
    for (size_t d = 0; d < x.size(); ++d) {
      const int64_t p = x[d] + read.shift[d];
      if (p < 0 || p >= extents[d]) return 0.25;
      at = at * static_cast<size_t>(extents[d]) + static_cast<size_t>(p);
    }
    return values[read.field][t - static_cast<size_t>(read.lag)][at];
  };
  const auto value_at = [&](size_t f, size_t t, const std::vector<int64_t>& x) {
    if (t < static_cast<size_t>(order)) {
      double sum = 1.0 + static_cast<double>(t) + static_cast<double>(f);
      for (size_t d = 0; d < x.size(); ++d) {
        sum += 0.1 * static_cast<double>(d + 1) * static_cast<double>(x[d]);
      }
      return std::sin(sum);
    }
    double sum = 0.125;
    for (const Read& read : reads[f]) sum += read.factor * read_at(read, x, t);
    if (addition.value) sum = addition.value(sum, x, static_cast<int64_t>(t));
    if (!has_coefficient) return sum;
    return (0.5 + 0.25 * static_cast<double>(x[0] % 3)) * sum;
  };
  for (size_t t = 0; t < last; ++t) {
    for (size_t f = 0; f < values.size(); ++f) {
      std::vector<int64_t> x(extents.size(), 0);
      for (double& value : values[f][t]) {
        value = value_at(f, t, x);
        size_t d = x.size() - 1;
        while (d > 0 && x[d] + 1 == extents[d]) x[d--] = 0;
        ++x[d];
      }
    }
  }
  std::vector<std::vector<double>> out;
  for (auto& field : values) out.push_back(field.back());
  return out;
}

}  // namespace dogged::dsl

#endif  // DOGGED_TESTS_DSL_RANDOM_STENCIL_H_
