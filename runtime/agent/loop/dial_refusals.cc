#include "runtime/agent/loop/dial_refusals.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace dogged {
namespace {

// Keys change: each address is dialed again, and said again.
constexpr absl::Duration kIntervalFirst = absl::Minutes(1);
constexpr absl::Duration kIntervalMost = absl::Hours(1);
constexpr int kLinesAMinute = 10;
constexpr size_t kAddressesMax = 4096;

}  // namespace

void DialRefusals::Prune(absl::Time now) {
  if (refusals_.size() < kAddressesMax) return;
  std::erase_if(refusals_,
                [now](const auto& item) { return item.second.due < now; });
  // All of them refuse all the time: then they begin anew.
  if (refusals_.size() >= kAddressesMax) refusals_.clear();
}

std::optional<std::string> DialRefusals::Add(absl::Time now,
                                             const std::string& address,
                                             const std::string& words) {
  Prune(now);
  Refusal& refusal = refusals_[address];
  if (words != refusal.words) {
    // Other keys are news.
    refusal = {.words = words, .interval = kIntervalFirst};
  }
  if (now >= minute_ends_) {
    minute_ends_ = now + absl::Minutes(1);
    lines_ = 0;
  }
  if (now < refusal.due || lines_ == kLinesAMinute) {
    ++refusal.unsaid;
    return std::nullopt;
  }
  ++lines_;
  std::string line = absl::StrCat(
      "can't join: ", words,
      refusal.unsaid == 0
          ? ""
          : absl::StrCat(" (and ", refusal.unsaid, " times before)"));
  refusal.unsaid = 0;
  refusal.due = now + refusal.interval;
  refusal.interval = std::min(kIntervalMost, 2 * refusal.interval);
  return line;
}

}  // namespace dogged
