#include "dsl/isl/single_assignment.h"

#include <isl/map.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dsl/isl/label_help.h"
#include "dsl/isl/point_text.h"
#include "dsl/isl/set_queries.h"

namespace dogged::dsl {
namespace {

// Boundaries that create a label twice: the first such label, and conditions
// that would leave all of them to boundaries further up.
struct Clash {
  std::string message;
  std::vector<int> lines;  // of the others
  std::vector<std::string> conditions;
};

class SingleAssignment {
 public:
  explicit SingleAssignment(Proof& proof) : proof_(proof) {}
  void Check();

 private:
  void NoTwo(int32_t k, size_t c, int32_t l, size_t d);
  std::string Apart(const CheckedRef& other, size_t l) const;
  void ReportClashes() const;

  Proof& proof_;
  std::map<size_t, Clash> clashes_;  // by task, the lower one of each two
};

// The condition under which boundary `l` creates no label of `other`, which has
// numbers where the boundary has indices: "x > 0". Empty if it has none.
std::string SingleAssignment::Apart(const CheckedRef& other, size_t l) const {
  const CheckedTask& task = proof_.program.tasks[l];
  const CheckedRef& own = task.creates.front().ref;
  std::vector<std::string> any_of;
  for (size_t i = 0; i < own.index.size(); ++i) {
    const AffineExpr number = Instantiate(other.index[i], proof_.program);
    const AffineExpr index = Instantiate(own.index[i], proof_.program);
    const int d = index.LastIndex();
    if (!number.IsConstant() || d < 0 || index != AffineExpr::Index(d))
      continue;
    const bool is_first = number.constant == Least(proof_.tasks[l].domain, d);
    const bool is_last = number.constant == Greatest(proof_.tasks[l].domain, d);
    any_of.push_back(absl::StrCat(task.domain.dimensions[d].name,
                                  is_first ? " > " : (is_last ? " < " : " != "),
                                  IndexText(proof_.diagnostics, other, i)));
  }
  const std::string out = absl::StrJoin(any_of, " or ");
  return any_of.size() > 1 ? absl::StrCat("(", out, ")") : out;
}

void SingleAssignment::ReportClashes() const {
  for (const auto& [l, clash] : clashes_) {
    const std::vector<std::string>& conditions = clash.conditions;
    const bool has_all =
        absl::c_none_of(conditions, [](auto& text) { return text.empty(); });
    const bool is_one = clash.lines.size() == 1;
    proof_.diagnostics
        .Error(Code::kTwoProducers,
               proof_.program.tasks[l].creates[0].ref.range, clash.message)
        .Note(absl::StrCat(
            is_one ? "the other one is on line " : "others are on lines ",
            absl::StrJoin(clash.lines, ", ")))
        .Help(has_all ? absl::StrCat("leave ",
                                     is_one ? "that to the other one"
                                            : "these to the others",
                                     ":  where ",
                                     absl::StrJoin(conditions, " and "))
                      : "give such labels to one of them with  where");
  }
}

// No label is create c of class k and create d of class l, unless the two are
// one.
void SingleAssignment::NoTwo(int32_t k, size_t c, int32_t l, size_t d) {
  const isl::map& first = proof_.tasks[k].creates[c];
  const isl::map& second = proof_.tasks[l].creates[d];
  isl::map pairs = first.apply_range(second.reverse());
  const bool is_same = k == l && c == d;
  if (is_same) {
    pairs = pairs.subtract(
        isl::manage(isl_map_identity(isl_map_get_space(pairs.get()))));
  }
  if (pairs.is_empty() || !proof_.Fails()) return;
  const CheckedTask& one = proof_.program.tasks[k];
  const CheckedTask& two = proof_.program.tasks[l];
  std::vector<int64_t> point = FirstPoint(pairs.wrap());
  const auto split = point.begin() + std::ssize(one.domain.dimensions);
  const std::vector<int64_t> other(split, point.end());
  point.erase(split, point.end());
  const CheckedRef& ref = two.creates[d].ref;
  const std::string label = LabelText(proof_.program, ref, other);
  if (is_same) {
    proof_.diagnostics
        .Error(Code::kTwoProducers, ref.range,
               absl::StrCat(two.name, " creates ", label,
                            " twice:", PointText(one, point), ", and",
                            PointText(two, other)))
        .Help("every index of more than one value has to stand in the label");
    return;
  }
  std::string message = absl::StrCat(label, " has two producers: ", one.name,
                                     PointText(one, point), ", and ", two.name,
                                     PointText(two, other));
  const int line =
      proof_.diagnostics.LineAndColumn(one.creates[c].ref.range.begin).first;
  const bool are_boundaries = one.origin == CheckedTask::Origin::kBoundary &&
                              two.origin == CheckedTask::Origin::kBoundary;
  if (are_boundaries) {
    Clash& clash = clashes_[l];
    if (clash.message.empty()) clash.message = std::move(message);
    clash.lines.push_back(line);
    clash.conditions.push_back(
        Apart(one.creates[c].ref, static_cast<size_t>(l)));
    return;
  }
  proof_.diagnostics.Error(Code::kTwoProducers, ref.range, std::move(message))
      .Note(absl::StrCat("the other one is on line ", line))
      .Help("shrink a range, or add  where,  so that each label has one");
}

void SingleAssignment::Check() {
  struct Create {
    int32_t task;
    size_t position;
    int32_t array;
  };
  std::vector<Create> all;
  for (size_t k = 0; k < proof_.tasks.size(); ++k) {
    const CheckedTask& task = proof_.program.tasks[k];
    for (size_t c = 0; c < task.creates.size(); ++c) {
      all.push_back({static_cast<int32_t>(k), c, task.creates[c].ref.array});
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = i; j < all.size(); ++j) {
      if (all[i].array != all[j].array) continue;
      NoTwo(all[i].task, all[i].position, all[j].task, all[j].position);
      if (proof_.is_symbolic && !proof_.is_good) return;
    }
  }
  ReportClashes();
}

}  // namespace

void CheckSingleAssignment(Proof& proof) { SingleAssignment(proof).Check(); }

}  // namespace dogged::dsl
