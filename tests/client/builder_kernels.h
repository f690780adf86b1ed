// Kernels of builder_test.cc, in a library of their own.
#ifndef DOGGED_TESTS_CLIENT_BUILDER_KERNELS_H_
#define DOGGED_TESTS_CLIENT_BUILDER_KERNELS_H_

#include <cstdint>
#include <span>

#include "apps/client/dogged_kernel.hpp"

namespace dogged {

void Mix(double factor, std::span<const double> a, std::span<int64_t> whole,
         int64_t offset, Block<const float> b, std::span<double> sum);
int GiveUp(std::span<const double> a, std::span<double> b);
void Throw(std::span<const double> a, std::span<double> b);
// A function of builder_test.cc itself.
void OfTheProgram(std::span<const double> a, std::span<double> b);

}  // namespace dogged

#endif  // DOGGED_TESTS_CLIENT_BUILDER_KERNELS_H_
