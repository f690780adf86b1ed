#include "runtime/exec/round_gate.h"

namespace dogged {

RoundGate::RoundGate(const Relations& relations)
    : is_loop_(relations.program().repeat.has_value()), rounds_(relations) {}

std::unique_ptr<Activation> RoundGate::AdmitOfLoop(
    std::unique_ptr<Activation> record) {
  const std::lock_guard lock(mutex_);
  if (!rounds_.IsAhead(record->task)) return record;
  held_.push_back(std::move(record));
  return nullptr;
}

RoundGate::Opened RoundGate::Bind(const Label& label, const Value& value) {
  Opened out;
  const std::lock_guard lock(mutex_);
  if (rounds_.HasEnded() || !rounds_.IsCondition(label)) {
    if (!rounds_.IsResult(label)) return out;
    if (rounds_.HasEnded()) {
      out.results.emplace_back(label, value);
    } else {
      kept_.emplace(label, value);
    }
    return out;
  }
  const int64_t before = rounds_.time();
  if (rounds_.Note(label, value) && rounds_.time() > before) {
    out.window = {before, rounds_.time()};
  }
  std::vector<std::unique_ptr<Activation>> ahead;
  for (auto& record : held_) {
    (rounds_.IsAhead(record->task) ? ahead : out.tasks)
        .push_back(std::move(record));
  }
  held_ = std::move(ahead);
  absl::erase_if(kept_, [this](const auto& kept) {
    return !rounds_.IsResult(kept.first);
  });
  if (!rounds_.HasEnded() || has_told_end_) return out;
  has_told_end_ = true;
  out.result_count = rounds_.ResultCount();
  for (auto& [result, kept] : kept_) {
    out.results.emplace_back(result, std::move(kept));
  }
  kept_.clear();
  return out;
}

std::optional<int64_t> RoundGate::TakeResultCount() {
  const std::lock_guard lock(mutex_);
  if (!rounds_.HasEnded()) return std::nullopt;
  has_told_end_ = true;
  return rounds_.ResultCount();
}

int64_t RoundGate::ResultsAt(const Label& label) const {
  if (!is_loop_) return rounds_.ResultsAt(label);  // nothing changes
  const std::lock_guard lock(mutex_);
  return rounds_.ResultsAt(label);
}

std::pair<int64_t, bool> RoundGate::Time() const {
  const std::lock_guard lock(mutex_);
  return {rounds_.time(), rounds_.HasEnded()};
}

}  // namespace dogged
