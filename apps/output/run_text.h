// The words in which `dogged` tells people how a run goes. Pure functions, so
// that every sentence is tested as it is read.
#ifndef DOGGED_APPS_OUTPUT_RUN_TEXT_H_
#define DOGGED_APPS_OUTPUT_RUN_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "runtime/base/hash.h"
#include "runtime/base/value.h"

namespace dogged {

// All digits, in groups of three: "1 204".
std::string GroupedCount(int64_t count);
// Short, never more than it is: "1 204", "48 k", "1.2 M", "331 M", "9.9 G".
std::string HumanCount(int64_t count);
// "812 B", "40 kB", "1.6 MB"; a kB is 1000 bytes.
std::string HumanBytes(int64_t bytes);
// `share` of 1 in two digits: "0 %", "0.24 %", "1.2 %", "66 %".
std::string HumanPercent(double share);
// `text` without control characters: for names that others gave, on a terminal.
std::string Printable(absl::string_view text);
// A time that is left: "0:03", "12:40", "2:00:00", "4 d 3 h"; rounded up to
// whole seconds.
std::string HumanTimeLeft(absl::Duration left);
// A time that has passed: "0.02 s", "5.0 s", "63 s", "12 min".
std::string HumanElapsed(absl::Duration elapsed);

// Progress of a run at a moment.
struct Progress {
  int64_t done = 0;    // of the needed tasks
  int64_t needed = 0;  // 0 while it is not known
  int32_t alive = 1;   // agents, as far as is known
  int32_t silent = 0;  // of these, that did not answer when last asked
  int32_t wanted = 1;
  std::string place = "";  // how far a loop has come, "T = 700"
};

// How fast, as far as it is known.
struct Pace {
  double tasks_per_second = 0;         // 0: not known yet
  std::optional<absl::Duration> left;  // till all is done
};

// "[#####...] 66 %  331 k/500 k   48 k tasks/s   left 0:03   alive 3/4", or
// "alive 3/4, 2 silent", at most `columns` wide: a narrow terminal gets a
// shorter bar, then none, then less to read. Agents are left out where there is
// one.
std::string ProgressLine(const Progress& progress, const Pace& pace,
                         int columns);

// An agent that was lost.
struct Loss {
  std::string who;               // "agent-2"
  absl::Duration after;          // since the start of the run
  std::string cause;             // "killed by signal 9"
  int64_t redone = 0;            // tasks that ran again because of it
  int64_t needed = 0;            // tasks of the job
  std::string replaced_by = "";  // empty if nobody was
};

// "killed by signal 9", "exited with status 3", "stopped answering".
std::string CauseOfSignal(int signal);
std::string CauseOfExit(int status);
inline constexpr absl::string_view kCauseSilence = "stopped answering";

// "lost agent-2 (killed by signal 9 after 5.0 s): 0.24 % of the work redone;
// agent-5 took its place".
std::string LossSentence(const Loss& loss);

// "--replicas 4 with 3 agents keeps 3 copies of each value"; empty if there are
// as many agents as copies were asked for.
std::string ReplicasSentence(int32_t asked, int32_t agents);

// How a run ended.
struct Ending {
  absl::Duration elapsed;
  absl::Duration fetched;  // the results, after that
  int32_t agents_lost = 0;
  int64_t redone = 0;
  int64_t needed = 0;
  std::string missing = "";  // outputs that were asked for and lack
};

// "done in 10.4 s   results fetched in 2.1 s   agents lost 2   redone 0.6 %",
// where the fetch took a twentieth of the time or more; or, where something
// lacks, "computed in 10.4 s, but not done: heat.npy is not written".
std::string DoneSentence(const Ending& ending);

// "result heat.npy (40 kB)".
std::string ResultSentence(absl::string_view path, int64_t bytes);

// "check: matches the serial run bit for bit (digest 5f..)", or the
// differences.
std::string CheckSentence(const Digest& result, const Digest& serial);

// Where two values of `array`, of one type and shape, differ first, and in how
// many elements: "phi: 3 of 101 differ, the first at [20]: 0.5, serially 0.25".
// Empty if nowhere.
std::string DifferenceSentence(absl::string_view array, const Value& result,
                               const Value& serial);

}  // namespace dogged

#endif  // DOGGED_APPS_OUTPUT_RUN_TEXT_H_
