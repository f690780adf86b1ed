#include "dsl/kernels/c_kernels.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "dsl/kernels/c_point.h"

namespace dogged::dsl {
namespace {

// Writes one function.
class Emitter {
 public:
  Emitter(const CodeBlock& block, std::string symbol);
  std::string Text();

 private:
  void OpenLoops();
  std::string Body() const;
  std::string Row(size_t operand, absl::string_view pointer) const;
  std::string At(size_t operand, absl::string_view row, Step step) const;
  void Line(int indent, absl::string_view text) {
    absl::StrAppend(&out_, std::string(indent, ' '), text, "\n");
  }

  const CodeBlock& block_;
  std::string symbol_;
  int last_;  // the innermost index
  std::string out_;
};

Emitter::Emitter(const CodeBlock& block, std::string symbol)
    : block_(block), symbol_(std::move(symbol)), last_(block.index_count - 1) {}

std::string Emitter::Row(size_t operand, absl::string_view pointer) const {
  std::string out(pointer.data(), pointer.size());
  for (int d = 0; d < last_; ++d) {
    absl::StrAppend(&out, " + i", d, " * strides[",
                    operand * static_cast<size_t>(block_.index_count) +
                        static_cast<size_t>(d),
                    "]");
  }
  return out;
}

std::string Emitter::At(size_t operand, absl::string_view row,
                        Step step) const {
  switch (step) {
    case Step::kUnit:
      return absl::StrCat(row, "[i", last_, "]");
    case Step::kNone:
      return absl::StrCat(row, "[0]");
    case Step::kStrided:
      break;
  }
  return absl::StrCat(row, "[i", last_, " * strides[",
                      operand * static_cast<size_t>(block_.index_count) +
                          static_cast<size_t>(last_),
                      "]]");
}

void Emitter::OpenLoops() {
  for (int d = 0; d < last_; ++d) {
    Line(2 + 2 * d, absl::StrFormat("for (int64_t i%d = 0; i%d < count[%d]; "
                                    "++i%d) {",
                                    d, d, d, d));
  }
  const int indent = 2 + 2 * last_;
  for (size_t s = 0; s < block_.stores.size(); ++s) {
    const auto type = CName(IrTypeOf(block_.stores[s].element));
    Line(indent,
         absl::StrCat(type, "* restrict out", s, " = ",
                      Row(s, absl::StrCat("(", type, "*)stores[", s, "]")),
                      ";"));
  }
  for (size_t l = 0; l < block_.loads.size(); ++l) {
    const auto type = CName(IrTypeOf(block_.loads[l].element));
    Line(indent,
         absl::StrCat("const ", type, "* in", l, " = ",
                      Row(block_.stores.size() + l,
                          absl::StrCat("(const ", type, "*)loads[", l, "]")),
                      ";"));
  }
  out_ += "#pragma GCC ivdep\n";
  Line(indent,
       absl::StrFormat("for (int64_t i%d = 0; i%d < count[%d]; ++i%d) {", last_,
                       last_, last_, last_));
}

std::string Emitter::Body() const {
  const CPlaces places{
      .index =
          [](int64_t d) { return absl::StrFormat("(lower[%d] + i%d)", d, d); },
      .load =
          [this](size_t l) {
            return At(block_.stores.size() + l, absl::StrCat("in", l),
                      block_.loads[l].step);
          },
      .store =
          [this](size_t s) {
            return At(s, absl::StrCat("out", s), block_.stores[s].step);
          }};
  return CPoint(block_, places, 4 + 2 * last_);
}

std::string Emitter::Text() {
  if (!block_.comment.empty()) {
    absl::StrAppend(&out_, "/* ", block_.comment, " */\n");
  }
  absl::StrAppend(&out_, "void ", symbol_,
                  "(const int64_t* lower, const int64_t* count,\n"
                  "    void* const* stores, const void* const* loads,\n"
                  "    const int64_t* strides) {\n"
                  "  (void)lower, (void)loads;\n");
  OpenLoops();
  out_ += Body();
  for (int d = last_; d >= 0; --d) Line(2 + 2 * d, "}");
  out_ += "}\n";
  return std::move(out_);
}

class CompiledFunction : public BoxFunction {
 public:
  using Address = void (*)(const int64_t*, const int64_t*, void* const*,
                           const void* const*, const int64_t*);
  CompiledFunction(FindSymbol library, Address address)
      : library_(std::move(library)), address_(address) {}
  void Run(const BoxCall& call) const override {
    address_(call.lower, call.count, call.stores, call.loads, call.strides);
  }

 private:
  FindSymbol library_;  // keeps the code mapped
  Address address_;
};

// MaxOf() and MinOf() of functions.h.
std::string Extremes(absl::string_view type, absl::string_view suffix) {
  const auto one = [&](absl::string_view name, absl::string_view chosen,
                       absl::string_view sum) {
    return absl::StrCat(
        "static inline ", type, " dogged_", name, suffix, "(", type, " a, ",
        type, " b) {\n  const ", type, " sum = ", sum, ";\n  const ", type,
        " out = a == b ? __builtin_copysign", suffix, "(a, sum) : (", chosen,
        ");\n  return __builtin_isunordered(a, b) ? sum : out;\n}\n");
  };
  return absl::StrCat(one("max", "a < b ? b : a", "a + b"),
                      one("min", "b < a ? b : a", "-(-a - b)"));
}

}  // namespace

std::string CPrelude() {
  std::string out =
      "#include <stdint.h>\n\n"
      "#if defined(__AVX512F__) && !defined(__clang__)\n"
      "#pragma GCC target(\"prefer-vector-width=512\")\n"
      "#endif\n\n"
      "static inline int64_t dogged_divide(int64_t a, int64_t b) {\n"
      "  if (b == 0) return 0;\n"
      "  if (b == -1) return -a;\n"
      "  return a / b - (a % b != 0 && (a < 0) != (b < 0));\n"
      "}\n"
      "static inline int64_t dogged_modulo(int64_t a, int64_t b) {\n"
      "  if (b == 0 || b == -1) return 0;\n"
      "  const int64_t rest = a % b;\n"
      "  return rest + (rest != 0 && (rest < 0) != (b < 0) ? b : 0);\n"
      "}\n"
      "static inline int64_t dogged_least(int64_t a, int64_t b) {\n"
      "  return a < b ? a : b;\n"
      "}\n"
      "static inline int64_t dogged_most(int64_t a, int64_t b) {\n"
      "  return a > b ? a : b;\n"
      "}\n"
      "static inline int64_t dogged_int(double a) {\n"
      "  return a >= -0x1p63 && a < 0x1p63 ? (int64_t)a : INT64_MIN;\n"
      "}\n";
  absl::StrAppend(&out, Extremes("double", ""), Extremes("float", "f"));
  out += "\n";
  for (const MathFunction& function : MathFunctions()) {
    if (function.is_exact) continue;
    const bool is_binary = function.argument_count == 2;
    absl::StrAppend(&out, "extern double ", function.name,
                    is_binary ? "(double, double)" : "(double)",
                    " __attribute__((const));\n", "extern float ",
                    function.name, is_binary ? "f(float, float)" : "f(float)",
                    " __attribute__((const));\n");
  }
  return out;
}

std::string EmitC(const CodeBlock& block, const std::string& symbol) {
  return Emitter(block, symbol).Text();
}

absl::StatusOr<std::unique_ptr<BoxFunction>> Compiled(
    const FindSymbol& find, const std::string& symbol) {
  void* address = find(symbol);
  if (address == nullptr) {
    return absl::InternalError(
        absl::StrCat("the compiled kernels have no function ", symbol));
  }
  return std::make_unique<CompiledFunction>(
      find, reinterpret_cast<CompiledFunction::Address>(address));
}

}  // namespace dogged::dsl
