// OperationBudget: what is taken within one budget counts for those around it.

#include <cstdint>

#include "dsl/isl/isl_sets.h"
#include "gtest/gtest.h"

namespace dogged::dsl {
namespace {

// Takes steps until a budget ends.
void TakeAll(isl::ctx context) {
  EXPECT_THROW(
      {
        for (int k = 0; k < 1'000'000; ++k) {
          const isl::set set(context, "{ [i] : 0 <= i < 10 }");
        }
      },
      isl::exception);
}

TEST(OperationBudgetTest, StepsWithinCountForAllAround) {
  const IslContext context(10'000);
  const uint64_t before = OperationsLeft(context.get());
  EXPECT_GT(before, 9'900U);
  {
    const OperationBudget budget(context.get(), 6'000);
    EXPECT_LE(OperationsLeft(context.get()), 6'000U);
    TakeAll(context.get());
  }
  const uint64_t after = OperationsLeft(context.get());
  EXPECT_LE(after, 4'000U);
  EXPECT_GT(after, 3'800U) << "asking takes few steps itself";
  {
    // No more than there is.
    const OperationBudget budget(context.get(), 6'000);
    EXPECT_LE(OperationsLeft(context.get()), 4'000U);
    {
      const OperationBudget inner(context.get(), 1'000);
      TakeAll(context.get());
    }
    EXPECT_LE(OperationsLeft(context.get()), 3'000U);
    TakeAll(context.get());
  }
  EXPECT_LE(OperationsLeft(context.get()), 100U);
  TakeAll(context.get());
}

TEST(OperationBudgetTest, WhatIsNotTakenIsGivenBack) {
  const IslContext context(10'000);
  {
    const OperationBudget budget(context.get(), 6'000);
    const isl::set set(context.get(), "{ [i] : 0 <= i < 10 }");
  }
  EXPECT_GT(OperationsLeft(context.get()), 9'000U);
}

}  // namespace
}  // namespace dogged::dsl
