#include "runtime/exec/leaves.h"

#include <cstdint>
#include <utility>

namespace dogged {
namespace {

// A conjunction of constraints.
using Conjunction = std::vector<Constraint>;

// More branches than this are not worth it: the class is walked instead.
constexpr size_t kConjunctionsMax = 64;

// Where `c` fails, as constraints of which exactly one holds then.
std::vector<Constraint> Negate(const Constraint& c) {
  const AffineExpr below = c.expr * -1 - AffineExpr::Constant(1);  // expr < 0
  switch (c.kind) {
    case Constraint::Kind::kAtLeastZero:
      return {{.expr = below}};
    case Constraint::Kind::kZero:
      return {{.expr = below}, {.expr = c.expr - AffineExpr::Constant(1)}};
    case Constraint::Kind::kDivisible: {
      std::vector<Constraint> out;
      for (int64_t rest = 1; rest < c.modulus; ++rest) {
        out.push_back({.expr = c.expr - AffineExpr::Constant(rest),
                       .kind = Constraint::Kind::kDivisible,
                       .modulus = c.modulus});
        if (out.size() > kConjunctionsMax) break;
      }
      return out;
    }
  }
  return {};
}

// Where not all of `all_of` hold, without overlap: the first fails, or the
// first holds and the second fails, and so on.
std::vector<Conjunction> NegateAll(const Conjunction& all_of) {
  std::vector<Conjunction> out;
  Conjunction held;
  for (const Constraint& c : all_of) {
    for (const Constraint& failed : Negate(c)) {
      out.push_back(held);
      out.back().push_back(failed);
    }
    held.push_back(c);
  }
  return out;
}

}  // namespace

std::vector<Domain> LeafDomains(const TaskClass& task_class) {
  std::vector<Conjunction> leaves = {{}};
  for (const Use& use : task_class.uses) {
    if (use.guard.IsAlways()) return {};
    for (const Conjunction& all_of : use.guard.any_of) {
      std::vector<Conjunction> next;
      for (const Conjunction& failed : NegateAll(all_of)) {
        for (const Conjunction& leaf : leaves) {
          next.push_back(leaf);
          next.back().insert(next.back().end(), failed.begin(), failed.end());
        }
      }
      leaves = std::move(next);
      if (leaves.size() > kConjunctionsMax) return {task_class.domain};
    }
  }
  std::vector<Domain> out;
  for (const Conjunction& leaf : leaves) {
    Domain domain = task_class.domain;
    bool any = true;
    for (const Constraint& c : leaf) {
      any = any && domain.Narrow(c);
      // Indivisibility narrows no bound; without this, parts would overlap.
      if (c.kind != Constraint::Kind::kDivisible) continue;
      if (domain.guard.IsAlways()) domain.guard.any_of.push_back({});
      for (auto& all_of : domain.guard.any_of) all_of.push_back(c);
    }
    if (any) out.push_back(std::move(domain));
  }
  return out;
}

LeafCursor::LeafCursor(const Relations& relations, int64_t after, int64_t until)
    : relations_(relations) {
  const auto& classes = relations.program().classes;
  const auto& repeat = relations.program().repeat;
  for (size_t c = 0; c < classes.size(); ++c) {
    for (Domain& domain : LeafDomains(classes[c])) {
      if (repeat.has_value()) {
        const AffineExpr& time = repeat->class_time[c];
        if ((until < INT64_MAX &&
             !domain.Narrow({.expr = AffineExpr::Constant(until) - time})) ||
            (after > INT64_MIN &&
             !domain.Narrow(
                 {.expr = time - AffineExpr::Constant(after + 1)}))) {
          continue;
        }
      }
      parts_.push_back({static_cast<int32_t>(c), std::move(domain)});
    }
  }
}

int64_t LeafCursor::NextRun(int64_t max) {
  for (; at_ < parts_.size(); ++at_, points_.reset()) {
    const Part& part = parts_[at_];
    if (!points_.has_value()) points_.emplace(part.domain);
    if (const int64_t count = points_->NextRun(max); count > 0) {
      first_ = {.task_class = part.task_class, .index = points_->first()};
      return count;
    }
  }
  return 0;
}

std::optional<Task> LeafCursor::Next() {
  while (NextRun(1) > 0) {
    if (IsLeaf(first_)) return first_;
  }
  return std::nullopt;
}

}  // namespace dogged
