// Text and meaning of a FieldProgram; field_maker.cc makes one up.
#include "tests/dsl/field_program.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace dogged::dsl {
namespace {

std::string IndexText(const std::vector<IndexForm>& index) {
  std::string out;
  for (const IndexForm& form : index) {
    if (form.name.empty()) {
      absl::StrAppend(&out, "(", form.offset, ")");
    } else if (form.offset == 0) {
      absl::StrAppend(&out, "(", form.name, ")");
    } else {
      absl::StrAppend(&out, "(", form.name, form.offset < 0 ? "" : "+",
                      form.offset, ")");
    }
  }
  return out;
}

std::string WhereText(const std::vector<Bound>& where) {
  if (where.empty()) return "";
  std::vector<std::string> parts;
  for (const Bound& bound : where) {
    parts.push_back(
        bound.op == "even"
            ? absl::StrCat(bound.name, " % 2 == ", bound.bound)
            : absl::StrCat(bound.name, " ", bound.op, " ", bound.bound));
  }
  return absl::StrCat(" where ", absl::StrJoin(parts, " and "));
}

std::string RangesText(const std::vector<NamedRange>& ranges) {
  std::string out;
  for (const NamedRange& range : ranges) {
    absl::StrAppend(&out, "  ", range.name, " = ", range.text);
  }
  return out;
}

absl::string_view KindName(Kind kind) {
  return kind == Kind::kDouble  ? "double"
         : kind == Kind::kFloat ? "float"
                                : "int64";
}

// Finds the values of names for which `index` is `at`; false if there are none.
bool Match(const std::vector<IndexForm>& index, const Point& at, Names& names) {
  if (index.size() != at.size()) return false;
  for (size_t i = 0; i < at.size(); ++i) {
    const int64_t value = at[i] - index[i].offset;
    if (index[i].name.empty()) {
      if (value != 0) return false;
    } else {
      names[index[i].name] = value;
    }
  }
  return true;
}

bool IsWithin(const std::vector<NamedRange>& ranges, const Names& names) {
  return std::all_of(
      ranges.begin(), ranges.end(), [&](const NamedRange& range) {
        const int64_t value = std::get<int64_t>(names.at(range.name));
        return value >= range.first && value <= range.last &&
               (value - range.first) % range.step == 0;
      });
}

Point Place(const std::vector<IndexForm>& index, const Names& names) {
  Point out;
  for (const IndexForm& form : index) {
    out.push_back(form.offset + (form.name.empty()
                                     ? 0
                                     : std::get<int64_t>(names.at(form.name))));
  }
  return out;
}

// The sum of doubles, rounded once, to the nearest, ties to even: sums without
// an error between them, as in Shewchuk's "Adaptive precision floating-point
// arithmetic". For sums that are far from the largest double.
double RoundedSum(const std::vector<double>& terms) {
  std::vector<double> parts;  // without overlap, ascending
  double special = 0;         // infinities, which are no parts
  for (double x : terms) {
    if (!std::isfinite(x)) {
      special += x;
      continue;
    }
    size_t kept = 0;
    for (double y : parts) {
      if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
      const double high = x + y;
      const double low = y - (high - x);
      if (low != 0) parts[kept++] = low;
      x = high;
    }
    parts.resize(kept);
    parts.push_back(x);
  }
  if (special != 0 || std::isnan(special)) return special;
  double sum = 0;
  double rest = 0;
  size_t n = parts.size();
  while (n > 0) {
    const double x = sum;
    const double y = parts[--n];
    sum = x + y;
    rest = y - (sum - x);
    if (rest != 0) break;
  }
  // Half way, and what is left decides.
  if (n > 0 &&
      ((rest < 0 && parts[n - 1] < 0) || (rest > 0 && parts[n - 1] > 0))) {
    const double twice = rest * 2;
    const double next = sum + twice;
    if (twice == next - sum) sum = next;
  }
  return sum;
}

// The smaller one, or the larger one; -0 is smaller than 0.
double Extreme(double a, double b, bool is_max) {
  if (a == b) return std::signbit(a) == is_max ? b : a;
  return (a < b) == is_max ? b : a;
}

double ReducedReals(const std::string& kind, const std::vector<double>& terms) {
  if (kind == "sum") return RoundedSum(terms);
  if (kind == "norm2") {
    std::vector<double> squares;
    for (const double x : terms) squares.push_back(x * x);
    return std::sqrt(RoundedSum(squares));
  }
  const double infinity = std::numeric_limits<double>::infinity();
  double out = kind == "min" ? infinity : kind == "max" ? -infinity : 0;
  for (const double x : terms) {
    out = Extreme(out, kind == "normmax" ? std::fabs(x) : x, kind != "min");
  }
  return out;
}

int64_t ReducedIntegers(const std::string& kind,
                        const std::vector<int64_t>& terms) {
  int64_t out = kind == "min"   ? std::numeric_limits<int64_t>::max()
                : kind == "max" ? std::numeric_limits<int64_t>::min()
                                : 0;
  for (const int64_t x : terms) {
    out = kind == "min"   ? std::min(out, x)
          : kind == "max" ? std::max(out, x)
                          : Wrapped("+", out, x);
  }
  return out;
}

// Calls `visit` for every point of `ranges`, added to `names`.
bool ForEach(const std::vector<NamedRange>& ranges, size_t d, Names& names,
             const std::function<bool(const Names&)>& visit) {
  if (d == ranges.size()) return visit(names);
  for (int64_t i = ranges[d].first; i <= ranges[d].last; i += ranges[d].step) {
    names[ranges[d].name] = i;
    if (!ForEach(ranges, d + 1, names, visit)) return false;
  }
  return true;
}

std::string TaskText(const FieldTask& task, size_t k) {
  if (task.is_input) {
    return absl::StrCat("input ", task.array, IndexText(task.creates), " for",
                        RangesText(task.ranges), " else ",
                        dsl::Text(task.value), "\n");
  }
  std::string out =
      absl::StrCat("task task", k, "\n  creates ", task.array,
                   IndexText(task.creates), " as n\n  for",
                   RangesText(task.ranges), "\n ", WhereText(task.where), "\n");
  if (!task.readings.empty()) out += "  using\n";
  for (const Reading& reading : task.readings) {
    absl::StrAppend(&out, "    ", reading.array, IndexText(reading.index),
                    " as ", reading.name, WhereText(reading.where));
    if (!reading.where.empty()) {
      absl::StrAppend(&out, " else ", Text(reading.otherwise));
    }
    out += "\n";
  }
  out += "  code\n";
  for (const auto& [name, value] : task.locals) {
    absl::StrAppend(&out, "    ", name, " = ", dsl::Text(value), "\n");
  }
  absl::StrAppend(&out, "    n = ", dsl::Text(task.value),
                  "\n  end code\nend task\n");
  return out;
}

}  // namespace

bool AllHold(const std::vector<Bound>& where, const Names& names) {
  return std::all_of(where.begin(), where.end(), [&](const Bound& bound) {
    const int64_t value = std::get<int64_t>(names.at(bound.name));
    if (bound.op == "even") return ((value % 2) + 2) % 2 == bound.bound;
    return Compared(bound.op, value, bound.bound);
  });
}

std::string FieldProgram::Text() const {
  std::string out;
  for (const auto& [head, value] : parameters_) {
    absl::StrAppend(&out, "param ", head, " = ", value, "\n");
  }
  for (const FieldArray& array : arrays_) {
    if (!array.is_declared) continue;
    absl::StrAppend(&out, "array ", array.name);
    for (const NamedRange& range : array.ranges) {
      absl::StrAppend(&out, "(", range.name, " = ", range.text, ")");
    }
    absl::StrAppend(&out, " : ", KindName(array.kind), "\n");
  }
  for (const FieldBoundary& boundary : boundaries_) {
    absl::StrAppend(&out, "boundary ", boundary.array,
                    IndexText(boundary.index), " = ");
    if (boundary.periodic >= 0) {
      const auto at = static_cast<size_t>(boundary.periodic);
      absl::StrAppend(&out, "periodic(", boundary.index[at].name, ")");
    } else {
      out += dsl::Text(boundary.value);
    }
    out += WhereText(boundary.where) + "\n";
  }
  for (size_t k = 0; k < tasks_.size(); ++k) out += TaskText(tasks_[k], k);
  for (const FieldReduction& r : reductions_) {
    absl::StrAppend(&out, "reduce ", r.array, IndexText(r.index), " = ", r.kind,
                    "(", r.source, IndexText(r.source_index), ")");
    if (!r.kept.empty()) absl::StrAppend(&out, "  for", RangesText(r.kept));
    absl::StrAppend(&out, "  over", RangesText(r.over), WhereText(r.where),
                    "\n");
  }
  for (const FieldResult& result : results_) {
    absl::StrAppend(&out, "result ", result.text, "\n");
  }
  return out;
}

bool FieldProgram::IsWanted(const std::string& array, const Point& at) const {
  return std::any_of(
      results_.begin(), results_.end(), [&](const FieldResult& result) {
        Names names;
        return result.array == array && Match(result.index, at, names) &&
               IsWithin(result.ranges, names) && AllHold(result.where, names);
      });
}

std::optional<Number> FieldProgram::ValueOf(const std::string& array,
                                            const Point& at) {
  const auto known = known_.find({array, at});
  if (known != known_.end()) return known->second;
  const auto declared =
      std::find_if(arrays_.begin(), arrays_.end(),
                   [&](const FieldArray& a) { return a.name == array; });
  std::optional<Number> value = Find(*declared, at);
  if (!value.has_value()) return std::nullopt;
  value = ConvertTo(declared->kind, *value);
  has_nan_ = has_nan_ || IsNan(*value);
  known_[{array, at}] = *value;
  return value;
}

std::optional<Number> FieldProgram::Find(const FieldArray& array,
                                         const Point& at) {
  for (const FieldTask& task : tasks_) {
    Names names = values_;
    if (task.array == array.name && Match(task.creates, at, names) &&
        IsWithin(task.ranges, names) && AllHold(task.where, names)) {
      return Run(task, std::move(names));
    }
  }
  for (const FieldReduction& reduction : reductions_) {
    Names names = values_;
    if (reduction.array == array.name && Match(reduction.index, at, names) &&
        IsWithin(reduction.kept, names)) {
      return Reduce(reduction, std::move(names));
    }
  }
  for (const FieldBoundary& boundary : boundaries_) {
    Names names = values_;
    if (boundary.periodic < 0 && boundary.array == array.name &&
        Match(boundary.index, at, names) && AllHold(boundary.where, names)) {
      const Number value = Evaluate(boundary.value, names);
      has_nan_ = has_nan_ || names.has_nan;
      return value;
    }
  }
  for (const FieldBoundary& boundary : boundaries_) {
    if (boundary.periodic < 0 || boundary.array != array.name) continue;
    const auto i = static_cast<size_t>(boundary.periodic);
    const NamedRange& range = array.ranges[i];
    const int64_t period = range.last - range.first + 1;
    Point inside = at;
    if (at[i] < range.first) inside[i] += period;
    if (at[i] > range.last) inside[i] -= period;
    if (inside != at) return ValueOf(array.name, inside);
  }
  return std::nullopt;
}

std::optional<Number> FieldProgram::Run(const FieldTask& task, Names names) {
  const Names outside = names;
  for (const Reading& reading : task.readings) {
    std::optional<Number> value;
    if (AllHold(reading.where, outside)) {
      value = ValueOf(reading.array, Place(reading.index, outside));
    } else {
      const auto array = std::find_if(
          arrays_.begin(), arrays_.end(),
          [&](const FieldArray& a) { return a.name == reading.array; });
      value = ConvertTo(array->kind, Evaluate(reading.otherwise, outside));
    }
    if (!value.has_value()) return std::nullopt;
    names[reading.name] = *value;
  }
  for (const auto& [name, local] : task.locals) {
    names[name] = Evaluate(local, names);
  }
  const Number value = Evaluate(task.value, names);
  has_nan_ = has_nan_ || names.has_nan || outside.has_nan;
  return value;
}

std::optional<Number> FieldProgram::Reduce(const FieldReduction& reduction,
                                           Names names) {
  std::vector<double> reals;
  std::vector<int64_t> integers;
  const bool is_whole =
      ForEach(reduction.over, 0, names, [&](const Names& all) {
        if (!AllHold(reduction.where, all)) return true;
        const auto value =
            ValueOf(reduction.source, Place(reduction.source_index, all));
        if (!value.has_value()) return false;
        if (const auto* i = std::get_if<int64_t>(&*value)) {
          integers.push_back(*i);
        } else {
          reals.push_back(AsReal(*value));
        }
        return true;
      });
  if (!is_whole) return std::nullopt;
  const auto source = std::find_if(
      arrays_.begin(), arrays_.end(),
      [&](const FieldArray& a) { return a.name == reduction.source; });
  if (source->kind == Kind::kInteger) {
    return ReducedIntegers(reduction.kind, integers);
  }
  return ReducedReals(reduction.kind, reals);
}

}  // namespace dogged::dsl
