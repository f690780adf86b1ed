// The matrix that a program was given, made anew tile by tile.
#ifndef DOGGED_APPS_VERIFY_INPUT_MATRIX_H_
#define DOGGED_APPS_VERIFY_INPUT_MATRIX_H_

#include <cstdint>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/base/label.h"
#include "runtime/base/value.h"
#include "runtime/graph/kernel.h"
#include "runtime/graph/relations.h"

namespace dogged {

using TileLookup = absl::FunctionRef<absl::StatusOr<Value>(const Label&)>;

// Runs the task that makes `tile` out of nothing, which there is, with the
// kernels of the program. The value is held nowhere else.
absl::StatusOr<Value> MakeTile(const Relations& relations,
                               const KernelTable& kernels, const Label& tile);

// `tile` in doubles, as which a matrix of floats is judged. kInvalidArgument
// unless it is a rows x columns matrix of doubles or floats.
absl::StatusOr<Value> InDoubles(const Program& program, const Label& label,
                                Value tile, int64_t rows, int64_t columns);

// The solution that solves are tried with: `order` numbers from -1 to 1.
std::vector<double> KnownSolution(int64_t order);

}  // namespace dogged

#endif  // DOGGED_APPS_VERIFY_INPUT_MATRIX_H_
