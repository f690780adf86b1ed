// Aim: formatting changes blanks only, keeps comments where they are, and has
// nothing to do a second time; the programs of apps/ are in this form.
// Method: a program with everything awry against its form, and all of apps/.
// (dsl.mutation formats damaged programs.)
#include "dsl/text/format.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "gtest/gtest.h"

namespace dogged::dsl {
namespace {

std::string MustFormat(const std::string& text) {
  Diagnostics diagnostics("test.dog", text);
  const auto out = Format(diagnostics);
  EXPECT_TRUE(out.ok()) << diagnostics.ToString();
  return out.value_or("");
}

TEST(FormatTest, EverythingAwry) {
  const std::string form = R"(# A program.
param N          = 10  # points
param c : double = 0.5

array u(x = 0:N)(t = 0:N - 1) : double place x/8
reduce s(t) = sum(u(x)(t)) for t = 0:N-1 over x = 0:N
  where x % 2 == 0

  # not at the margin: it stands as what follows
boundary u(0)(t)   = -1 where t > 0
boundary u(N)(t)   = c > 0 ? 1 : 2.0
boundary u(N+1)(t) = periodic(t)
task step
  # of the head
  creates u(x)(t) as n
    v(x)(t) as m  # two
  for x = 1:N - 1
    t = 1:min(N,
      3):2
  where x > 2
  using
    u(x-1)(t-1) as left where x > 0
      else -1
    # the middle one
    u(x)(t-1) as c2
  code
    # sums
    n = left + 2*c2 +
      max(left,
      c2)
    m = x == 1 and not t > 2 ? double(x) : n*(N-1-x)
  end code
  priority t - x
end task
result u(:)(N)  to "a b.npy"
result u(0:N-1:3)(N)
)";
  std::string expected = form;
  expected.replace(expected.find("  # not"), 2, "");
  expected.replace(expected.find("(N)  to"), 7, "(N) to");
  EXPECT_EQ(MustFormat(form), expected);
  EXPECT_EQ(MustFormat(expected), expected);
  // Blanks galore, and Windows' line ends.
  std::string awry;
  for (const char ch : expected) {
    awry += ch;
    if (ch == '\n') awry += "  \r\n\n   ";
    if (ch == ',') awry += "\t ";
  }
  std::string tight;
  for (const char ch : MustFormat(awry)) {
    if (ch != '\n' || tight.back() != '\n') tight += ch;
  }
  std::string dense;
  for (const char ch : expected) {
    if (ch != '\n' || dense.back() != '\n') dense += ch;
  }
  // Blank lines end a column, so only what stands between blanks is the same.
  const auto squeezed = [](const std::string& text) {
    std::string out;
    for (const char ch : text) {
      if (ch != ' ' || out.back() != ' ') out += ch;
    }
    return out;
  };
  EXPECT_EQ(squeezed(tight), squeezed(dense));
}

TEST(FormatTest, ErrorsAreLeftAlone) {
  Diagnostics diagnostics("test.dog", "param N = = 3\n");
  EXPECT_FALSE(Format(diagnostics).ok());
  EXPECT_TRUE(diagnostics.HasErrors());
}

TEST(FormatTest, Apps) {
  int count = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(DOGGED_APPS_DIR)) {
    // The slides' program is as they print it.
    if (entry.path().extension() != ".dog" || entry.path().stem() == "slides") {
      continue;
    }
    ++count;
    std::ifstream in(entry.path(), std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    EXPECT_EQ(MustFormat(text.str()), text.str())
        << "dogged fmt " << entry.path();
  }
  EXPECT_GT(count, 10);
}

}  // namespace
}  // namespace dogged::dsl
