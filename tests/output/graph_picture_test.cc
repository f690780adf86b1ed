// Aim: a graph's picture has every node and edge once, edges go down, and names
// can't break it.
// Method: a diamond with a tail, as text.
#include "apps/output/graph_picture.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace dogged {
namespace {

using testing::HasSubstr;

GraphPicture Diamond() {
  GraphPicture out;
  out.nodes = {{.title = "a(0)", .subtitle = "start"},
               {.title = "b<0>", .subtitle = "left"},
               {.title = "b(1)", .subtitle = "right", .is_center = true},
               {.title = "c(0)", .subtitle = "end", .has_more = true},
               {.title = "late", .subtitle = "start"}};
  out.edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {4, 3}};
  return out;
}

int Count(const std::string& text, const std::string& part) {
  int out = 0;
  for (size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1)) {
    ++out;
  }
  return out;
}

TEST(GraphPictureTest, Svg) {
  const std::string svg = ToSvg(Diamond());
  EXPECT_EQ(Count(svg, "marker-end"), 5);
  EXPECT_EQ(Count(svg, "rx='8'"), 5);
  EXPECT_EQ(Count(svg, "stroke-dasharray"), 1);
  EXPECT_EQ(Count(svg, "#ffe08a"), 1);
  EXPECT_THAT(svg, HasSubstr("b&lt;0&gt;"));
  // Three layers: 16 + 2*92 + 40 + 16 pixels; "late" stands above "c(0)".
  EXPECT_THAT(svg, HasSubstr("height='256'"));
}

TEST(GraphPictureTest, Dot) {
  EXPECT_EQ(ToDot(Diamond()),
            "digraph tasks {\n"
            "  node [shape=box style=\"rounded,filled\" "
            "fillcolor=\"#eef3f8\" fontname=\"sans-serif\"];\n"
            "  n0 [label=\"a(0)\\nstart\"];\n"
            "  n1 [label=\"b<0>\\nleft\"];\n"
            "  n2 [label=\"b(1)\\nright\" fillcolor=\"#ffe08a\"];\n"
            "  n3 [label=\"c(0)\\nend\" style=\"rounded,filled,dashed\"];\n"
            "  n4 [label=\"late\\nstart\"];\n"
            "  n0 -> n1;\n  n0 -> n2;\n  n1 -> n3;\n  n2 -> n3;\n"
            "  n4 -> n3;\n}\n");
}

}  // namespace
}  // namespace dogged
