#include "kvstore/replication/cut_schedule.h"

#include <algorithm>
#include <cmath>

namespace dogged {
namespace {

// The assumed rate of losses counts as so many losses: little, so that a few
// real ones say more.
constexpr double kPriorLosses = 0.1;
// Bytes a second that loans count as: they are never what is waited for.
constexpr double kLoanRate = 1e18;
// Copies that the last passes left out may be sent at once for so long.
constexpr absl::Duration kBurst = absl::Milliseconds(20);

}  // namespace

void CutSchedule::NoteMembers(absl::Time now, int64_t agents, int64_t lost) {
  if (now > counted_to_) agent_time_ += agents_ * (now - counted_to_);
  counted_to_ = now;
  losses_ += lost;
  if (last_cut_ == absl::InfiniteFuture()) {
    last_cut_ = now;
    whole_to_ = now;
  } else {
    is_early_ |= lost > 0 || agents != agents_;
  }
  agents_ = agents;
}

void CutSchedule::SetRate(double bytes_per_second) {
  are_loans_ = false;
  rate_ = bytes_per_second > 0 ? bytes_per_second : kUnknownRate;
}

void CutSchedule::SetLoans() {
  are_loans_ = true;
  rate_ = kLoanRate;
}

double CutSchedule::BytesPerSecond() const {
  return is_busy_ ? rate_ / static_cast<double>(share_) : rate_;
}

void CutSchedule::BeginPass(absl::Time now, bool is_busy) {
  const absl::Duration passed =
      now_ == absl::InfinitePast() ? kBurst : now - now_;
  now_ = now;
  is_busy_ = is_busy;
  allowance_ =
      std::min(allowance_ + BytesPerSecond() * absl::ToDoubleSeconds(passed),
               BytesPerSecond() * absl::ToDoubleSeconds(kBurst));
}

absl::Time CutSchedule::NextRoom() const {
  if (allowance_ > 0) return now_;
  const absl::Duration soon = absl::Milliseconds(1);
  if (!is_busy_) return now_ + soon;  // the links may be idle by then
  return now_ + absl::Seconds(-allowance_ / BytesPerSecond()) + soon;
}

absl::Duration CutSchedule::CostOf(int64_t labels, int64_t bytes) const {
  return labels * kCopyTime + absl::Seconds(static_cast<double>(bytes) / rate_);
}

absl::Duration CutSchedule::IntervalFor(absl::Duration cost) const {
  absl::Duration agent_time = agent_time_;
  if (now_ > counted_to_) agent_time += agents_ * (now_ - counted_to_);
  const double losses = kPriorLosses + static_cast<double>(losses_);
  const double seconds =
      kPriorLosses * absl::ToDoubleSeconds(limits_.loss_interval) +
      absl::ToDoubleSeconds(agent_time);
  const absl::Duration best = absl::Seconds(
      std::sqrt(2 * absl::ToDoubleSeconds(cost) * seconds / losses));
  absl::Duration most = limits_.redo_max;
  if (are_loans_) {
    most = std::min(
        most, std::clamp(kLoanShare * cost, kLoanInterval, kLoanIntervalMax));
  }
  // The work during a cut may be lost, too.
  return std::max(share_ * cost, std::min(best, most - share_ * cost));
}

bool CutSchedule::IsDue(int64_t labels, int64_t cut_bytes,
                        int64_t held_bytes) const {
  // Most labels that wait are used up, so the last cut says how many are not.
  const absl::Duration cost = CostOf(cut_labels_, cut_bytes);
  const absl::Duration since = now_ - last_cut_;
  if (!is_busy_) return true;
  const bool are_too_many =
      held_bytes > 2 * cut_bytes_ + limits_.held_bytes_max ||
      labels > std::max(kLabelsPerCopy * cut_labels_, limits_.labels_max);
  return since >=
         (is_early_ || are_too_many ? share_ * cost : IntervalFor(cost));
}

void CutSchedule::NoteCut(int64_t labels, int64_t bytes) {
  last_cut_ = now_;
  cut_labels_ = labels;
  cut_bytes_ = bytes;
  is_early_ = false;
}

}  // namespace dogged
