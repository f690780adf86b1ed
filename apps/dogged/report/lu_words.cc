#include "apps/dogged/report/lu_words.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "apps/verify/block_columns.h"
#include "runtime/graph/relations.h"

namespace dogged {
namespace {

// $0: F, $1: its file, $2: P, $3: its file, $4: columns of a block column.
constexpr char kApply[] =
    R"($0 and $2 are not LAPACK's: rows of $0 left of a block column stand as
before its exchanges. With NumPy, these six lines make them LAPACK's, and solve
A x = b:
  $0, $2, x = np.load("$1"), np.load("$3"), b.copy()
  for r, p in enumerate($2):
    $0[[r, p], :r//$4*$4] = $0[[p, r], :r//$4*$4]
    x[[r, p]] = x[[p, r]]
  x = np.linalg.solve(np.tril($0, -1) + np.eye(len(x)), x)
  x = np.linalg.solve(np.triu($0), x)
)";
constexpr char kConvert[] =
    R"($0 and $2 are not LAPACK's: rows of $0 left of a block column stand as
before its exchanges. With NumPy, these three lines make them LAPACK's:
  $0, $2 = np.load("$1"), np.load("$3")
  for r, p in enumerate($2):
    $0[[r, p], :r//$4*$4] = $0[[p, r], :r//$4*$4]
)";

const WrittenOutput* FindOutput(const std::vector<WrittenOutput>& written,
                                const std::string& array) {
  const auto it = std::find_if(
      written.begin(), written.end(),
      [&array](const WrittenOutput& one) { return one.array == array; });
  return it == written.end() ? nullptr : &*it;
}

}  // namespace

std::string LuWords(const Program& program,
                    const std::vector<WrittenOutput>& written) {
  if (written.empty()) return "";
  const Relations relations(program);
  const std::optional<BlockColumnForm> form =
      FindBlockColumns(relations, "getrf", "eliminate");
  if (!form.has_value() || form->steps.size() < 2) return "";
  const int64_t width = form->steps[1].first;
  for (size_t k = 0; k < form->steps.size(); ++k) {
    if (form->steps[k].first != static_cast<int64_t>(k) * width) return "";
  }
  const auto name_of = [&program](const Label& label) {
    return program.ArrayOf(label).name;
  };
  const std::string f = name_of(form->steps[0].factor);
  const std::string p = name_of(form->steps[0].extra);
  const WrittenOutput* const factor = FindOutput(written, f);
  const WrittenOutput* const exchanges = FindOutput(written, p);
  if (factor == nullptr && exchanges == nullptr) return "";
  const auto path_of = [](const WrittenOutput* file, const std::string& array) {
    return file == nullptr ? absl::StrCat(array, ".npy") : file->path;
  };
  const bool is_tall = factor != nullptr && factor->shape.size() == 2 &&
                       factor->shape[0] != factor->shape[1];
  return absl::Substitute(is_tall ? kConvert : kApply, f, path_of(factor, f), p,
                          path_of(exchanges, p), width);
}

}  // namespace dogged
