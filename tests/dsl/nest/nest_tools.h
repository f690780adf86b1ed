// For tests of loop nests in tiles.
#ifndef DOGGED_TESTS_DSL_NEST_NEST_TOOLS_H_
#define DOGGED_TESTS_DSL_NEST_NEST_TOOLS_H_

#include <string>

#include "dsl/nest/lower_nest.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/dsl/compile_tools.h"

namespace dogged::dsl {

inline CompileOptions NestOptions() {
  CompileOptions options = Options();
  options.lower_nest = LowerNestWithIsl;
  options.prefers_nest = true;
  return options;
}

inline void ExpectBitsOfPoints(const std::string& text,
                               const CompileOptions& nest,
                               const CompileSource& compile) {
  const Job tiles = MustCompile(text, nest);
  ASSERT_THAT(tiles.lowering, testing::StartsWith(kLoopNest));
  CompileOptions options = nest;
  options.coalesce = false;
  const Job points = MustCompile(text, options);
  const std::string expected = MustDigest(points, nullptr);
  EXPECT_EQ(MustDigest(tiles, nullptr), expected) << tiles.lowering;
  if (compile != nullptr) {
    EXPECT_EQ(MustDigest(tiles, compile), expected) << tiles.lowering;
  }
  ExpectForetold(tiles);
}

}  // namespace dogged::dsl

#endif  // DOGGED_TESTS_DSL_NEST_NEST_TOOLS_H_
