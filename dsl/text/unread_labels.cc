#include "dsl/text/unread_labels.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dsl/text/index_intervals.h"

namespace dogged::dsl {
namespace {

// All that is read and wanted of an array, by index. None: nobody can say.
using Hull = std::vector<std::optional<Interval>>;

class ReadLabels {
 public:
  explicit ReadLabels(const std::map<std::string, int64_t>& parameters)
      : intervals_(parameters) {}

  void Enter(const std::vector<ast::Dimension>& dimensions) {
    intervals_.Enter(dimensions);
  }
  void Note(const ast::Ref& ref) {
    const auto [found, is_new] = hulls_.try_emplace(ref.array.text);
    Hull& hull = found->second;
    if (is_new) hull.resize(ref.index.size(), Interval{kIntervalMax, 0});
    // A bare name is all of it.
    if (ref.index.size() < hull.size()) hull.assign(hull.size(), std::nullopt);
    for (size_t i = 0; i < std::min(hull.size(), ref.index.size()); ++i) {
      const std::optional<Interval> here = IntervalOf(ref, i);
      if (!here || !hull[i]) {
        hull[i].reset();
        continue;
      }
      const bool is_first = hull[i]->IsEmpty();
      hull[i] = {is_first ? here->first : std::min(hull[i]->first, here->first),
                 is_first ? here->last : std::max(hull[i]->last, here->last)};
    }
  }
  void Forget(const std::string& array) { hulls_[array].clear(); }
  // Null if nobody reads it, or nobody can say.
  const Hull* Find(const std::string& array) const {
    const auto found = hulls_.find(array);
    return found == hulls_.end() ? nullptr : &found->second;
  }
  const IndexIntervals& intervals() const { return intervals_; }

 private:
  std::optional<Interval> IntervalOf(const ast::Ref& ref, size_t i) const {
    if (!intervals_.IsWhole()) return std::nullopt;
    if (i < ref.is_slice.size() && ref.is_slice[i]) return std::nullopt;
    if (i < ref.last.size() && ref.last[i]) return std::nullopt;
    return intervals_.Of(ref.index[i]);
  }

  IndexIntervals intervals_;
  std::map<std::string, Hull> hulls_;
};

// Where `expr` comes from: itself, and the ranges of indices in it.
void AddSources(const ast::Expr& expr, const ast::Task& task,
                std::vector<const ast::Expr*>& out) {
  out.push_back(&expr);
  for (const ast::Dimension& dimension : task.dimensions) {
    if (expr.kind != ast::Expr::Kind::kName ||
        expr.text != dimension.name.text) {
      continue;
    }
    out.push_back(&dimension.range.lower);
    out.push_back(&dimension.range.upper);
  }
  for (const ast::Expr& arg : expr.args) AddSources(arg, task, out);
}

void WarnOfCreate(const ast::Task& task, const ast::Ref& ref,
                  const ReadLabels& read, Diagnostics& diagnostics) {
  const Hull* const hull = read.Find(ref.array.text);
  if (hull == nullptr || hull->size() != ref.index.size()) return;
  for (size_t i = 0; i < hull->size(); ++i) {
    const auto made = read.intervals().Of(ref.index[i]);
    const std::optional<Interval>& wanted = (*hull)[i];
    if (!made || !wanted || wanted->IsEmpty() || made->Meets(*wanted)) continue;
    std::vector<const ast::Expr*> sources;
    AddSources(ref.index[i], task, sources);
    diagnostics
        .Warning(Code::kUnmet, ref.index[i].range,
                 absl::StrCat(
                     "nothing reads ", diagnostics.TextOf(ref.range),
                     " of task ", task.name.text, ": there ", ref.array.text,
                     " is read at ", wanted->ToString(), ", and this is ",
                     made->ToString(), read.intervals().ParametersIn(sources)))
        .Note(absl::StrCat("is ", made->ToString()))
        .Help("is a source or receiver outside of the grid?");
    return;
  }
}

}  // namespace

void WarnOfUnreadLabels(const ast::Program& program,
                        const std::map<std::string, int64_t>& parameters,
                        Diagnostics& diagnostics) {
  // Then the last step is wanted.
  if (program.results.empty()) return;
  ReadLabels read(parameters);
  for (const ast::Task& task : program.tasks) {
    read.Enter(task.dimensions);
    for (const ast::Use& use : task.uses) read.Note(use.ref);
  }
  for (const ast::Reduction& reduction : program.reductions) {
    std::vector<ast::Dimension> all = reduction.dimensions;
    all.insert(all.end(), reduction.over.begin(), reduction.over.end());
    read.Enter(all);
    read.Note(reduction.source);
  }
  for (const ast::Result& result : program.results) {
    read.Enter(result.dimensions);
    read.Note(result.ref);
  }
  for (const ast::Boundary& boundary : program.boundaries) {
    // Labels beyond an end are read from the other end.
    if (!boundary.periodic.text.empty()) read.Forget(boundary.ref.array.text);
  }
  for (const ast::Task& task : program.tasks) {
    read.Enter(task.dimensions);
    if (!read.intervals().IsWhole()) continue;
    for (const ast::Create& create : task.creates) {
      WarnOfCreate(task, create.ref, read, diagnostics);
    }
  }
}

}  // namespace dogged::dsl
