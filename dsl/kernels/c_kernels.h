// C source for code blocks: one function per block, readable, compiled once by
// the system compiler and found again by name. This file only writes text and
// calls compiled functions; running the compiler and loading the library come
// in through CompileSource.
#ifndef DOGGED_DSL_KERNELS_C_KERNELS_H_
#define DOGGED_DSL_KERNELS_C_KERNELS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "dsl/ir/kernel_ir.h"

namespace dogged::dsl {

// The address of a function of a compiled source, null if it has none of that
// name. Keeps the library loaded as long as it or a copy of it lives.
using FindSymbol = std::function<void*(const std::string& name)>;

// Compiles and loads a C source. kUnavailable if this machine can't: the
// caller interprets instead.
using CompileSource =
    std::function<absl::StatusOr<FindSymbol>(absl::string_view source)>;

// Code before the first function of a source.
std::string CPrelude();

// A function `symbol` that does the same as Interpret(block), bit by bit, if it
// is compiled without floating-point contraction, with wrapping integers and
// without knowledge of libm (-ffp-contract=off -fwrapv -fno-builtin).
std::string EmitC(const CodeBlock& block, const std::string& symbol);

// `symbol` of a compiled source as a function over boxes. kInternal if the
// source has none.
absl::StatusOr<std::unique_ptr<BoxFunction>> Compiled(
    const FindSymbol& find, const std::string& symbol);

}  // namespace dogged::dsl

#endif  // DOGGED_DSL_KERNELS_C_KERNELS_H_
