// ProgressMeter: turns moments of a run into text for stderr: one line that
// rewrites itself on a terminal, a plain line now and then elsewhere. A
// machine: it is told the time and returns text; the caller writes it.
// Thread-compatible.
#ifndef DOGGED_APPS_OUTPUT_PROGRESS_H_
#define DOGGED_APPS_OUTPUT_PROGRESS_H_

#include <deque>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "apps/output/run_text.h"

namespace dogged {

struct ProgressOptions {
  bool is_terminal = false;
  int columns = 80;  // of the terminal
  // At least so long between two lines.
  absl::Duration terminal_interval = absl::Milliseconds(100);
  absl::Duration plain_interval = absl::Seconds(2);
  // The pace is that of the last so many seconds.
  absl::Duration pace_window = absl::Seconds(5);
};

class ProgressMeter {
 public:
  explicit ProgressMeter(const ProgressOptions& options) : options_(options) {}

  // Takes note of the moment. Returns the text to write now: none if the last
  // line is too young, or if nothing has changed elsewhere than on a terminal.
  std::string Update(absl::Time now, const Progress& progress);

  // Shows `what` the run waits for; stands in front of the progress line, if
  // there is one. On a terminal Finish() wipes it away.
  std::string Wait(absl::string_view what);

  // A sentence on a line of its own, above the progress line.
  std::string Note(absl::string_view sentence);

  // Ends the line that rewrites itself; on a terminal it shows the last moment
  // once more. Update() may not be called any more.
  std::string Finish();

 private:
  struct Sample {
    absl::Time at;
    int64_t done = 0;
  };
  Pace PaceNow() const;
  std::string Draw() const;

  ProgressOptions options_;
  std::deque<Sample> samples_;  // within the window, oldest first
  Progress last_;
  std::optional<absl::Time> written_at_;
  bool is_line_open_ = false;
  std::string plain_line_;
  std::string waited_for_;
};

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_PROGRESS_H_
