#include "dsl/kernels/interpreter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "dsl/text/functions.h"
#include "runtime/base/check.h"

namespace dogged::dsl {
namespace {

// Long enough to hide the dispatch, short enough that the registers of a code
// block stay in the first-level cache.
constexpr int64_t kChunk = 128;

// Words of a register, which has one value per point of the chunk. Bools are
// int64, floats take 4 bytes.
struct alignas(64) Line {
  std::array<int64_t, 8> words;
};

// Entries of a frame for each node, load or store: most code blocks have them
// on the stack, where all of a single point is.
template <typename T>
using Few = absl::InlinedVector<T, 16>;

template <typename T>
const T* As(const void* data) {
  return static_cast<const T*>(data);
}

template <typename Out, typename In, typename F>
void Map1(void* out, const void* a, int64_t n, F f) {
  Out* to = static_cast<Out*>(out);
  const In* from = As<In>(a);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(from[i]));
}

template <typename Out, typename In, typename F>
void Map2(void* out, const void* a, const void* b, int64_t n, F f) {
  Out* to = static_cast<Out*>(out);
  const In* x = As<In>(a);
  const In* y = As<In>(b);
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Out>(f(x[i], y[i]));
}

template <typename T>
void Fill(void* out, int64_t n, T value) {
  std::fill_n(static_cast<T*>(out), n, value);
}

// The machine word in which T is added and multiplied: unsigned for integers,
// which wrap around.
template <typename T>
struct Word {
  using type = T;
};
template <>
struct Word<int64_t> {
  using type = uint64_t;
};

template <typename T>
bool Arithmetic(const IrNode& node, void* out, const void* a, const void* b,
                int64_t n) {
  using W = typename Word<T>::type;
  switch (node.op) {
    case IrOp::kNegate:
      // 0 - x would lose the sign of zero.
      if constexpr (std::is_same_v<T, int64_t>) {
        Map1<W, W>(out, a, n, [](W x) { return W{0} - x; });
      } else {
        Map1<T, T>(out, a, n, [](T x) { return -x; });
      }
      return true;
    case IrOp::kAdd:
      Map2<W, W>(out, a, b, n, [](W x, W y) { return x + y; });
      return true;
    case IrOp::kSubtract:
      Map2<W, W>(out, a, b, n, [](W x, W y) { return x - y; });
      return true;
    case IrOp::kMultiply:
      Map2<W, W>(out, a, b, n, [](W x, W y) { return x * y; });
      return true;
    case IrOp::kDivide:
      if constexpr (std::is_same_v<T, int64_t>) {
        Map2<T, T>(out, a, b, n, WrapDivide);
      } else {
        Map2<T, T>(out, a, b, n, [](T x, T y) { return x / y; });
      }
      return true;
    case IrOp::kMin:
      Map2<T, T>(out, a, b, n, MinOf<T>);
      return true;
    case IrOp::kMax:
      Map2<T, T>(out, a, b, n, MaxOf<T>);
      return true;
    case IrOp::kAbs:
      if constexpr (std::is_same_v<T, int64_t>) {
        Map1<W, T>(out, a, n, [](T x) {
          return x < 0 ? W{0} - static_cast<W>(x) : static_cast<W>(x);
        });
      } else {
        Map1<T, T>(out, a, n, [](T x) { return std::fabs(x); });
      }
      return true;
    default:
      return false;
  }
}

template <typename T>
void Compare(IrOp op, void* out, const void* a, const void* b, int64_t n) {
  if (op == IrOp::kLess) {
    Map2<int64_t, T>(out, a, b, n, [](T x, T y) { return x < y; });
  } else if (op == IrOp::kLessEqual) {
    Map2<int64_t, T>(out, a, b, n, [](T x, T y) { return x <= y; });
  } else if (op == IrOp::kEqual) {
    Map2<int64_t, T>(out, a, b, n, [](T x, T y) { return x == y; });
  } else {
    Map2<int64_t, T>(out, a, b, n, [](T x, T y) { return x != y; });
  }
}

void CompareAny(IrType type, IrOp op, void* out, const void* a, const void* b,
                int64_t n) {
  if (type == IrType::kDouble) return Compare<double>(op, out, a, b, n);
  if (type == IrType::kFloat) return Compare<float>(op, out, a, b, n);
  Compare<int64_t>(op, out, a, b, n);
}

template <typename T>
void Select(void* out, const void* c, const void* a, const void* b, int64_t n) {
  T* to = static_cast<T*>(out);
  const int64_t* condition = As<int64_t>(c);
  const T* x = As<T>(a);
  const T* y = As<T>(b);
  for (int64_t i = 0; i < n; ++i) to[i] = condition[i] != 0 ? x[i] : y[i];
}

template <typename T>
void ConvertTo(IrType from, void* out, const void* a, int64_t n) {
  switch (from) {
    case IrType::kDouble:
      if constexpr (std::is_same_v<T, int64_t>) {
        Map1<T, double>(out, a, n, IntegerOf);
      } else {
        Map1<T, double>(out, a, n, [](double x) { return x; });
      }
      return;
    case IrType::kFloat:
      if constexpr (std::is_same_v<T, int64_t>) {
        Map1<T, float>(out, a, n, IntegerOf);
      } else {
        Map1<T, float>(out, a, n, [](float x) { return x; });
      }
      return;
    case IrType::kInt64:
    case IrType::kBool:
      Map1<T, int64_t>(out, a, n, [](int64_t x) { return x; });
      return;
  }
}

template <typename T>
void Load(void* out, const void* source, int64_t stride, const int64_t* guard,
          const void* otherwise, int64_t n) {
  T* to = static_cast<T*>(out);
  const T* from = As<T>(source);
  if (guard == nullptr) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
    return;
  }
  const T* other = As<T>(otherwise);
  for (int64_t i = 0; i < n; ++i) {
    to[i] = guard[i] != 0 ? from[i * stride] : other[i];
  }
}

template <typename T>
void Store(void* target, int64_t stride, const void* value, const int64_t* mask,
           int64_t n) {
  T* to = static_cast<T*>(target);
  const T* from = As<T>(value);
  for (int64_t i = 0; i < n; ++i) {
    if (mask == nullptr || mask[i] != 0) to[i * stride] = from[i];
  }
}

class Interpreter : public BoxFunction {
 public:
  explicit Interpreter(CodeBlock block);
  void Run(const BoxCall& call) const override;

 private:
  struct Frame {
    const BoxCall* call;
    int64_t chunk;               // points of a row at a time
    size_t lines;                // of a register
    Few<Line> registers;         // of each node
    Few<const void*> values;     // of each node, for this chunk
    Few<const char*> load_rows;  // at the row's first point
    Few<char*> store_rows;
    IndexVector index;  // of the chunk's first point
    int64_t first = 0;  // of the chunk, counted in the row
    int64_t n = 0;

    void* Register(size_t node) { return &registers[node * lines]; }
  };
  void StartRow(Frame& frame) const;
  void RunChunk(Frame& frame) const;
  void Evaluate(size_t position, Frame& frame) const;
  void EvaluateLoad(size_t position, Frame& frame) const;
  void EvaluateMath(const IrNode& node, void* out, Frame& frame) const;
  int64_t Stride(const BoxCall& call, size_t operand, int dimension) const {
    return call.strides[operand * static_cast<size_t>(block_.index_count) +
                        static_cast<size_t>(dimension)];
  }

  CodeBlock block_;
  // Nodes that change within a row; the others are computed once per row.
  std::vector<bool> varies_;
};

Interpreter::Interpreter(CodeBlock block) : block_(std::move(block)) {
  for (const IrNode& node : block_.nodes) {
    bool varies =
        node.op == IrOp::kLoad ||
        (node.op == IrOp::kIndex && node.integer == block_.index_count - 1);
    for (const int32_t operand : {node.a, node.b, node.c}) {
      varies |= operand >= 0 && varies_[operand];
    }
    varies_.push_back(varies);
  }
}

void Interpreter::Run(const BoxCall& call) const {
  const int last = block_.index_count - 1;
  const int64_t chunk = std::min(kChunk, call.count[last]);
  const auto lines = static_cast<size_t>((chunk + 7) / 8);
  Frame frame{.call = &call,
              .chunk = chunk,
              .lines = lines,
              .registers = Few<Line>(block_.nodes.size() * lines),
              .values = Few<const void*>(block_.nodes.size()),
              .load_rows = Few<const char*>(block_.loads.size()),
              .store_rows = Few<char*>(block_.stores.size()),
              .index = {}};
  for (int d = 0; d <= last; ++d) frame.index.push_back(call.lower[d]);
  while (true) {
    StartRow(frame);
    for (int64_t done = 0; done < call.count[last]; done += chunk) {
      frame.first = done;
      frame.n = std::min(chunk, call.count[last] - done);
      frame.index[last] = call.lower[last] + done;
      RunChunk(frame);
    }
    int d = last - 1;
    while (d >= 0 && frame.index[d] + 1 == call.lower[d] + call.count[d]) {
      frame.index[d] = call.lower[d];
      --d;
    }
    if (d < 0) return;
    ++frame.index[d];
  }
}

void Interpreter::StartRow(Frame& frame) const {
  const BoxCall& call = *frame.call;
  const size_t store_count = block_.stores.size();
  const auto offset_of = [&](size_t operand) {
    int64_t offset = 0;
    for (int d = 0; d + 1 < block_.index_count; ++d) {
      offset += (frame.index[d] - call.lower[d]) * Stride(call, operand, d);
    }
    return offset;
  };
  for (size_t s = 0; s < store_count; ++s) {
    frame.store_rows[s] = static_cast<char*>(call.stores[s]) +
                          offset_of(s) * ElementBytes(block_.stores[s].element);
  }
  for (size_t l = 0; l < block_.loads.size(); ++l) {
    const auto* base = static_cast<const char*>(call.loads[l]);
    frame.load_rows[l] = base == nullptr
                             ? nullptr
                             : base + offset_of(store_count + l) *
                                          ElementBytes(block_.loads[l].element);
  }
  frame.n = frame.chunk;
  for (size_t i = 0; i < block_.nodes.size(); ++i) {
    if (!varies_[i]) Evaluate(i, frame);
  }
}

void Interpreter::RunChunk(Frame& frame) const {
  for (size_t i = 0; i < block_.nodes.size(); ++i) {
    if (varies_[i]) Evaluate(i, frame);
  }
  const int last = block_.index_count - 1;
  const int64_t* mask =
      block_.mask < 0 ? nullptr : As<int64_t>(frame.values[block_.mask]);
  for (size_t s = 0; s < block_.stores.size(); ++s) {
    const IrStore& store = block_.stores[s];
    const int64_t stride = Stride(*frame.call, s, last);
    char* to = frame.store_rows[s] +
               frame.first * stride * ElementBytes(store.element);
    const void* value = frame.values[store.node];
    if (store.element == ElementType::kFloat) {
      Store<float>(to, stride, value, mask, frame.n);
    } else {
      // Eight bytes are eight bytes.
      Store<int64_t>(to, stride, value, mask, frame.n);
    }
  }
}

void Interpreter::EvaluateLoad(size_t position, Frame& frame) const {
  const IrNode& node = block_.nodes[position];
  const int64_t l = node.integer;
  const int64_t stride =
      Stride(*frame.call, block_.stores.size() + l, block_.index_count - 1);
  const char* from = frame.load_rows[l];
  if (from != nullptr) {
    from += frame.first * stride * ElementBytes(block_.loads[l].element);
  }
  if (node.a < 0 && stride == 1) {
    frame.values[position] = from;
    return;
  }
  const int64_t* guard =
      node.a < 0 ? nullptr : As<int64_t>(frame.values[node.a]);
  const void* otherwise = node.b < 0 ? nullptr : frame.values[node.b];
  void* const out = frame.Register(position);
  frame.values[position] = out;
  if (node.type == IrType::kFloat) {
    Load<float>(out, from, stride, guard, otherwise, frame.n);
  } else {
    Load<int64_t>(out, from, stride, guard, otherwise, frame.n);
  }
}

void Interpreter::EvaluateMath(const IrNode& node, void* out,
                               Frame& frame) const {
  const MathFunction& function = MathFunctions()[node.integer];
  const void* a = frame.values[node.a];
  const bool is_double = node.type == IrType::kDouble;
  if (function.argument_count == 1) {
    if (is_double) {
      Map1<double, double>(out, a, frame.n, function.of_double);
    } else {
      Map1<float, float>(out, a, frame.n, function.of_float);
    }
    return;
  }
  const void* b = frame.values[node.b];
  if (is_double) {
    Map2<double, double>(out, a, b, frame.n, function.of_doubles);
  } else {
    Map2<float, float>(out, a, b, frame.n, function.of_floats);
  }
}

void Interpreter::Evaluate(size_t position, Frame& frame) const {
  const IrNode& node = block_.nodes[position];
  void* const out = frame.Register(position);
  const auto value = [&frame](int32_t operand) -> const void* {
    return operand < 0 ? nullptr : frame.values[operand];
  };
  const void* a = value(node.a);
  const void* b = value(node.b);
  const int64_t n = frame.n;
  frame.values[position] = out;
  const IrType operand_type =
      node.a < 0 ? node.type : block_.nodes[node.a].type;
  switch (node.op) {
    case IrOp::kConstant:
      if (node.type == IrType::kDouble) return Fill<double>(out, n, node.real);
      if (node.type == IrType::kFloat) {
        return Fill<float>(out, n, static_cast<float>(node.real));
      }
      return Fill<int64_t>(out, n, node.integer);
    case IrOp::kIndex: {
      const auto d = static_cast<int>(node.integer);
      const int64_t step = d == block_.index_count - 1 ? 1 : 0;
      const int64_t first = frame.index[d];
      for (int64_t i = 0; i < n; ++i)
        static_cast<int64_t*>(out)[i] = first + step * i;
      return;
    }
    case IrOp::kLoad:
      return EvaluateLoad(position, frame);
    case IrOp::kConvert:
      if (node.type == IrType::kDouble) {
        return ConvertTo<double>(operand_type, out, a, n);
      }
      if (node.type == IrType::kFloat) {
        return ConvertTo<float>(operand_type, out, a, n);
      }
      return ConvertTo<int64_t>(operand_type, out, a, n);
    case IrOp::kNot:
      return Map1<int64_t, int64_t>(out, a, n, [](int64_t x) { return !x; });
    case IrOp::kModulo:
      return Map2<int64_t, int64_t>(out, a, b, n, WrapModulo);
    case IrOp::kAnd:
      return Map2<int64_t, int64_t>(out, a, b, n,
                                    [](int64_t x, int64_t y) { return x & y; });
    case IrOp::kOr:
      return Map2<int64_t, int64_t>(out, a, b, n,
                                    [](int64_t x, int64_t y) { return x | y; });
    case IrOp::kLess:
    case IrOp::kLessEqual:
    case IrOp::kEqual:
    case IrOp::kNotEqual:
      return CompareAny(operand_type, node.op, out, a, b, n);
    case IrOp::kSelect:
      if (node.type == IrType::kFloat) {
        return Select<float>(out, a, b, value(node.c), n);
      }
      return Select<int64_t>(out, a, b, value(node.c), n);
    case IrOp::kMath:
      return EvaluateMath(node, out, frame);
    default:
      break;
  }
  const bool is_known =
      node.type == IrType::kDouble  ? Arithmetic<double>(node, out, a, b, n)
      : node.type == IrType::kFloat ? Arithmetic<float>(node, out, a, b, n)
                                    : Arithmetic<int64_t>(node, out, a, b, n);
  DOGGED_CHECK(is_known) << "operation " << static_cast<int>(node.op);
}

}  // namespace

std::unique_ptr<BoxFunction> Interpret(CodeBlock block) {
  return std::make_unique<Interpreter>(std::move(block));
}

}  // namespace dogged::dsl
