#include "apps/dogged/run/run_progress.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "apps/output/run_text.h"
#include "runtime/graph/rounds.h"

namespace dogged {

int64_t NeededAt(const Program& program, int64_t time, int64_t needed) {
  return program.repeat.has_value() ? ProgramAt(program, time).TaskCount()
                                    : needed;
}

void NotePlace(const Program& program, int64_t time, Progress& progress) {
  if (!program.repeat.has_value()) return;
  progress.place = absl::StrCat(program.repeat->parameter, " = ", time);
  progress.needed = 0;
}

std::string HowFar(const Program& program, int64_t time, int64_t done,
                   int64_t needed) {
  Progress moment;
  NotePlace(program, time, moment);
  if (!moment.place.empty()) return moment.place;
  return HumanPercent(static_cast<double>(done) /
                      static_cast<double>(std::max<int64_t>(1, needed)));
}

}  // namespace dogged
