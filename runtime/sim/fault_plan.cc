#include "runtime/sim/fault_plan.h"

#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace dogged {

absl::StatusOr<FaultPlan> FaultPlan::Parse(absl::string_view text) {
  FaultPlan out;
  const std::map<absl::string_view, int*> counts = {
      {"crash", &out.crash},       {"pair", &out.pair},
      {"restart", &out.restart},   {"pause", &out.pause},
      {"join", &out.join},         {"leave", &out.leave},
      {"regrow", &out.regrow},     {"exchange", &out.exchange},
      {"founders", &out.founders}, {"partition", &out.partition},
      {"blackout", &out.blackout}, {"outage", &out.outage},
      {"leavers", &out.leavers},   {"stop", &out.stop},
      {"split", &out.split},       {"deaf", &out.deaf},
      {"mute", &out.mute},         {"link", &out.link},
      {"large", &out.large},       {"slow", &out.slow},
      {"sick", &out.sick}};
  const std::map<absl::string_view, double*> chances = {
      {"drop", &out.network.drop},
      {"duplicate", &out.network.duplicate},
      {"reorder", &out.network.reorder},
      {"corrupt", &out.network.corrupt}};
  for (absl::string_view word : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(word, absl::MaxSplits('=', 1));
    const auto count = counts.find(pair.first);
    const auto chance = chances.find(pair.first);
    bool good = false;
    if (count != counts.end()) {
      good =
          absl::SimpleAtoi(pair.second, count->second) && *count->second >= 0;
    } else if (chance != chances.end()) {
      good = absl::SimpleAtod(pair.second, chance->second) &&
             *chance->second >= 0 && *chance->second < 1;
    }
    if (!good) {
      return absl::InvalidArgumentError(absl::StrCat(
          "fault \"", word,
          "\": expected NAME=COUNT with crash, pair, restart, pause, join, "
          "leave, leavers, regrow, exchange, founders, partition, blackout, "
          "outage, stop, split, deaf, mute, link, large, "
          "slow, sick, or NAME=PROBABILITY below 1 with drop, duplicate, "
          "reorder, "
          "corrupt"));
    }
  }
  return out;
}

}  // namespace dogged
