#include "runtime/graph/rounds.h"

#include <algorithm>
#include <utility>

#include "runtime/base/check.h"
#include "runtime/graph/index_range.h"

namespace dogged {
namespace {

// The points of `domain` whose `time` is not beyond `limit`, or just that.
void Cut(const AffineExpr& time, bool is_exact, int64_t limit, Domain& domain) {
  const Constraint until{.expr = AffineExpr::Constant(limit) - time,
                         .kind = is_exact ? Constraint::Kind::kZero
                                          : Constraint::Kind::kAtLeastZero};
  if (!domain.Narrow(until)) domain.guard.any_of = {{until}};
}

}  // namespace

Program ProgramAt(const Program& program, int64_t time) {
  DOGGED_CHECK(program.repeat.has_value()) << "no loop";
  Program out = program;
  out.repeat.reset();
  for (size_t c = 0; c < out.classes.size(); ++c) {
    Cut(program.repeat->class_time[c], false, time, out.classes[c].domain);
  }
  for (size_t s = 0; s < out.results.size(); ++s) {
    const Repeat::ResultTime& at = program.repeat->result_time[s];
    Cut(at.time, at.is_exact, time, out.results[s].domain);
  }
  for (ResultView& view : out.views) {
    const ResultSet& set = out.results[view.result_set];
    const std::vector<IndexRange> ranges = RangesOf(set.domain, set.map);
    const bool is_tiled = out.arrays[set.array].name != view.array;
    const Repeat::ResultTime& at = program.repeat->result_time[view.result_set];
    for (size_t d = 0; d < view.lower.size(); ++d) {
      const int32_t index =
          is_tiled ? view.tile_index[d] : static_cast<int32_t>(d);
      if (index < 0) continue;
      const AffineExpr& expr = set.map[index];
      const auto [first, last, step] = ranges[index];
      if (!is_tiled) {
        view.lower[d] = first;
        view.upper[d] = last;
        view.step[d] = step;
        view.tile_index[d] = first == last ? -1 : index;
        continue;
      }
      // In a tile that holds the end of the loop, the result is its first time.
      const bool is_round =
          at.is_exact && expr.LastIndex() == at.time.LastIndex();
      const int64_t begin = view.origin[d] + first * view.extent[d];
      const int64_t end = view.origin[d] + (last + 1) * view.extent[d] - 1;
      view.lower[d] = std::max(view.lower[d], begin);
      view.upper[d] = is_round ? begin : std::min(view.upper[d], end);
      if (is_round) view.tile_index[d] = -1;
      if (view.lower[d] < view.upper[d]) {
        view.upper[d] -= (view.upper[d] - view.lower[d]) % view.step[d];
      }
    }
  }
  return out;
}

Program WholeProgram(const Program& program) {
  return program.repeat.has_value() ? ProgramAt(program, program.repeat->last)
                                    : program;
}

Rounds::Rounds(const Relations& relations)
    : relations_(relations),
      repeat_(relations.program().repeat.has_value()
                  ? &*relations.program().repeat
                  : nullptr) {
  if (!IsLoop()) return;
  time_ = repeat_->first;
  has_ended_ = time_ >= repeat_->last;
}

std::optional<Label> Rounds::Condition() const {
  if (has_ended_) return std::nullopt;
  return Label{.array = repeat_->array, .index = {time_}};
}

bool Rounds::Note(const Label& condition, const Value& value) {
  if (has_ended_ || !IsCondition(condition) || value.IsNone() ||
      value.IsSpilled()) {
    return false;
  }
  const int64_t round = (condition.index[0] - repeat_->first) / repeat_->step;
  const bool stops = value.span<int64_t>()[0] != 0;
  return stops ? Raise(round, true) : Raise(round + 1, false);
}

bool Rounds::Raise(int64_t round, bool is_last) {
  if (has_ended_ || round < round_ || (round == round_ && !is_last)) {
    return false;
  }
  round_ = std::min(round, (repeat_->last - repeat_->first) / repeat_->step);
  time_ = repeat_->first + round_ * repeat_->step;
  has_ended_ = is_last || time_ >= repeat_->last;
  return true;
}

// While it is not known where the loop ends, labels of later rounds count too.
bool Rounds::IsResultPoint(size_t set, const IndexVector& point) const {
  const Repeat::ResultTime& at = repeat_->result_time[set];
  const int64_t time = at.time.Evaluate(point);
  if (!has_ended_) return !at.is_exact || time >= time_;
  return at.is_exact ? time == time_ : time <= time_;
}

// The condition of the last round that there may be decides nothing. It is
// wanted all the same, or tasks that only it needs would be run by chance.
bool Rounds::IsLastCondition(const Label& label) const {
  return IsCondition(label) && has_ended_ && time_ == repeat_->last &&
         label.index[0] == time_;
}

bool Rounds::IsResult(const Label& label) const {
  if (!IsLoop()) return relations_.IsResult(label);
  if (IsLastCondition(label)) return true;
  if (IsCondition(label)) return !has_ended_ && label.index[0] >= time_;
  return !relations_.ForEachResultPoint(
      label, [this](size_t set, const IndexVector& point) {
        return !IsResultPoint(set, point);
      });
}

int64_t Rounds::ResultsAt(const Label& label) const {
  if (IsLastCondition(label)) return 1;
  if (!has_ended_ || IsCondition(label)) return 0;
  int64_t count = 0;
  relations_.ForEachResultPoint(
      label, [&](size_t set, const IndexVector& point) {
        count += !IsLoop() || IsResultPoint(set, point) ? 1 : 0;
        return true;
      });
  return count;
}

bool Rounds::ForEachDemanded(
    absl::FunctionRef<bool(const Label&)> visit) const {
  if (!IsLoop()) return relations_.ForEachResult(visit);
  if (!has_ended_) return visit(*Condition());
  const Program& program = relations_.program();
  for (size_t s = 0; s < program.results.size(); ++s) {
    const ResultSet& set = program.results[s];
    const Repeat::ResultTime& at = repeat_->result_time[s];
    Domain domain = set.domain;
    Cut(at.time, at.is_exact, time_, domain);
    const bool go_on = domain.ForEach([&](const IndexVector& point) {
      return visit({.array = set.array, .index = Apply(set.map, point)});
    });
    if (!go_on) return false;
  }
  return time_ < repeat_->last ||
         visit({.array = repeat_->array, .index = {time_}});
}

std::optional<int64_t> Rounds::ResultCount() const {
  if (!has_ended_) return std::nullopt;
  const Program& program = relations_.program();
  if (!IsLoop()) return program.ResultCount();
  return ProgramAt(program, time_).ResultCount() +
         (time_ == repeat_->last ? 1 : 0);
}

int64_t Rounds::TaskCount() const {
  const Program& program = relations_.program();
  return IsLoop() ? ProgramAt(program, time_).TaskCount() : program.TaskCount();
}

}  // namespace dogged
