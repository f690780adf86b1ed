#include "apps/tiles/float_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/graph/float_kernel.h"

namespace dogged {
namespace {

// "r", the name of output `o`, if the caller says.
std::string NameOf(const NativeCall& call, size_t o) {
  const size_t i = call.in.size() + o;
  return i < call.names.size() ? call.names[i]
                               : absl::StrCat("output ", o, " of the kernel");
}

// to[i] = from[i]. Returns how many come before the first finite one that is
// larger than all floats; all of them if there is none.
size_t Round(absl::Span<const double> from, absl::Span<float> to) {
  // Up to half a unit of the last place more is rounded to it.
  constexpr double kBeyond = 0x1.ffffffp+127;
  bool fits = true;
  for (size_t i = 0; i < from.size(); ++i) {
    fits &= !(std::fabs(from[i]) >= kBeyond);
    to[i] = static_cast<float>(from[i]);
  }
  if (fits) return from.size();
  const auto is_beyond = [](double x) {
    return std::fabs(x) >= kBeyond && std::isfinite(x);
  };
  return static_cast<size_t>(absl::c_find_if(from, is_beyond) - from.begin());
}

// The doubles of output `o` become floats, in `room` if that fits.
absl::Status RoundOutput(const NativeCall& call, size_t o, Value room) {
  Value& out = call.out[o];
  const Value wide = std::move(out);
  out = std::move(room);
  if (out.IsNone() || out.shape() != wide.shape()) {
    out = Value::Allocate(ElementType::kFloat, wide.shape());
  }
  const size_t failed = Round(wide.span<double>(), out.mutable_span<float>());
  if (static_cast<int64_t>(failed) == wide.element_count()) {
    return absl::OkStatus();
  }
  const auto columns = static_cast<size_t>(wide.shape()[1]);
  return absl::InvalidArgumentError(absl::StrCat(
      "element (", failed / columns, ", ", failed % columns, ") of ",
      NameOf(call, o), " is larger than the largest float: scale the matrix"));
}

// `factor` has the pivots on its diagonal, from row `first` on.
absl::Status CheckPivots(const Value& factor, size_t first) {
  const auto columns = static_cast<size_t>(factor.shape()[1]);
  for (size_t q = 0; q < columns; ++q) {
    if (factor.span<float>()[(first + q) * columns + q] != 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("pivot ", q,
                     " of the tile is zero as a float: the matrix is singular, "
                     "or too small to tell: scale it"));
  }
  return absl::OkStatus();
}

absl::Status RunOverFloats(const NativeKernel& kernel, NativeCall& call) {
  absl::InlinedVector<Value, 4> wide;
  Value room;
  for (size_t i = 0; i < call.in.size(); ++i) {
    Value& in = call.in[i];
    if (kernel.elements[i] != ElementType::kDouble) {
      wide.push_back(in);
      continue;
    }
    if (in.IsNone() || in.type() != ElementType::kFloat) {
      return absl::InvalidArgumentError(absl::StrCat(
          i < call.names.size() ? call.names[i] : absl::StrCat("argument ", i),
          " is no matrix of floats"));
    }
    wide.push_back(Widened(in));
    if (static_cast<int>(i) == kernel.updates && in.IsWritable()) {
      room = std::move(in);
    }
  }
  NativeCall over_doubles = call;
  over_doubles.in = absl::MakeSpan(wide);
  DOGGED_RETURN_IF_ERROR(kernel.run(over_doubles));
  for (size_t o = 0; o < call.out.size(); ++o) {
    if (call.out[o].type() != ElementType::kDouble) continue;
    DOGGED_RETURN_IF_ERROR(RoundOutput(call, o, std::exchange(room, Value())));
  }
  if (kernel.name == "potrf") return CheckPivots(call.out[0], 0);
  if (kernel.name == "getrf") {
    return CheckPivots(call.out[0], static_cast<size_t>(call.scalars[0]));
  }
  return absl::OkStatus();
}

}  // namespace

Value Widened(const Value& tile) {
  Value out = Value::Allocate(ElementType::kDouble, tile.shape());
  absl::c_copy(tile.span<float>(), out.mutable_span<double>().begin());
  return out;
}

NativeKernel OverFloats(NativeKernel kernel) {
  NativeKernel out = kernel;
  out.name = FloatVariantOf(kernel.name);
  absl::c_replace(out.elements, ElementType::kDouble, ElementType::kFloat);
  out.run = [over_doubles = std::move(kernel)](NativeCall& call) {
    return RunOverFloats(over_doubles, call);
  };
  return out;
}

}  // namespace dogged
