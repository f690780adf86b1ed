#include "dsl/text/explain.h"

#include <array>
#include <cstddef>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "dsl/text/diagnostics.h"

namespace dogged::dsl {
namespace {

// By code, from D001 on.
constexpr std::array<absl::string_view, 29> kTexts = {
    "A program is a UTF-8 text without NUL bytes. Is this the right file?\n",
    "A character or a number that no word of the language starts with, or a\n"
    "number too large for its type. Text behind # is not looked at.\n",
    "A word or sign that can't stand at this place. The grammar is in\n"
    "docs/LANGUAGE.md. In code, a new line ends a statement unless a bracket\n"
    "is open or the line ends with an operator.\n",
    "Brackets, conditions or conditionals that are nested too deep. Give "
    "parts\n"
    "of the expression names of their own.\n",
    "This form means something, and dogged can't do it, or not yet.\n",
    "No parameter, index, array or value has this name at this place. An "
    "index\n"
    "is known within its task only, a value under `using` within `code`.\n",
    "Two definitions of one name, or a value that is set twice. Every name "
    "has\n"
    "one meaning: take another one.\n",
    "A parameter without a value, or with one of the wrong type. Give it a\n"
    "default, `param N = 100`, or a value, `-D N=100`. One that is taken from\n"
    "the shapes of inputs, `param N from A = 100`, has to follow from these\n"
    "alone, and be the same by each of them.\n",
    "Operands that don't fit: a condition where a number must stand, a real\n"
    "number where an integer must. Convert with int64(a) or double(a).\n",
    "Indices, ranges and conditions are sums of indices times numbers, so "
    "that\n"
    "what depends on what can be proved. Parameters may be multiplied freely;\n"
    "x*y of two indices is out, and so is x/2 of one, except in a range.\n",
    "Two tasks, or two points of one, create the same label. A label has one\n"
    "value, for ever. Shrink a range, add `where`, or give the corner where\n"
    "two boundaries meet to one of them.\n",
    "A label is read or wanted, and no task, input or boundary creates it. "
    "Most\n"
    "often the rim of a grid is missing:  boundary phi(0)(t) = 0\n"
    "Or a range is one too long, or an index leads beyond the grid: then a\n"
    "boundary there would make the grid larger, and results with it.\n",
    "Tasks wait for each other in a ring, so that none can ever start. A task\n"
    "may read only what is made before it, such as phi(x)(t-1).\n",
    "An index goes beyond the range that the `array` line declares.\n",
    "The program does not say what it is run for, or its result has no label\n"
    "with these parameters. Add  result phi(:)(T)\n",
    "A reference with too few or too many indices. Each index stands in\n"
    "brackets of its own: phi(x)(t).\n",
    "A kernel that is not known, can't be read, or is called with the wrong\n"
    "arguments. Blocks of numbers go to `in` and `out` formals, numbers to\n"
    "the others.\n",
    "Every value under `creates` is set once by the code.\n",
    "These tasks are not run, for no result needs what they create. A "
    "warning.\n",
    "Something has a name that nothing uses. A warning.\n",
    "A boundary that covers no label, or labels without a simple range. Its\n"
    "indices range over labels that are read or wanted and not created. In\n"
    "periodic(x), x stands by itself among the indices. As a warning: a task\n"
    "creates some of its labels, as with  for x = 0:N-2  and  boundary "
    "u(0)(t),\n"
    "so that the boundary does not hold there.\n",
    "An input has neither a file nor an `else`. Give it one:\n"
    "  dogged run FILE.dog --input A=matrix.npy\n",
    "True or not: it could not be proved. Simpler ranges and conditions "
    "help.\n",
    "Beyond a limit: 6 indices, integers below 2^40, extents that make "
    "sense.\n",
    "A constant division by zero or an overflow; or a division of integers\n"
    "where real numbers may have been meant (1/2 is 0): an error as a real\n"
    "parameter's value, else a warning.\n",
    "A file that can't be read, or one that includes itself. The path is seen\n"
    "from the file that includes it.\n",
    "`repeat T = 100:2000:100 until change(T) < 1.0e-6` finds T while the\n"
    "program runs. What a label is worth must not depend on it: T may stand\n"
    "at the upper end of one range of a task, by itself or plus a number, and\n"
    "in results. A result is there whenever the loop ends: the corners of a "
    "grid,\n"
    "which no task reads, have to be left out of it, or made by a task.\n",
    "A program runs point by point, which takes a hundred times as long as\n"
    "tiles or more: a stencil because of a task that is not part of it, or a\n"
    "loop nest for which no tiles were found. docs/LANGUAGE.md, Reductions,\n"
    "says what has tiles, and what keeps a stencil in its own. A warning.\n",
    "A condition puts an index at a place that is not in its range, as with a\n"
    "source at  where x == SX else 0  and -D SX=500 for x = 0:299: it holds\n"
    "nowhere, and results are as if nothing stood there. Or a task makes "
    "labels\n"
    "beside all that are read,  creates f(SX)(t).  A warning, for that may be\n"
    "meant.\n",
};

}  // namespace

std::string Explain(absl::string_view code) {
  if (!code.empty() && (code[0] == 'D' || code[0] == 'd')) {
    code.remove_prefix(1);
  }
  size_t number = 0;
  if (!absl::SimpleAtoi(code, &number) || number < 1 ||
      number > kTexts.size()) {
    return "";
  }
  return absl::StrCat(CodeText(static_cast<Code>(number)), "\n",
                      kTexts[number - 1]);
}

}  // namespace dogged::dsl
