#include "apps/dogged/run/fault_schedule.h"

#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

bool IsDue(const When& when, const RunMoment& now) {
  if (!when.share.has_value()) {
    return now.elapsed >= absl::Seconds(when.seconds);
  }
  return static_cast<double>(now.tasks_done) >=
         *when.share * static_cast<double>(now.tasks_needed);
}

}  // namespace

bool FaultSchedule::IsWaiting() const {
  return kills_ < options_.kill_at.size() || joins_ < options_.join_at.size() ||
         options_.kill_every_seconds > 0;
}

bool FaultSchedule::IsKillDue(const RunMoment& now) const {
  return kills_ < options_.kill_at.size() &&
         IsDue(options_.kill_at[kills_], now);
}

bool FaultSchedule::TakePeriodicKill(const RunMoment& now) {
  const absl::Duration period = absl::Seconds(options_.kill_every_seconds);
  if (period <= absl::ZeroDuration() || now.elapsed < (periods_ + 1) * period) {
    return false;
  }
  ++periods_;
  return true;
}

std::optional<std::string> FaultSchedule::TakeJoin(const RunMoment& now) {
  if (joins_ == options_.join_at.size() ||
      !IsDue(options_.join_at[joins_], now)) {
    return std::nullopt;
  }
  return options_.join_at[joins_++].text;
}

std::vector<std::string> FaultSchedule::Omissions(bool nobody_to_kill) const {
  constexpr absl::string_view kOver = "the run was over before";
  const absl::string_view why_no_kill =
      nobody_to_kill ? "there was one agent left, which is not killed" : kOver;
  std::vector<std::string> out;
  const auto say = [&out](absl::string_view what, absl::string_view why) {
    out.push_back(absl::StrCat(what, " did not happen: ", why, "."));
  };
  for (size_t i = kills_; i < options_.kill_at.size(); ++i) {
    say(absl::StrCat("--kill-at ", options_.kill_at[i].text), why_no_kill);
  }
  for (size_t i = joins_; i < options_.join_at.size(); ++i) {
    say(absl::StrCat("--join-at ", options_.join_at[i].text), kOver);
  }
  if (options_.kill_every_seconds > 0 && periodic_kills_ == 0) {
    say("--kill-every", why_no_kill);
  }
  return out;
}

}  // namespace dogged
