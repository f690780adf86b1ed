// Aim: names that are no UTF-8 come out as JSON all the same. Method: one.
#include "apps/dogged/process/json_text.h"

#include "gtest/gtest.h"

namespace dogged {
namespace {

TEST(JsonText, ReplacesWhatIsNotUtf8) {
  EXPECT_EQ(JsonText({{"name", "h\xff.dog"}}), "{\"name\":\"h\uFFFD.dog\"}");
  EXPECT_EQ(JsonText({{"name", "h\u00e9.dog"}}), "{\"name\":\"h\u00e9.dog\"}");
}

}  // namespace
}  // namespace dogged
