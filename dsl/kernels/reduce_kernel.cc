#include "dsl/kernels/reduce_kernel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/functional/function_ref.h"
#include "dsl/ir/nest_body.h"
#include "dsl/kernels/exact_sum.h"
#include "runtime/base/status.h"
#include "runtime/graph/affine.h"
#include "runtime/graph/program.h"

namespace dogged::dsl {
namespace {

bool IsExact(ReduceKind kind, ElementType element) {
  return kind == ReduceKind::kNorm2 ||
         (kind == ReduceKind::kSum && element != ElementType::kInt64);
}

// A reduction under way. Which member counts depends on kind and type.
class Partial {
 public:
  Partial(ReduceKind kind, ElementType element)
      : kind_(kind), element_(element) {
    const double infinity = std::numeric_limits<double>::infinity();
    if (kind == ReduceKind::kMin) {
      real_ = infinity;
      integer_ = std::numeric_limits<int64_t>::max();
    } else if (kind == ReduceKind::kMax) {
      real_ = -infinity;
      integer_ = std::numeric_limits<int64_t>::min();
    }
  }

  // Adds `count` elements.
  void AddElements(const void* elements, int64_t count) {
    switch (element_) {
      case ElementType::kDouble:
        AddReals(static_cast<const double*>(elements), count);
        break;
      case ElementType::kFloat:
        AddReals(static_cast<const float*>(elements), count);
        break;
      case ElementType::kInt64:
        AddIntegers(static_cast<const int64_t*>(elements), count);
        break;
    }
  }

  // Adds the Take() of another partial reduction.
  void Join(const Value& partial) {
    if (IsExact(kind_, element_)) {
      sum_.Add(partial.span<int64_t>());
    } else {
      AddElements(partial.data(), 1);
    }
  }

  Value Take() {
    if (!IsExact(kind_, element_)) return Root();
    Value out = Value::Allocate(ElementType::kInt64, {ExactSum::kWords});
    const auto& words = sum_.Words();
    std::copy(words.begin(), words.end(), out.mutable_span<int64_t>().begin());
    return out;
  }

  // The number that counts, where sums are not exact.
  void Put(const void* number) {
    if (element_ == ElementType::kInt64) {
      integer_ = *static_cast<const int64_t*>(number);
    } else if (element_ == ElementType::kFloat) {
      real_ = *static_cast<const float*>(number);
    } else {
      real_ = *static_cast<const double*>(number);
    }
  }
  void Give(void* number) const {
    if (element_ == ElementType::kInt64) {
      *static_cast<int64_t*>(number) = integer_;
    } else {
      GiveReal(real_, element_, number);
    }
  }
  static void GiveReal(double real, ElementType element, void* number) {
    if (element == ElementType::kFloat) {
      *static_cast<float*>(number) = static_cast<float>(real);
    } else {
      *static_cast<double*>(number) = real;
    }
  }

  Value Root() {
    Value out = Value::Allocate(element_, {});
    PutRoot(out.mutable_data());
    return out;
  }
  void PutRoot(void* number) {
    double real = real_;
    if (IsExact(kind_, element_)) real = sum_.Round();
    if (kind_ == ReduceKind::kNorm2) real = std::sqrt(real);
    if (element_ == ElementType::kInt64) {
      *static_cast<int64_t*>(number) = integer_;
    } else {
      GiveReal(real, element_, number);
    }
  }

 private:
  template <typename T>
  void AddReals(const T* elements, int64_t count) {
    switch (kind_) {
      case ReduceKind::kSum:
        for (int64_t i = 0; i < count; ++i) sum_.Add(elements[i]);
        break;
      case ReduceKind::kNorm2:
        for (int64_t i = 0; i < count; ++i) {
          const double x = elements[i];
          sum_.Add(x * x);
        }
        break;
      case ReduceKind::kMin:
        for (int64_t i = 0; i < count; ++i) real_ = Less(elements[i], real_);
        break;
      case ReduceKind::kMax:
        for (int64_t i = 0; i < count; ++i) real_ = -Less(-elements[i], -real_);
        break;
      case ReduceKind::kNormMax:
        for (int64_t i = 0; i < count; ++i) {
          real_ = -Less(-std::fabs(elements[i]), -real_);
        }
        break;
    }
    // All NaNs become one, whatever their sign and bits.
    if (std::isnan(real_)) real_ = std::numeric_limits<double>::quiet_NaN();
  }
  // The smaller one; -0 is smaller than 0, and NaN wins.
  static double Less(double a, double b) {
    if (std::isnan(a)) return a;
    if (a < b) return a;
    return a == b && std::signbit(a) ? a : b;
  }

  void AddIntegers(const int64_t* elements, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t x = elements[i];
      switch (kind_) {
        case ReduceKind::kSum:  // modulo 2^64, as in code
          integer_ = static_cast<int64_t>(static_cast<uint64_t>(integer_) +
                                          static_cast<uint64_t>(x));
          break;
        case ReduceKind::kMin:
          integer_ = std::min(integer_, x);
          break;
        case ReduceKind::kMax:
          integer_ = std::max(integer_, x);
          break;
        case ReduceKind::kNorm2:
        case ReduceKind::kNormMax:
          break;  // Check has refused them
      }
    }
  }

  ReduceKind kind_;
  ElementType element_;
  ExactSum sum_;
  double real_ = 0;
  int64_t integer_ = 0;
};

class ReduceKernel : public Kernel {
 public:
  explicit ReduceKernel(ReduceBody body) : body_(std::move(body)) {}

  ByteCounts OutputBytes(const Task&) const override {
    return {body_.step == ReduceBody::Step::kRoot
                ? ElementBytes(body_.element)
                : PartialBytes(body_.kind, body_.element)};
  }

  bool Fits(const TaskClass& c) const override {
    const int indices = c.domain.size();
    return c.creates.size() == 1 &&
           (body_.time_dim < 0 ||
            (body_.block_index < indices && body_.time_step_index < indices));
  }

  absl::Status Run(KernelCall& call) const override {
    Partial partial(body_.kind, body_.element);
    const bool joins = body_.step == ReduceBody::Step::kCombine ||
                       body_.step == ReduceBody::Step::kRoot;
    for (const Value& input : call.inputs) {
      if (input.IsNone()) continue;
      const bool is_taken = joins ? JoinPartial(input, partial)
                                  : AddTile(input, call.task, partial);
      if (!is_taken) {
        return absl::InvalidArgumentError(
            "an input that does not fit its reduction");
      }
    }
    call.outputs[0] =
        body_.step == ReduceBody::Step::kRoot ? partial.Root() : partial.Take();
    call.outputs[0].UnifyNans();
    return absl::OkStatus();
  }

 private:
  // False if `input` is none of this reduction's partials: a job may come from
  // anybody.
  bool JoinPartial(const Value& input, Partial& partial) const {
    const bool is_exact = IsExact(body_.kind, body_.element);
    if (input.type() != PartialElement(body_.kind, body_.element) ||
        input.element_count() != (is_exact ? ExactSum::kWords : 1)) {
      return false;
    }
    partial.Join(input);
    return true;
  }
  // Position of the task's time step among those that a tile holds.
  int64_t TimeStepOf(const Task& task) const {
    const int64_t begin =
        body_.origin + task.index[body_.block_index] * body_.tile_depth;
    // The block holds the wanted time steps from the first one on.
    const int64_t wanted = body_.first_time_step;
    return (begin + task.index[body_.time_step_index] - wanted) /
               body_.time_interval -
           CeilDiv(std::max(begin - wanted, int64_t{0}), body_.time_interval);
  }
  // A scalar is a tile of one point. False if `tile` holds other elements or
  // not the time step wanted.
  bool AddTile(const Value& tile, const Task& task, Partial& partial) const {
    if (tile.type() != body_.element) return false;
    const auto* data = static_cast<const char*>(tile.data());
    if (body_.time_dim < 0) {
      partial.AddElements(data, tile.element_count());
      return true;
    }
    const Shape& shape = tile.shape();
    if (body_.time_dim >= shape.size()) return false;
    const int64_t time_steps = shape[body_.time_dim];
    const int64_t time_step = TimeStepOf(task);
    if (time_step < 0 || time_step >= time_steps) return false;
    int64_t rows = 1;
    int64_t row = 1;
    for (int d = 0; d < shape.size(); ++d) {
      if (d < body_.time_dim) rows *= shape[d];
      if (d > body_.time_dim) row *= shape[d];
    }
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t at = (r * time_steps + time_step) * row;
      partial.AddElements(data + at * ElementBytes(body_.element), row);
    }
    return true;
  }

  ReduceBody body_;
};

}  // namespace

// A sum in memory that others may have cleared, or made.
static_assert(std::is_trivially_copyable_v<ExactSum>);
static_assert(sizeof(ExactSum) % sizeof(int64_t) == 0);

int64_t AccumulatorWidth(ReduceKind kind, ElementType element) {
  return IsExact(kind, element) ? sizeof(ExactSum) / sizeof(int64_t) : 1;
}

static void RunExactStep(const NestReduce& reduce, void* accumulator,
                         void* value) {
  auto& sum = *static_cast<ExactSum*>(accumulator);
  switch (reduce.step) {
    case NestReduce::Step::kClear:
      sum = ExactSum();
      return;
    case NestReduce::Step::kAdd: {
      const double x = reduce.element == ElementType::kFloat
                           ? *static_cast<const float*>(value)
                           : *static_cast<const double*>(value);
      sum.Add(reduce.kind == ReduceKind::kNorm2 ? x * x : x);
      return;
    }
    case NestReduce::Step::kJoin:
      sum.Add({static_cast<const int64_t*>(value), ExactSum::kWords});
      return;
    case NestReduce::Step::kFinish:
      sum.Words();
      return;
    case NestReduce::Step::kRound: {
      const double real = sum.Round();
      Partial::GiveReal(
          reduce.kind == ReduceKind::kNorm2 ? std::sqrt(real) : real,
          reduce.element, value);
      return;
    }
  }
}

void RunReduceStep(int64_t step, int64_t kind, int64_t element,
                   void* accumulator, void* value) {
  const NestReduce reduce{.step = static_cast<NestReduce::Step>(step),
                          .kind = static_cast<ReduceKind>(kind),
                          .element = static_cast<ElementType>(element)};
  if (IsExact(reduce.kind, reduce.element)) {
    RunExactStep(reduce, accumulator, value);
    return;
  }
  Partial partial(reduce.kind, reduce.element);
  switch (reduce.step) {
    case NestReduce::Step::kClear:
      partial.Give(accumulator);
      return;
    case NestReduce::Step::kAdd:
    case NestReduce::Step::kJoin:
      partial.Put(accumulator);
      partial.AddElements(value, 1);
      partial.Give(accumulator);
      return;
    case NestReduce::Step::kFinish:
      return;
    case NestReduce::Step::kRound:
      partial.Put(accumulator);
      partial.Give(value);
      return;
  }
}

ElementType PartialElement(ReduceKind kind, ElementType element) {
  return IsExact(kind, element) ? ElementType::kInt64 : element;
}

int64_t PartialBytes(ReduceKind kind, ElementType element) {
  return (IsExact(kind, element) ? ExactSum::kWords : 1) *
         ElementBytes(PartialElement(kind, element));
}

Value ReduceAlong(ReduceKind kind, ElementType element,
                  absl::Span<const void* const> operands, int64_t count) {
  Partial partial(kind, element);
  for (const void* const operand : operands) {
    partial.AddElements(operand, count);
  }
  return partial.Take();
}

namespace {

// Points of a quick sum at once, as many as stay in the first cache.
constexpr int64_t kQuickPoints = 64;

// Sums of point after point by double-double numbers, high + low. Where no
// addition to `low` was rounded, they are the exact sums, and rounded once.
//
// Source: Knuth, The Art of Computer Programming, volume 2, section 4.2.2,
// theorem B (what an addition has lost is a number); Ogita, Rump and Oishi
// 2005, "Accurate sum and dot product", of sums by it.
struct QuickSums {
  std::array<double, kQuickPoints> high = {};
  std::array<double, kQuickPoints> low = {};
  // Not 0, or no number, where it isn't the sum.
  std::array<double, kQuickPoints> lost = {};

  template <bool kSquares, typename T>
  void Add(const T* terms, int64_t count) {
    for (int64_t j = 0; j < count; ++j) {
      double x = terms[j];
      if (kSquares) x *= x;
      const double rest = AddExactly(high[j], x);
      lost[j] += std::fabs(AddExactly(low[j], rest));
    }
  }

 private:
  // Gives what sum + x has lost to rounding.
  static double AddExactly(double& sum, double x) {
    const double before = sum;
    sum += x;
    const double added = sum - before;
    return (before - (sum - added)) + (x - added);
  }
};

// Real sums of a run of points, and roots of these; points of which they are
// not exact are left for `slowly`.
template <typename T>
void SumQuickly(bool is_norm, absl::Span<const void* const> operands,
                int64_t count, T* out,
                absl::FunctionRef<void(int64_t point)> slowly) {
  for (int64_t first = 0; first < count; first += kQuickPoints) {
    const int64_t points = std::min(kQuickPoints, count - first);
    QuickSums sums;
    for (const void* const operand : operands) {
      const T* const terms = static_cast<const T*>(operand) + first;
      if (is_norm) {
        sums.Add<true>(terms, points);
      } else {
        sums.Add<false>(terms, points);
      }
    }
    for (int64_t j = 0; j < points; ++j) {
      if (sums.lost[j] != 0 || std::isnan(sums.lost[j])) {
        slowly(first + j);
        continue;
      }
      const double sum = sums.high[j] + sums.low[j];
      out[first + j] = static_cast<T>(is_norm ? std::sqrt(sum) : sum);
    }
  }
}

}  // namespace

void ReduceEach(ReduceKind kind, ElementType element,
                absl::Span<const void* const> operands, int64_t count,
                void* out) {
  const int64_t width = ElementBytes(element);
  const auto reduce = [&](int64_t point) {
    const int64_t at = point * width;
    Partial partial(kind, element);
    for (const void* const operand : operands) {
      partial.AddElements(static_cast<const char*>(operand) + at, 1);
    }
    partial.PutRoot(static_cast<char*>(out) + at);
  };
  const bool is_norm = kind == ReduceKind::kNorm2;
  if (!IsExact(kind, element)) {
    for (int64_t point = 0; point < count; ++point) reduce(point);
  } else if (element == ElementType::kFloat) {
    SumQuickly(is_norm, operands, count, static_cast<float*>(out), reduce);
  } else {
    SumQuickly(is_norm, operands, count, static_cast<double*>(out), reduce);
  }
}

std::string ReduceBody::Encode() const {
  Encoder out;
  out.PutU8(static_cast<uint8_t>(step));
  out.PutU8(static_cast<uint8_t>(kind));
  out.PutU8(static_cast<uint8_t>(element));
  for (const int64_t number :
       {int64_t{time_dim}, int64_t{block_index}, int64_t{time_step_index},
        origin, tile_depth, first_time_step, time_interval}) {
    out.PutSigned(number);
  }
  return out.Take();
}

absl::StatusOr<ReduceBody> ReduceBody::Decode(absl::string_view body) {
  Decoder in(body);
  ReduceBody out;
  const uint8_t step = in.GetU8();
  const uint8_t kind = in.GetU8();
  const uint8_t element = in.GetU8();
  if (step > 3 || kind > 4 || element > 2) in.Fail();
  out.time_dim = static_cast<int32_t>(in.GetSigned());
  out.block_index = static_cast<int32_t>(in.GetSigned());
  out.time_step_index = static_cast<int32_t>(in.GetSigned());
  for (const int32_t index : {out.block_index, out.time_step_index}) {
    if (index < 0 || index >= kMaxIndices) in.Fail();
  }
  out.origin = in.GetSigned();
  out.tile_depth = in.GetSigned();
  out.first_time_step = in.GetSigned();
  out.time_interval = in.GetSigned();
  if (out.time_interval < 1) in.Fail();
  DOGGED_RETURN_IF_ERROR(in.Finish("reduction"));
  out.step = static_cast<Step>(step);
  out.kind = static_cast<ReduceKind>(kind);
  out.element = static_cast<ElementType>(element);
  return out;
}

std::unique_ptr<Kernel> MakeReduceKernel(ReduceBody body) {
  return std::make_unique<ReduceKernel>(std::move(body));
}

}  // namespace dogged::dsl
