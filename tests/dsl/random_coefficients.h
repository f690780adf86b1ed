// Arrays that no step makes, of up to all indices, from a seed, and reads of
// them at any of their places: the same one along time, along a dimension of
// space, at a number, at sums of these, in steps, in larger ones, and
// backwards. And numbers made of all of an array that has no time, read
// everywhere.
#ifndef DOGGED_TESTS_DSL_RANDOM_COEFFICIENTS_H_
#define DOGGED_TESTS_DSL_RANDOM_COEFFICIENTS_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "runtime/base/random.h"
#include "runtime/base/value.h"
#include "tests/dsl/random_stencil.h"

namespace dogged::dsl {

class RandomCoefficients {
 public:
  RandomCoefficients(const RandomStencil& stencil, Rng rng)
      : rng_(std::move(rng)), dims_(static_cast<int>(stencil.extents.size())) {
    last_ = stencil.order + stencil.steps;
    for (const int64_t extent : stencil.extents) {
      last_ = std::max(last_, extent);
    }
    first_ = -last_ - kMargin;
    last_ = 2 * last_ + kMargin;
    for (int64_t p = 1 + rng_.Below(3); p > 0; --p) AddCoefficient();
    for (int64_t r = 1 + rng_.Below(4); r > 0; --r) AddRead(r);
    if (rng_.Chance(0.3)) AddNumberOfOwnCoefficient(stencil);
    if (stencil.has_coefficient && rng_.Chance(0.5)) {
      AddNumberOfCoefficient(stencil);
    }
  }

  RandomStencil::Addition Addition() const {
    return {.tasks = tasks_,
            .uses = uses_,
            .terms = terms_,
            .value = [coefficients = coefficients_, reads = reads_,
                      numbers = numbers_](
                         double sum, const std::vector<int64_t>& x, int64_t t) {
              for (const Read& read : reads) {
                std::vector<int64_t> at;
                for (const Index& index : read.index) {
                  at.push_back(index.shift);
                  for (const auto& [follows, step] : index.terms) {
                    at.back() += step * (follows == kTime ? t : x[follows]);
                  }
                }
                sum +=
                    read.factor * ValueOf(coefficients, read.coefficient, at);
              }
              for (const Number& number : numbers) {
                const double k = 0.5 + 0.25 * static_cast<double>(x[0] % 3);
                sum += number.is_spread ? k * number.value : number.value;
              }
              return sum;
            }};
  }
  // By array, what files hold.
  const std::map<std::string, Value>& inputs() const { return inputs_; }

 private:
  static constexpr int kTime = -1;
  static constexpr int64_t kMargin = 5;

  struct Coefficient {
    int rank = 1;
    bool is_recurrent = false;
    double phase = 0;
    int part = -1;  // a coefficient whose half is added, at the first indices

    double At(const std::vector<int64_t>& at) const {
      if (!is_recurrent) {
        double sum = phase;
        for (size_t i = 0; i < at.size(); ++i) {
          sum += 0.1 * static_cast<double>(i + 1) * static_cast<double>(at[i]);
        }
        return std::sin(sum);
      }
      double value = phase;
      for (int64_t i = -kMargin + 1; i <= at[0]; ++i) {
        value = 0.5 * value + 0.1 * static_cast<double>(i);
      }
      return value;
    }
  };
  struct Index {
    std::vector<std::pair<int, int64_t>> terms;  // dimension, step
    int64_t shift = 0;
  };
  struct Read {
    size_t coefficient = 0;
    std::vector<Index> index;
    double factor = 0;
  };

  struct Number {
    double value = 0;
    bool is_spread = false;  // times the coefficient
  };
  static double ValueOf(const std::vector<Coefficient>& coefficients, size_t p,
                        std::vector<int64_t> at) {
    const Coefficient& coefficient = coefficients[p];
    const double own = coefficient.At(at);
    if (coefficient.part < 0) return own;
    const auto part = static_cast<size_t>(coefficient.part);
    at.resize(coefficients[part].rank);
    return own + 0.5 * ValueOf(coefficients, part, std::move(at));
  }

  std::string Name(size_t p) const { return absl::StrCat("p", p); }

  void AddCoefficient() {
    const size_t p = coefficients_.size();
    Coefficient& made = coefficients_.emplace_back();
    made.phase = rng_.Unit();
    made.rank = static_cast<int>(1 + rng_.Below(std::min(3, dims_ + 1)));
    made.is_recurrent = made.rank == 1 && rng_.Chance(0.25);
    std::string indices;
    std::string ranges;
    std::string sum = absl::StrFormat("%.17g", made.phase);
    Shape extents;
    for (int i = 0; i < made.rank; ++i) {
      absl::StrAppend(&indices, "(i", i, ")");
      absl::StrAppend(&ranges, " i", i, " = ", first_, ":", last_);
      absl::StrAppend(&sum, " + ", absl::StrFormat("%.17g", 0.1 * (i + 1)),
                      "*i", i);
      extents.push_back(last_ - first_ + 1);
    }
    const std::string head = absl::StrCat("task make", p, "\n  creates p", p);
    const std::string end = "\n  end code\nend task\n";
    if (made.is_recurrent) {
      absl::StrAppend(
          &tasks_, "boundary p", p, "(", -kMargin,
          ") = ", absl::StrFormat("%.17g", made.phase), "\n", head,
          "(i) as n\n  for i = ", 1 - kMargin, ":", last_, "\n  using p", p,
          "(i-1) as before\n  code\n    n = 0.5*before + 0.1*i", end);
    } else if (rng_.Chance(0.5)) {
      const std::string part = AddPart(made);
      absl::StrAppend(&tasks_, head, indices, " as n\n  for", ranges, part,
                      "\n  code\n    n = sin(", sum, ")",
                      part.empty() ? "" : " + 0.5*w", end);
    } else {
      absl::StrAppend(&tasks_, "input p", p, indices, " for", ranges, "\n");
      Value value = Value::Allocate(ElementType::kDouble, extents);
      std::vector<int64_t> at(static_cast<size_t>(extents.size()), first_);
      for (double& number : value.mutable_span<double>()) {
        number = made.At(at);
        size_t d = at.size() - 1;
        while (d > 0 && at[d] == last_) at[d--] = first_;
        ++at[d];
      }
      inputs_[Name(p)] = std::move(value);
    }
  }

  // Makes another coefficient a part of this one, or none.
  std::string AddPart(Coefficient& made) {
    for (size_t q = 0; q + 1 < coefficients_.size(); ++q) {
      const Coefficient& part = coefficients_[q];
      if (part.is_recurrent || part.rank > made.rank || rng_.Chance(0.4)) {
        continue;
      }
      made.part = static_cast<int>(q);
      std::string out = absl::StrCat("\n  using ", Name(q));
      for (int i = 0; i < part.rank; ++i) absl::StrAppend(&out, "(i", i, ")");
      return out + " as w";
    }
    return "";
  }

  // A step that leaves the index in its range, with what it follows before.
  int64_t StepFor(const Index& index, bool is_recurrent) {
    if (!index.terms.empty()) {
      const int64_t first = index.terms.front().second;
      return first < 0 || (first == 1 && rng_.Chance(0.5)) ? 1 : -1;
    }
    if (rng_.Chance(0.7)) return 1;
    return is_recurrent || rng_.Chance(0.6) ? 2 : -1;
  }

  void AddRead(int64_t number) {
    Read read{.coefficient =
                  static_cast<size_t>(rng_.Below(std::ssize(coefficients_))),
              .index = {},
              .factor = rng_.Unit() - 0.5};
    const Coefficient& coefficient = coefficients_[read.coefficient];
    absl::StrAppend(&uses_, "    ", Name(read.coefficient));
    for (int i = 0; i < coefficient.rank; ++i) {
      Index index;
      std::vector<int> free = {kTime};
      if (!coefficient.is_recurrent) {
        for (int d = 0; d < dims_; ++d) free.push_back(d);
      }
      // Where all of them follow one each, others do so rarely.
      const double more = coefficient.is_recurrent ? 0.0 : 0.2;
      for (double chance = 0.85; !free.empty() && rng_.Chance(chance);
           chance = index.terms.size() < 2 ? more : 0) {
        const auto pick = static_cast<size_t>(rng_.Below(std::ssize(free)));
        index.terms.emplace_back(free[pick],
                                 StepFor(index, coefficient.is_recurrent));
        free.erase(free.begin() + static_cast<ptrdiff_t>(pick));
      }
      const bool looks_back = coefficient.is_recurrent && !index.terms.empty();
      index.shift = rng_.Below(looks_back ? 3 : 5) - 2;
      absl::StrAppend(&uses_, "(");
      for (const auto& [follows, step] : index.terms) {
        absl::StrAppend(&uses_, step, "*",
                        follows == kTime ? "t" : absl::StrCat("x", follows),
                        " + ");
      }
      absl::StrAppend(&uses_, index.shift, ")");
      read.index.push_back(std::move(index));
    }
    absl::StrAppend(&uses_, " as r", number, "\n");
    absl::StrAppend(&terms_, " + ", absl::StrFormat("(%.17g)", read.factor),
                    "*r", number);
    reads_.push_back(std::move(read));
  }

  // The largest of a source's labels, or what a task makes of it; or an array
  // that is made of that number and the coefficient.
  void AddNumber(const std::string& source, const std::string& ranges,
                 double value, const RandomStencil& stencil) {
    const std::string q = absl::StrCat("q", numbers_.size());
    absl::StrAppend(&tasks_, "reduce ", q, " = max(", source, ") over", ranges,
                    "\n");
    const bool is_made = rng_.Chance(0.5);
    if (is_made) {
      absl::StrAppend(&tasks_, "task half", q, "\n  creates h", q,
                      " as n\n  using ", q,
                      " as m\n  code\n    n = 0.5*m\n  end code\nend task\n");
    }
    std::string used = absl::StrCat(is_made ? "h" : "", q);
    const bool is_spread = stencil.has_coefficient && rng_.Chance(0.4);
    if (is_spread) {
      const std::string at = stencil.Indices({});
      absl::StrAppend(&tasks_, "task spread", q, "\n  creates s", q, at,
                      " as n\n", stencil.Ranges(), "  using k", at, " as k0  ",
                      used, " as m\n  code\n    n = k0*m\n  end code\n",
                      "end task\n");
      used = absl::StrCat("s", q, at);
    }
    absl::StrAppend(&uses_, "    ", used, " as v", q, "\n");
    absl::StrAppend(&terms_, " + v", q);
    numbers_.push_back({is_made ? 0.5 * value : value, is_spread});
  }

  void AddNumberOfOwnCoefficient(const RandomStencil& stencil) {
    const auto p = static_cast<size_t>(rng_.Below(std::ssize(coefficients_)));
    std::string source = Name(p);
    std::string ranges;
    std::vector<int64_t> at;
    for (int i = 0; i < coefficients_[p].rank; ++i) {
      at.push_back(rng_.Below(4));
      absl::StrAppend(&source, "(i", i, ")");
      absl::StrAppend(&ranges, " i", i, " = ", at.back(), ":",
                      i == 0 ? at.back() + 9 : at.back());
    }
    double value = ValueOf(coefficients_, p, at);
    for (int64_t k = 0; k < 9; ++k) {
      ++at[0];
      value = std::max(value, ValueOf(coefficients_, p, at));
    }
    AddNumber(source, ranges, value, stencil);
  }

  void AddNumberOfCoefficient(const RandomStencil& stencil) {
    const std::string all = stencil.Ranges();
    const int64_t most = std::min<int64_t>(2, stencil.extents[0] - 1);
    AddNumber(absl::StrCat("k", stencil.Indices({})), all.substr(5),
              0.5 + 0.25 * static_cast<double>(most), stencil);
  }

  Rng rng_;
  const int dims_;
  int64_t first_ = 0;  // of all indices
  int64_t last_ = 0;
  std::vector<Coefficient> coefficients_;
  std::vector<Read> reads_;
  std::vector<Number> numbers_;
  std::string tasks_;
  std::string uses_;
  std::string terms_;
  std::map<std::string, Value> inputs_;
};

}  // namespace dogged::dsl

#endif  // DOGGED_TESTS_DSL_RANDOM_COEFFICIENTS_H_
