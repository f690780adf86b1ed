#include "runtime/exec/kernels/c_kernel.h"

#include <cxxabi.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <typeinfo>

#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

constexpr size_t kWordsMax = 2000;

// The interface of users' kernels, as in docs/LANGUAGE.md.
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

std::vector<CValue> ToC(absl::Span<const CBlock> blocks,
                        std::vector<std::vector<int64_t>>& extents) {
  std::vector<CValue> out;
  for (const CBlock& block : blocks) {
    // Elsewhere on the heap than this vector: its growth moves none.
    extents.emplace_back(block.shape.begin(), block.shape.end());
    out.push_back({.data = block.data,
                   .rank = std::ssize(extents.back()),
                   .extents = extents.back().data(),
                   .type = TypeNumber(block.type)});
  }
  return out;
}

// Type name of the exception that is being handled.
std::string TypeName() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "something";
  int status = 0;
  char* const name =
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status);
  std::string out = name == nullptr ? type->name() : name;
  std::free(name);
  return out;
}

}  // namespace

std::string CallC(void* address, absl::Span<const CBlock> in,
                  absl::Span<const CBlock> out,
                  absl::Span<const double> numbers) {
  std::vector<std::vector<int64_t>> extents;
  const std::vector<CValue> c_in = ToC(in, extents);
  std::vector<CValue> c_out = ToC(out, extents);
  int code = 0;
  try {
    code = reinterpret_cast<CKernel>(address)(c_in.data(), c_out.data(),
                                              numbers.data());
  } catch (const std::exception& e) {
    return absl::StrCat("threw ", TypeName(), ": ",
                        std::string(e.what()).substr(0, kWordsMax));
  } catch (...) {
    return absl::StrCat("threw ", TypeName());
  }
  return code == 0 ? "" : absl::StrCat("gave up with code ", code);
}

}  // namespace dogged
