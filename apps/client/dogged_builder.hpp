// Programs made in C++. Their text is what the compiler sees: Builder::text().
//
//     dogged::Builder b("rod");
//     const auto N = b.Param("N", 101), T = b.Param("T", 50);
//     const auto x = b.Index("x"), t = b.Index("t");
//     const auto u = b.Array("u");
//     b.Boundary(u(0, t), 1);
//     b.Boundary(u(N-1, t), 0);
//     b.Task(u(x, 0), exp(-0.1*x), {{x, 1, N-2}});
//     b.Task(u(x, t), u(x, t-1) + 0.25*(u(x-1, t-1) - 2*u(x, t-1) + u(x+1,
//     t-1)),
//            {{x, 1, N-2}, {t, 1, T}});
//     b.Result(u(dogged::kAll, T));
//
// Ranges include both ends, as in docs/LANGUAGE.md. Mistakes are Errors with
// the place in C++.
#ifndef DOGGED_APPS_CLIENT_DOGGED_BUILDER_HPP_
#define DOGGED_APPS_CLIENT_DOGGED_BUILDER_HPP_

#if __cplusplus < 202002L
#error "dogged_builder.hpp wants C++20: -std=c++20"
#endif

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "dogged_error.hpp"
#include "dogged_kernel.hpp"

namespace dogged {

class Builder;
class Label;

namespace internal {

enum Level { kTernary, kOr, kAnd, kComparison, kSum, kProduct, kUnary, kAtom };

[[noreturn]] inline void Refuse(const std::string& words) {
  throw Error(DOGGED_MISTYPED, words);
}

// As Python writes it, and the language reads it: 0.25, 100.0, 1e-05.
inline std::string NumberText(double value) {
  if (!std::isfinite(value)) {
    Refuse("the language has no number " + std::to_string(value));
  }
  char buffer[40];
  // The shortest digits that make this number: d.ddde+xx.
  const auto made = std::to_chars(buffer, buffer + sizeof(buffer), value,
                                  std::chars_format::scientific);
  const std::string all(buffer, made.ptr);
  const size_t mark = all.find('e');
  const int exponent = std::atoi(all.c_str() + mark + 1);
  if (exponent < -4 || exponent >= 16) return all;
  const auto fixed = std::to_chars(buffer, buffer + sizeof(buffer), value,
                                   std::chars_format::fixed);
  std::string out(buffer, fixed.ptr);
  if (out.find('.') == std::string::npos) out += ".0";
  return out;
}

inline const char* TypeText(dogged_type type) {
  constexpr const char* kNames[] = {"double", "float", "int64"};
  return kNames[type];
}

// A label in formulas: its text, and the condition under which it is read.
struct LabelParts {
  std::string array;
  dogged_type type = DOGGED_DOUBLE;
  bool has_blocks = false;  // each label is a block of numbers
  std::string text;
  std::string reading = {};  // " where x > 0 else 0"
  bool is_single = true;
};

}  // namespace internal

// A formula of numbers, indices, parameters and labels.
class Expr {
 public:
  template <std::integral T>
  requires(!std::same_as<T, bool>)
      Expr(T value)  // NOLINT: numbers are formulas.
      : Expr({{std::to_string(value), nullptr}},
             value < 0 ? internal::kTernary : internal::kAtom, true) {}
  template <std::floating_point T>
  Expr(T value)  // NOLINT: numbers are formulas.
      : Expr({{internal::NumberText(static_cast<double>(value)), nullptr}},
             std::signbit(value) ? internal::kTernary : internal::kAtom,
             false) {}
  Expr(bool) = delete;

  friend Expr operator+(const Expr& a, const Expr& b) {
    return Join(a, "+", b, internal::kSum);
  }
  friend Expr operator-(const Expr& a, const Expr& b) {
    return Join(a, "-", b, internal::kSum);
  }
  friend Expr operator*(const Expr& a, const Expr& b) {
    return Join(a, "*", b, internal::kProduct);
  }
  // A quotient of real numbers: 7/2 of integers could be 3 or 3.5.
  friend Expr operator/(const Expr& a, const Expr& b) {
    if (a.is_integer_ && b.is_integer_) {
      internal::Refuse(a.plain() + " / " + b.plain() +
                       " is of two integers: write floor_div(a, b), which "
                       "rounds down, or 1.0*a/b");
    }
    return Join(a, "/", b, internal::kProduct);
  }
  friend Expr operator%(const Expr& a, const Expr& b) {
    return Whole(a, "%", b);
  }
  friend Expr floor_div(const Expr& a, const Expr& b) {
    return Whole(a, "/", b);
  }
  friend Expr operator-(const Expr& a) {
    return Expr(With("-", a.At(internal::kUnary)), internal::kUnary,
                a.is_integer_);
  }
  friend Expr operator+(const Expr& a) { return a; }
  friend Expr operator<(const Expr& a, const Expr& b) {
    return Join(a, "<", b, internal::kComparison);
  }
  friend Expr operator<=(const Expr& a, const Expr& b) {
    return Join(a, "<=", b, internal::kComparison);
  }
  friend Expr operator>(const Expr& a, const Expr& b) {
    return Join(a, ">", b, internal::kComparison);
  }
  friend Expr operator>=(const Expr& a, const Expr& b) {
    return Join(a, ">=", b, internal::kComparison);
  }
  friend Expr operator==(const Expr& a, const Expr& b) {
    return Join(a, "==", b, internal::kComparison);
  }
  friend Expr operator!=(const Expr& a, const Expr& b) {
    return Join(a, "!=", b, internal::kComparison);
  }
  friend Expr operator&&(const Expr& a, const Expr& b) {
    return Join(a, "and", b, internal::kAnd);
  }
  friend Expr operator||(const Expr& a, const Expr& b) {
    return Join(a, "or", b, internal::kOr);
  }
  friend Expr operator!(const Expr& a) {
    return Expr(With("not ", a.At(internal::kComparison)), internal::kUnary,
                true);
  }

  // A function of the language by its name: Call("tanh", {u(x, t)}).
  static Expr Call(const std::string& function, const std::vector<Expr>& of) {
    std::vector<Part> parts = {{function + "(", nullptr}};
    bool is_whole = function == "abs" || function == "min" ||
                    function == "max" || function == "int64";
    for (size_t i = 0; i < of.size(); ++i) {
      if (i > 0) parts.push_back({", ", nullptr});
      parts.insert(parts.end(), of[i].parts_.begin(), of[i].parts_.end());
      is_whole = is_whole && of[i].is_integer_;
    }
    parts.push_back({")", nullptr});
    return Expr(std::move(parts), internal::kAtom,
                is_whole || function == "int64");
  }
  // `a` where the condition holds, else `b`; both are computed.
  friend Expr choose(const Expr& condition, const Expr& a, const Expr& b) {
    std::vector<Part> parts = condition.At(internal::kOr);
    Append(parts, " ? ", a.At(internal::kOr));
    Append(parts, " : ", b.At(internal::kOr));
    return Expr(std::move(parts), internal::kTernary,
                a.is_integer_ && b.is_integer_);
  }

  // Where labels are no more than their names.
  std::string plain() const {
    return Text([](const internal::LabelParts& label) {
      if (!label.reading.empty()) {
        internal::Refuse(label.text +
                         ".Where(...) is for labels that a task "
                         "reads");
      }
      return label.text;
    });
  }
  bool is_integer() const { return is_integer_; }

 protected:
  friend class Builder;

  struct Part {
    std::string text;  // or a label
    std::shared_ptr<const internal::LabelParts> label;
  };

  Expr(std::vector<Part> parts, internal::Level level, bool is_integer)
      : parts_(std::move(parts)), level_(level), is_integer_(is_integer) {}

  template <typename NameOf>
  std::string Text(const NameOf& name_of) const {
    std::string out;
    for (const Part& part : parts_) {
      out += part.label == nullptr ? part.text : name_of(*part.label);
    }
    return out;
  }

 private:
  static void Append(std::vector<Part>& parts, const std::string& text,
                     const std::vector<Part>& more) {
    parts.push_back({text, nullptr});
    parts.insert(parts.end(), more.begin(), more.end());
  }
  static std::vector<Part> With(const std::string& text,
                                const std::vector<Part>& more) {
    std::vector<Part> out;
    Append(out, text, more);
    return out;
  }
  std::vector<Part> At(int level) const {
    if (level_ >= level) return parts_;
    std::vector<Part> out = With("(", parts_);
    out.push_back({")", nullptr});
    return out;
  }
  static Expr Join(const Expr& a, const char* sign, const Expr& b,
                   internal::Level level) {
    // On the right also of the same level: a - (b - c), and bits of a + (b +
    // c).
    std::vector<Part> parts = a.At(level + (level == internal::kComparison));
    Append(parts, std::string(" ") + sign + " ", b.At(level + 1));
    return Expr(
        std::move(parts), level,
        level <= internal::kComparison || (a.is_integer_ && b.is_integer_));
  }
  static Expr Whole(const Expr& a, const char* sign, const Expr& b) {
    if (!(a.is_integer_ && b.is_integer_)) {
      internal::Refuse(
          "floor_div and % are of integers; floor(a/b) and fmod(a, b) take "
          "others");
    }
    return Join(a, sign, b, internal::kProduct);
  }

  std::vector<Part> parts_;
  internal::Level level_;
  bool is_integer_;
};

Expr floor_div(const Expr& a, const Expr& b);
Expr choose(const Expr& condition, const Expr& a, const Expr& b);

#define DOGGED_FUNCTION(name) \
  inline Expr name(const Expr& a) { return Expr::Call(#name, {a}); }
#define DOGGED_FUNCTION_OF_TWO(name)               \
  inline Expr name(const Expr& a, const Expr& b) { \
    return Expr::Call(#name, {a, b});              \
  }
DOGGED_FUNCTION(abs)
DOGGED_FUNCTION(acos)
DOGGED_FUNCTION(asin)
DOGGED_FUNCTION(atan)
DOGGED_FUNCTION_OF_TWO(atan2)
DOGGED_FUNCTION(cbrt)
DOGGED_FUNCTION(ceil)
DOGGED_FUNCTION(cos)
DOGGED_FUNCTION(cosh)
DOGGED_FUNCTION(exp)
DOGGED_FUNCTION(floor)
DOGGED_FUNCTION_OF_TWO(fmod)
DOGGED_FUNCTION_OF_TWO(hypot)
DOGGED_FUNCTION(log)
DOGGED_FUNCTION(log10)
DOGGED_FUNCTION(log2)
DOGGED_FUNCTION_OF_TWO(max)
DOGGED_FUNCTION_OF_TWO(min)
DOGGED_FUNCTION_OF_TWO(pow)
DOGGED_FUNCTION(sin)
DOGGED_FUNCTION(sinh)
DOGGED_FUNCTION(sqrt)
DOGGED_FUNCTION(tan)
DOGGED_FUNCTION(tanh)
#undef DOGGED_FUNCTION
#undef DOGGED_FUNCTION_OF_TWO

// An index of tasks and labels, made by Builder::Index().
class Index : public Expr {
 public:
  const std::string& name() const { return name_; }

 private:
  friend class Builder;
  explicit Index(const std::string& name)
      : Expr({{name, nullptr}}, internal::kAtom, true), name_(name) {}

  std::string name_;
};

// All of an index, in results: u(kAll, T).
struct All {};
inline constexpr All kAll;

// u(x, t-1): what is read, created or wanted.
class Label : public Expr {
 public:
  // The label where the condition holds, and elsewhere `otherwise`.
  Label Where(const Expr& condition, const Expr& otherwise) const {
    internal::LabelParts parts = *parts_;
    if (!parts.is_single) internal::Refuse(parts.text + " is no single label");
    parts.reading =
        " where " + condition.plain() + " else " + otherwise.plain();
    return Label(std::move(parts));
  }

  const std::string& text() const { return parts_->text; }

 private:
  friend class Builder;
  friend class Array;
  explicit Label(internal::LabelParts parts)
      : Label(std::make_shared<const internal::LabelParts>(std::move(parts))) {}
  explicit Label(std::shared_ptr<const internal::LabelParts> parts)
      : Expr({{"", parts}}, internal::kAtom, parts->type == DOGGED_INT64),
        parts_(std::move(parts)) {}

  std::shared_ptr<const internal::LabelParts> parts_;
};

// A family of labels, made by Builder::Array().
class Array {
 public:
  template <typename... At>
  Label operator()(const At&... at) const {
    internal::LabelParts parts{.array = name_,
                               .type = type_,
                               .has_blocks = has_blocks_,
                               .text = name_};
    (Append(parts, at), ...);
    return Label(std::move(parts));
  }

  const std::string& name() const { return name_; }
  dogged_type type() const { return type_; }

 private:
  friend class Builder;
  Array(const std::string& name, dogged_type type, bool has_blocks = false)
      : name_(name), type_(type), has_blocks_(has_blocks) {}

  static void Append(internal::LabelParts& parts, const Expr& at) {
    parts.text += "(" + at.plain() + ")";
  }
  static void Append(internal::LabelParts& parts, const All&) {
    parts.text += "(:)";
    parts.is_single = false;
  }

  std::string name_;
  dogged_type type_;
  bool has_blocks_;
};

// {x, 1, N-2}: both ends are of it; {x, 0, N-1, 2}: each second one.
struct Range {
  Index index;
  Expr first;
  Expr last;
  int step = 1;
};
using Over = std::initializer_list<Range>;

struct ArrayOptions {
  dogged_type type = DOGGED_DOUBLE;
  std::vector<Expr> block = {};  // extents of each value, if it is no number
  std::vector<Expr> place = {};  // labels of equal ones live on one agent
};

struct TaskOptions {
  std::optional<Expr> where = std::nullopt;
  std::string name = {};
  std::optional<Expr> priority = std::nullopt;
  std::optional<Expr> cost = std::nullopt;  // operations of a kernel
};

struct ReduceOptions {
  std::vector<Range> at = {};  // indices that stay
  std::optional<Expr> where = std::nullopt;
};

// A label that a task creates, and its value.
struct Creates {
  Label label;
  Expr value;
};

// A kernel with what it reads, in the order of its parameters.
struct KernelCall {
  std::string kernel;
  std::vector<internal::Formal> formals;
  std::vector<dogged_type> types;
  std::vector<bool> are_blocks;
  std::vector<Expr> arguments;  // but for those that are created
};

// A function of one's own, made by Builder::Kernel(): potrf(A(k, k, k)).
class Kernel {
 public:
  template <typename... Arguments>
  KernelCall operator()(const Arguments&... arguments) const {
    return {name_, formals_, types_, are_blocks_, {Expr(arguments)...}};
  }

 private:
  friend class Builder;
  std::string name_;
  std::vector<internal::Formal> formals_;
  std::vector<dogged_type> types_;
  std::vector<bool> are_blocks_;
};

// Collects a program; each method adds to its text. A place that is none of its
// caller's is given as the last argument.
class Builder {
 public:
  explicit Builder(const std::string& name = "program") : name_(name) {
    CheckName(name, {});
  }

  const std::string& name() const { return name_; }
  // The .dog text.
  std::string text() const {
    std::string out;
    for (const Line& line : lines_) out += line.text + "\n";
    return out;
  }

  // A parameter that has to be given.
  Expr Param(const std::string& name, Place place = Place::current()) {
    return At(place, [&] { return NewParam(name, std::nullopt, place); });
  }
  // Real, if its default is.
  Expr Param(const std::string& name, const Expr& otherwise,
             Place place = Place::current()) {
    return At(place, [&] { return NewParam(name, otherwise, place); });
  }

  dogged::Index Index(const std::string& name, Place place = Place::current()) {
    return At(place, [&] {
      Claim(name);
      return dogged::Index(name);
    });
  }

  // An array of doubles that reaches as far as it is used.
  dogged::Array Array(const std::string& name, Place place = Place::current()) {
    return At(place, [&] {
      Claim(name);
      return dogged::Array(name, DOGGED_DOUBLE);
    });
  }
  // An array that is declared with its ranges.
  dogged::Array Array(const std::string& name, Over over,
                      const ArrayOptions& options = {},
                      Place place = Place::current()) {
    return At(place, [&] {
      Claim(name);
      std::string text = "array " + name;
      for (const Range& range : over) text += "(" + Dim(range) + ")";
      text += std::string(" : ") + internal::TypeText(options.type);
      if (!options.block.empty()) text += " [" + List(options.block) + "]";
      if (!options.place.empty()) text += " place " + List(options.place);
      Add(text, place);
      return dogged::Array(name, options.type, !options.block.empty());
    });
  }

  // A task that creates u(x, t) with a value, for each point of `over`.
  void Task(const Label& label, const Expr& value, Over over,
            const TaskOptions& options = {}, Place place = Place::current()) {
    At(place, [&] { AddTask({{label, value}}, over, options, place); });
  }
  // Several labels at once: Task({{u(x, t), a}, {v(x, t), b}}, ...).
  void Task(std::initializer_list<Creates> made, Over over,
            const TaskOptions& options = {}, Place place = Place::current()) {
    At(place, [&] { AddTask(made, over, options, place); });
  }
  // A task whose value a kernel makes.
  void Task(const Label& label, const KernelCall& call, Over over,
            const TaskOptions& options = {}, Place place = Place::current()) {
    At(place, [&] { AddCall({label}, call, over, options, place); });
  }
  void Task(std::initializer_list<Label> labels, const KernelCall& call,
            Over over, const TaskOptions& options = {},
            Place place = Place::current()) {
    At(place, [&] { AddCall(labels, call, over, options, place); });
  }

  // A value of all labels of this form that no task creates.
  void Boundary(const Label& label, const Expr& value,
                Place place = Place::current()) {
    At(place,
       [&] { Add("boundary " + Name(label) + " = " + value.plain(), place); });
  }
  void Boundary(const Label& label, const Expr& value, const Expr& where,
                Place place = Place::current()) {
    At(place, [&] {
      Add("boundary " + Name(label) + " = " + value.plain() + Condition(where),
          place);
    });
  }
  // Makes a ring of an index: beyond its ends it begins anew.
  void Periodic(const Label& label, const dogged::Index& index,
                Place place = Place::current()) {
    At(place, [&] {
      Add("boundary " + Name(label) + " = periodic(" + index.name() + ")",
          place);
    });
  }

  // An array that a job gets; where it gets none, `otherwise`.
  void Input(const Label& label, Over over, Place place = Place::current()) {
    At(place,
       [&] { Add("input " + Name(label) + " for " + Dims(over), place); });
  }
  void Input(const Label& label, Over over, const Expr& otherwise,
             Place place = Place::current()) {
    At(place, [&] {
      Add("input " + Name(label) + " for " + Dims(over) + " else " +
              otherwise.plain(),
          place);
    });
  }

  // A number of many: sum, min, max, norm2 or normmax.
  void Reduce(const std::string& how, const Label& into, const Label& of,
              Over over, const ReduceOptions& options = {},
              Place place = Place::current()) {
    At(place, [&] {
      Add("reduce " + Name(into) + " = " + how + "(" + Name(of) + ")" +
              (options.at.empty() ? "" : " for " + Dims(options.at)) +
              " over " + Dims(over) + Condition(options.where),
          place);
    });
  }

  // A parameter that is found as the program runs: the first value of the range
  // for which Until() holds, else the last.
  Expr Repeat(const std::string& name, const Expr& first, const Expr& last,
              int step = 1, Place place = Place::current()) {
    return At(place, [&] {
      Claim(name);
      if (repeat_.has_value()) {
        internal::Refuse("a program repeats one parameter");
      }
      repeat_ = lines_.size();
      Add("repeat " + name + " = " + Ends(first, last, step) + " until ",
          place);
      return Expr({{name, nullptr}}, internal::kAtom, true);
    });
  }
  void Until(const Expr& condition, Place place = Place::current()) {
    At(place, [&] {
      if (!repeat_.has_value()) internal::Refuse("Repeat() comes first");
      Line& line = lines_[*repeat_];
      const size_t end = line.text.find(" until ") + 7;
      line = {line.text.substr(0, end) + condition.plain(), place};
    });
  }

  // Labels that are wanted: Result(u(kAll, T)).
  void Result(const Label& label, Place place = Place::current()) {
    At(place, [&] { Add("result " + Name(label), place); });
  }
  void Result(const Label& label, Over over, Place place = Place::current()) {
    At(place,
       [&] { Add("result " + Name(label) + " for " + Dims(over), place); });
  }

  // A function of one's own with DOGGED_KERNEL(name), in a shared library: the
  // one that this process has loaded, or the one at `library`.
  template <typename Return, typename... Parameters>
  dogged::Kernel Kernel(const std::string& name,
                        Return (*function)(Parameters...),
                        Place place = Place::current()) {
    return At(place, [&] {
      return NewKernel<Parameters...>(
          name,
          LibraryOf(name + "_kernel", reinterpret_cast<const void*>(function)),
          place);
    });
  }
  template <typename Function>
  dogged::Kernel Kernel(const std::string& name, const std::string& library,
                        Place place = Place::current()) {
    return At(place, [&] {
      return NewKernel(static_cast<Function*>(nullptr), name, library, place);
    });
  }

  // The statement that made this line of the text, from 1.
  std::optional<Place> PlaceOf(int line) const {
    int at = 1;
    for (const Line& one : lines_) {
      at += 1 + static_cast<int>(
                    std::count(one.text.begin(), one.text.end(), '\n'));
      if (line < at) return one.place;
    }
    return std::nullopt;
  }

 private:
  struct Line {
    std::string text;
    Place place;
  };

  // Names of what a task reads and creates.
  class Names {
   public:
    explicit Names(std::set<std::string> used) : used_(std::move(used)) {}

    std::string Fresh(const std::string& stem) {
      int number = 1;
      while (used_.contains(stem + std::to_string(number))) ++number;
      return *used_.insert(stem + std::to_string(number)).first;
    }
    std::string Read(const internal::LabelParts& label) {
      const std::string key = label.text + "\n" + label.reading;
      const auto it = names_.find(key);
      if (it != names_.end()) return it->second;
      const std::string name = Fresh(label.array + "_");
      names_[key] = name;
      using_ += "\n    " + label.text + " as " + name + label.reading;
      return name;
    }
    // The clause, if anything is read.
    std::string Using() const {
      return using_.empty() ? "" : "\n  using" + using_;
    }

   private:
    std::set<std::string> used_;
    std::map<std::string, std::string> names_;
    std::string using_;
  };

  // A mistake has the place of the statement.
  template <typename Make>
  static std::invoke_result_t<Make> At(const Place& place, const Make& make) {
    try {
      return make();
    } catch (const Error& error) {
      throw Error(error.status, error.message, place);
    }
  }

  void Add(const std::string& text, const Place& place) {
    lines_.push_back({text, place});
  }

  static void CheckName(const std::string& name,
                        const std::set<std::string>& taken) {
    static const std::set<std::string> reserved = {
        "include", "param",   "repeat", "array",  "place",    "input",
        "kernel",  "from",    "in",     "out",    "boundary", "periodic",
        "task",    "creates", "as",     "for",    "where",    "using",
        "else",    "code",    "call",   "cost",   "priority", "end",
        "reduce",  "over",    "result", "to",     "by",       "fastmath",
        "and",     "or",      "not",    "double", "float",    "int64",
        "until"};
    const auto is_letter = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const bool is_word =
        !name.empty() && is_letter(name[0]) &&
        std::all_of(name.begin(), name.end(), [&is_letter](char c) {
          return is_letter(c) || (c >= '0' && c <= '9');
        });
    if (!is_word) {
      internal::Refuse("a name is a word of letters, digits and _, not \"" +
                       name + "\"");
    }
    if (reserved.contains(name)) {
      internal::Refuse(name + " is a word of the language");
    }
    if (taken.contains(name)) {
      internal::Refuse("there is a " + name + " already");
    }
  }
  void Claim(const std::string& name) {
    CheckName(name, names_);
    names_.insert(name);
  }

  Expr NewParam(const std::string& name, const std::optional<Expr>& otherwise,
                const Place& place) {
    Claim(name);
    const bool is_integer = !otherwise.has_value() || otherwise->is_integer();
    std::string text = "param " + name + (is_integer ? "" : " : double");
    if (otherwise.has_value()) text += " = " + otherwise->plain();
    Add(text, place);
    return Expr({{name, nullptr}}, internal::kAtom, is_integer);
  }

  static std::string Name(const Label& label) { return label.plain(); }
  static std::string Condition(const std::optional<Expr>& condition) {
    return condition.has_value() ? " where " + condition->plain() : "";
  }
  static std::string List(const std::vector<Expr>& of) {
    std::string out;
    for (const Expr& one : of) out += (out.empty() ? "" : ", ") + one.plain();
    return out;
  }
  static std::string Ends(const Expr& first, const Expr& last, int step) {
    return first.plain() + ":" + last.plain() +
           (step == 1 ? "" : ":" + std::to_string(step));
  }
  static std::string Dim(const Range& range) {
    return range.index.name() + " = " +
           Ends(range.first, range.last, range.step);
  }
  template <typename Ranges>
  static std::string Dims(const Ranges& over) {
    std::string out;
    for (const Range& range : over) {
      out += (out.empty() ? "" : "  ") + Dim(range);
    }
    if (out.empty()) {
      internal::Refuse("ranges by index are wanted: {{x, 1, N-2}, {t, 1, T}}");
    }
    return out;
  }

  // Up to what it reads.
  std::string Head(const std::vector<std::pair<Label, std::string>>& outputs,
                   Names& names, Over over, const TaskOptions& options) {
    if (outputs.empty()) internal::Refuse("a task creates labels");
    std::string title = options.name;
    if (title.empty()) {
      title = names.Fresh("make_" + outputs[0].first.parts_->array + "_");
    } else {
      CheckName(title, names_);
    }
    names_.insert(title);
    std::string text = "task " + title + "\n  creates ";
    for (size_t i = 0; i < outputs.size(); ++i) {
      text += (i > 0 ? "  " : "") + Name(outputs[i].first) + " as " +
              outputs[i].second;
    }
    // A label without indices is made by one task.
    const bool has_index =
        outputs[0].first.text().find('(') != std::string::npos;
    if (has_index || over.size() > 0) text += "\n  for " + Dims(over);
    if (options.where.has_value()) {
      text += "\n  where " + options.where->plain();
    }
    return text;
  }
  static std::string Tail(const TaskOptions& options) {
    return (options.priority.has_value()
                ? "\n  priority " + options.priority->plain()
                : "") +
           "\nend task";
  }

  void AddTask(const std::vector<Creates>& made, Over over,
               const TaskOptions& options, const Place& place) {
    if (options.cost.has_value()) {
      internal::Refuse("cost is of kernels that are called");
    }
    Names names(names_);
    std::vector<std::pair<Label, std::string>> outputs;
    for (const Creates& one : made) {
      outputs.emplace_back(one.label,
                           names.Fresh("new_" + one.label.parts_->array + "_"));
    }
    std::string code = "\n  code";
    for (size_t i = 0; i < made.size(); ++i) {
      code += "\n    " + outputs[i].second + " = " +
              made[i].value.Text([&names](const internal::LabelParts& label) {
                return names.Read(label);
              });
    }
    std::string text = Head(outputs, names, over, options);
    text += names.Using() + code + "\n  end code" + Tail(options);
    Add(text, place);
  }

  void AddCall(const std::vector<Label>& made, const KernelCall& call,
               Over over, const TaskOptions& options, const Place& place) {
    Names names(names_);
    std::vector<std::pair<Label, std::string>> outputs;
    for (const Label& label : made) {
      outputs.emplace_back(label,
                           names.Fresh("new_" + label.parts_->array + "_"));
    }
    std::string arguments;
    size_t output = 0;
    size_t given = 0;
    for (size_t i = 0; i < call.formals.size(); ++i) {
      const bool is_out = call.formals[i] == internal::Formal::kOut;
      if (is_out ? output == made.size() : given == call.arguments.size()) {
        internal::Refuse(call.kernel + " wants more " +
                         (is_out ? "labels to create" : "arguments"));
      }
      arguments += i > 0 ? ", " : "";
      arguments += is_out ? Output(call, i, outputs[output++])
                          : Argument(call, i, call.arguments[given++], names);
    }
    if (output < made.size() || given < call.arguments.size()) {
      internal::Refuse(
          call.kernel + " takes fewer " +
          (output < made.size() ? "labels to create" : "arguments"));
    }
    std::string text = Head(outputs, names, over, options);
    text += names.Using() + "\n  call " + call.kernel + "(" + arguments + ")";
    if (options.cost.has_value()) text += " cost " + options.cost->plain();
    Add(text + Tail(options), place);
  }

  static void CheckType(const KernelCall& call, size_t at,
                        const internal::LabelParts& label) {
    if (call.are_blocks[at] && !label.has_blocks) {
      internal::Refuse(call.kernel + " takes a Block as argument " +
                       std::to_string(at + 1) + ", and " + label.text +
                       " is a number: declare " + label.array +
                       " with a block, or take a std::span");
    }
    if (call.types[at] == label.type) return;
    internal::Refuse(call.kernel + " takes " +
                     internal::TypeText(call.types[at]) + " as argument " +
                     std::to_string(at + 1) + ", and " + label.text + " is " +
                     internal::TypeText(label.type));
  }
  static std::string Output(const KernelCall& call, size_t at,
                            const std::pair<Label, std::string>& output) {
    CheckType(call, at, *output.first.parts_);
    return output.second;
  }
  static std::string Argument(const KernelCall& call, size_t at,
                              const Expr& given, Names& names) {
    if (call.formals[at] == internal::Formal::kNumber) return given.plain();
    const bool is_label =
        given.parts_.size() == 1 && given.parts_[0].label != nullptr;
    if (!is_label) {
      internal::Refuse(call.kernel + " reads a label as argument " +
                       std::to_string(at + 1) + ", and no formula");
    }
    CheckType(call, at, *given.parts_[0].label);
    return names.Read(*given.parts_[0].label);
  }

  template <typename Return, typename... Parameters>
  dogged::Kernel NewKernel(Return (*)(Parameters...), const std::string& name,
                           const std::string& library, const Place& place) {
    return NewKernel<Parameters...>(name, library, place);
  }
  template <typename... Parameters>
  dogged::Kernel NewKernel(const std::string& name, const std::string& library,
                           const Place& place) {
    const std::string symbol = name + "_kernel";
    Claim(symbol);
    if (library.find_first_of("\"\n") != std::string::npos) {
      internal::Refuse("the path of a library has neither \" nor a new line: " +
                       library);
    }
    dogged::Kernel out;
    out.name_ = symbol;
    (Formal<internal::Parameter<std::remove_cvref_t<Parameters>>>(out), ...);
    constexpr const char* kSorts[] = {"in a", "out b", "n"};
    std::string formals;
    for (size_t i = 0; i < out.formals_.size(); ++i) {
      formals += (i > 0 ? ", " : "") +
                 std::string(kSorts[static_cast<int>(out.formals_[i])]) +
                 std::to_string(i + 1);
    }
    Add("kernel " + symbol + "(" + formals + ") from \"" + library + "\"",
        place);
    return out;
  }
  template <typename Taken>
  static void Formal(dogged::Kernel& out) {
    using Of = typename Taken::ElementOf;
    out.formals_.push_back(Taken::kFormal);
    out.are_blocks_.push_back(Taken::kIsBlock);
    out.types_.push_back(std::same_as<Of, double>  ? DOGGED_DOUBLE
                         : std::same_as<Of, float> ? DOGGED_FLOAT
                                                   : DOGGED_INT64);
  }

  // The library of this process that has the symbol: of all of them, or else
  // the one that has the function, which others may not see.
  static std::string LibraryOf(const std::string& symbol,
                               const void* function) {
    const void* address = dlsym(RTLD_DEFAULT, symbol.c_str());
    Dl_info found = {};
    if (address == nullptr && dladdr(function, &found) != 0) {
      void* const library = dlopen(found.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
      if (library != nullptr) {
        address = dlsym(library, symbol.c_str());
        dlclose(library);
      }
    }
    const auto whole = [](const char* path) {
      const std::unique_ptr<char, decltype(&std::free)> out(
          realpath(path, nullptr), &std::free);
      return out == nullptr ? std::string() : std::string(out.get());
    };
    const bool is_found = address != nullptr && dladdr(address, &found) != 0 &&
                          found.dli_fname != nullptr;
    const std::string path = is_found ? whole(found.dli_fname) : "";
    if (path.empty() || path == whole("/proc/self/exe")) {
      internal::Refuse(symbol +
                       (is_found ? " lies in the program itself"
                                 : " is in no library of this process") +
                       ": agents call kernels in shared libraries, each with "
                       "DOGGED_KERNEL(); link one, or name it: "
                       "b.Kernel<decltype(f)>(\"f\", \"/path/libkernels.so\")");
    }
    return path;
  }

  std::string name_;
  std::vector<Line> lines_;
  std::set<std::string> names_;
  std::optional<size_t> repeat_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_CLIENT_DOGGED_BUILDER_HPP_
