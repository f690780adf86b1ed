#include "dsl/library_kernel.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace dogged::dsl {
namespace {

// As in docs/LANGUAGE.md: what users write their kernels against.
struct CValue {
  void* data;
  int64_t rank;
  const int64_t* extents;
  int64_t type;  // 0: double, 1: float, 2: int64
};
using CKernel = int (*)(const CValue* in, CValue* out, const double* numbers);

int64_t TypeNumber(ElementType element) {
  switch (element) {
    case ElementType::kDouble:
      return 0;
    case ElementType::kFloat:
      return 1;
    case ElementType::kInt64:
      return 2;
  }
  return -1;
}

CValue ToC(const Value& value, void* data, std::vector<int64_t>& extents) {
  const Shape shape = value.shape();
  extents.assign(shape.begin(), shape.end());
  return {.data = data,
          .rank = static_cast<int64_t>(extents.size()),
          .extents = extents.data(),
          .type = TypeNumber(value.type())};
}

absl::Status Call(CKernel function, const std::string& name,
                  const std::vector<ElementType>& elements, NativeCall& call) {
  std::vector<std::vector<int64_t>> extents(call.in.size() + call.out.size());
  std::vector<CValue> in;
  std::vector<CValue> out;
  for (size_t i = 0; i < call.in.size(); ++i) {
    // The kernel gets it as const.
    in.push_back(
        ToC(call.in[i], const_cast<void*>(call.in[i].data()), extents[i]));
  }
  for (size_t o = 0; o < call.out.size(); ++o) {
    call.out[o] = Value::Allocate(elements[o], call.out_shapes[o]);
    out.push_back(ToC(call.out[o], call.out[o].mutable_data(),
                      extents[call.in.size() + o]));
  }
  int code = 0;
  try {
    code = function(in.data(), out.data(), call.scalars.data());
  } catch (...) {
    return absl::InternalError(
        absl::StrCat("kernel ", name, " threw an exception"));
  }
  if (code == 0) return absl::OkStatus();
  return absl::InternalError(
      absl::StrCat("kernel ", name, " gave up with code ", code));
}

}  // namespace

absl::StatusOr<NativeKernel> LibraryKernel(const NativeBody& body,
                                           const FindSymbol& symbols) {
  void* const address = symbols(body.kernel);
  if (address == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat(body.library, " has no function ", body.kernel));
  }
  NativeKernel out;
  out.name = body.kernel;
  out.in_count = static_cast<int>(body.in.size());
  out.out_count = static_cast<int>(body.out.size());
  out.scalar_count = static_cast<int>(body.scalars.stores.size());
  // `symbols` keeps the library loaded.
  out.run = [symbols, function = reinterpret_cast<CKernel>(address),
             name = body.kernel,
             elements = body.out_elements](NativeCall& call) {
    return Call(function, name, elements, call);
  };
  return out;
}

}  // namespace dogged::dsl
