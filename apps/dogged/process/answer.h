// The answer of a command with --json: one object on standard output, printed
// as the process ends, whether the command did what it should or not; and the
// events of --json-events, a line each as they come. docs/JSON.md has the keys.
//
// A process has one Answer, which main() owns; the functions below speak of
// that one, and do nothing without it. Used by the main thread, but for
// PrintAnswerAtOnce().
#ifndef DOGGED_APPS_DOGGED_PROCESS_ANSWER_H_
#define DOGGED_APPS_DOGGED_PROCESS_ANSWER_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "apps/dogged/process/exit_code.h"
#include "dsl/text/diagnostics.h"

namespace dogged {

// Grows when a key goes or changes its meaning; new keys don't count.
inline constexpr int kAnswerSchema = 1;

// "mistyped", "wrong" and so on: the word for an exit status.
absl::string_view KindOf(ExitCode code);

// The object that is printed at the end. No other one may stand beside it.
class Answer {
 public:
  Answer();
  ~Answer();
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;

  bool wants_events() const { return wants_events_; }
  void Want(const std::string& command, bool wants_events);
  void Set(nlohmann::ordered_json object) { object_ = std::move(object); }
  void NoteErrorWords(absl::string_view message);
  void NoteDiagnostics(const dsl::Diagnostics& diagnostics);
  void NoteWritten(nlohmann::ordered_json output);
  // Once; nothing if no answer is wanted.
  void Print(ExitCode code);

 private:
  bool is_wanted_ = false;
  bool wants_events_ = false;
  std::string command_;
  std::optional<nlohmann::ordered_json> object_;
  std::string error_;
  nlohmann::ordered_json diagnostics_;
  nlohmann::ordered_json outputs_;
  std::string at_once_;  // up to the status, for handlers of signals
};

// --json is among the arguments of `command`, or --json-events.
void WantAnswer(const std::string& command, bool wants_events);
bool WantsEvents();

// The object of a command that came to its end. The last call counts.
void SetAnswer(nlohmann::ordered_json object);
// Prints a line now; nothing without --json-events.
void PrintEvent(absl::string_view event, nlohmann::ordered_json fields);

// The value of `error`: the first error among `diagnostics`, else `message`.
nlohmann::ordered_json ErrorJson(ExitCode code, absl::string_view message,
                                 const nlohmann::ordered_json& diagnostics);

// Parts of the answer where the command fails. The first error counts.
void NoteErrorWords(absl::string_view message);
void NoteDiagnostics(const dsl::Diagnostics& diagnostics);
void NoteWritten(nlohmann::ordered_json output);

// Answer::Print() as the process ends at once; fit for handlers of signals, and
// without memory.
void PrintAnswerAtOnce(ExitCode code);

}  // namespace dogged

#endif  // DOGGED_APPS_DOGGED_PROCESS_ANSWER_H_
